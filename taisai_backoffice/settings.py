"""The only settings file. Everything that differs between machines is read from the environment (docs/deploy.md)."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF, UNSAFE_INLINE
from django.core.exceptions import ImproperlyConfigured

from taisai_backoffice import environment
from taisai_backoffice.embedded.home import Home
from taisai_backoffice.embedded.valkey import Valkey
from taisai_backoffice.logs import logging_configuration
from taisai_backoffice.site.navigation import UNFOLD  # noqa: F401  the look of the admin, read by Unfold
from taisai_backoffice.web.bodies import LARGEST_BODY

BASE_DIR = Path(__file__).resolve().parent.parent

# --- Where it runs ---------------------------------------------------------------------------------

ENVIRONMENT = os.environ.get("TAISAI_ENV", "local")
if ENVIRONMENT not in ("local", "production"):
    raise ImproperlyConfigured(f"TAISAI_ENV is {ENVIRONMENT!r}; set it to local or production.")
PRODUCTION = ENVIRONMENT == "production"
if PRODUCTION and (faults := environment.production_faults(os.environ)):
    raise ImproperlyConfigured("\n".join(faults))

HOME = Home.from_environment()
DEBUG = environment.flag("DEBUG")
SECRET_KEY = os.environ.get("SECRET_KEY") or HOME.secret("secret-key")
ALLOWED_HOSTS = environment.names("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = environment.names("CSRF_TRUSTED_ORIGINS")

# --- The parts -------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "unfold.contrib.simple_history",
    "simple_history",
    "taisai_backoffice.apps.BackOfficeAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "django_celery_beat",
    "django_celery_results",
    "django_structlog",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "taisai_backoffice.apps.BackOfficeConfig",
    "games",
    "audits",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "taisai_backoffice.web.middleware.RequestLineMiddleware",
    "games.accounts.middleware.LoginFloodMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "taisai_backoffice.web.middleware.NoStoreMiddleware",
    "taisai_backoffice.web.middleware.MethodMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "taisai_backoffice.web.middleware.ProbeMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "games.accounts.middleware.BusyMiddleware",
    "games.accounts.middleware.LoginMiddleware",
    "taisai_backoffice.web.middleware.BodyMiddleware",
    "games.access.middleware.CasinoTimeMiddleware",
    "games.accounts.middleware.SecondFactorMiddleware",
    "games.accounts.middleware.FreshFactorMiddleware",
    "games.access.middleware.EntryPointMiddleware",
    "taisai_backoffice.web.middleware.PersonThrottleMiddleware",
]

ROOT_URLCONF = "taisai_backoffice.urls"
WSGI_APPLICATION = "taisai_backoffice.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- Database: `default` is the role app, `owner` exists only where migrations run ----------------

DATABASES: dict[str, dict[str, Any]] = {}
if database_url := os.environ.get("DATABASE_URL"):
    DATABASES["default"] = environment.database(database_url, "DATABASE_URL")
    if owner_url := os.environ.get("DATABASE_OWNER_URL"):
        DATABASES["owner"] = environment.database(owner_url, "DATABASE_OWNER_URL")
else:
    for alias, role in (("default", "app"), ("owner", "owner")):
        DATABASES[alias] = {"ENGINE": "taisai_backoffice.embedded.backend", "NAME": "taisai", "USER": role}

APP_ROLE = DATABASES["default"]["USER"]
if environment.flag("TAISAI_POOL"):  # the web server's processes only (wsgi.py); workers fork and keep one connection
    #: A request that waits longer is answered 503. The pool retries for `reconnect_timeout` before it starts again:
    #: with its default of 5 minutes, the pauses between attempts grow to more than a minute.
    pool = {"min_size": 1, "max_size": environment.number("TAISAI_POOL_SIZE", 8), "timeout": 3, "reconnect_timeout": 4}
    DATABASES["default"].setdefault("OPTIONS", {})["pool"] = pool
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True  # no 500 after a restart of the database
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- People ----------------------------------------------------------------------------------------

AUTH_USER_MODEL = "games.Staff"
AUTHENTICATION_BACKENDS = ["games.accounts.backend.StaffBackend"]
PASSWORD_HASHERS = ["taisai_backoffice.web.hashing.BoundedArgon2"]
PASSWORD_HASHES_AT_ONCE = max(environment.number("PASSWORD_HASHES_AT_ONCE", 1), 1)  # per process
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
     "OPTIONS": {"user_attributes": ["number", "name"]}},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "games.accounts.password_words.PaddedPasswordValidator"},
    {"NAME": "games.accounts.password_words.HouseWordsValidator"},
]  # fmt: skip
#: The address of the site, for links made on the command line; pages know their own address.
SITE_URL = os.environ.get("SITE_URL") or environment.site_url(ALLOWED_HOSTS, PRODUCTION)
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
SESSION_ENGINE = "taisai_backoffice.web.sessions"
SESSION_COOKIE_AGE = 12 * 60 * 60  # a long shift; idle sessions end earlier (games.accounts.services.sessions)
#: A browser accepts a cookie with this prefix only over HTTPS, from this host, for the whole site.
COOKIE_PREFIX = "__Host-" if PRODUCTION else ""
SESSION_COOKIE_NAME = f"{COOKIE_PREFIX}taisai_session"
CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}taisai_csrf"
DEVICE_COOKIE_NAME = f"{COOKIE_PREFIX}taisai_device"  # marks browsers that logged in before
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"  # messages are not stored in cookies
TRUSTED_PROXIES = environment.number("TRUSTED_PROXIES", 0)  # how many proxies add to X-Forwarded-For
#: Second factor at login and again for decisions (roles.toml lists the roles and actions). Off for local use.
REQUIRE_SECOND_FACTOR = environment.flag("REQUIRE_SECOND_FACTOR", PRODUCTION)
OTP_TOTP_ISSUER = "Tai Sai back office"
OTP_TOTP_THROTTLE_FACTOR = OTP_STATIC_THROTTLE_FACTOR = 0  # our own throttle never locks the owner out
OTP_ADMIN_HIDE_SENSITIVE_DATA = True
#: The host that passkeys are bound to (the id of the relying party). Local use takes the host of the request.
PASSKEY_HOST = os.environ.get("PASSKEY_HOST") or (urlsplit(SITE_URL).hostname if PRODUCTION else "")

# --- History ---------------------------------------------------------------------------------------

SIMPLE_HISTORY_REVERT_DISABLED = True

# --- Time and language -----------------------------------------------------------------------------

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"  # pages show the casino's own time (games.access.middleware)
USE_I18N = True
USE_TZ = True
FORMAT_MODULE_PATH = ["taisai_backoffice.formats"]

# --- Static files ----------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = Path(os.environ.get("STATIC_ROOT") or HOME.path / "static")
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_ALLOW_ALL_ORIGINS = False  # no other site reads our files
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

LARGEST_EVIDENCE = environment.number("LARGEST_EVIDENCE_MB", 1024) * 1024 * 1024
#: Limits per casino on files that are arriving or wait for a worker, and on files that are kept.
UPLOAD_QUOTA = environment.number("UPLOAD_QUOTA_MB", 4096) * 1024 * 1024
EVIDENCE_QUOTA = environment.number("EVIDENCE_QUOTA_GB", 200) * 1024 * 1024 * 1024
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "taisai_backoffice.web.uploads.BoundedUploadHandler",
]
DATA_UPLOAD_MAX_MEMORY_SIZE = LARGEST_BODY  # of a call or form; files of rounds are streamed
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000  # the limits of a large pit: without JavaScript every cell of the grid is sent

# --- API -------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "games.api.authentication.TerminalAuthentication",
        "games.api.authentication.PersonAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [],  # the gate decides, in games.api.views and in the services
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["games.api.json_parser.StrictJSONParser"],
    "DEFAULT_PAGINATION_CLASS": "games.api.views.Pages",
    "DEFAULT_SCHEMA_CLASS": "games.api.openapi.DescribedSchema",
    "EXCEPTION_HANDLER": "games.api.problems.problem",
}
TERMINAL_CALLS_A_MINUTE = environment.number("TERMINAL_CALLS_A_MINUTE", 600)  # above that, a terminal is answered 429
#: Limits for people, per web process: against scripts; no person reaches them.
PERSON_SEARCHES_A_MINUTE = environment.number("PERSON_SEARCHES_A_MINUTE", 120)
PERSON_EXPORTS_A_MINUTE = environment.number("PERSON_EXPORTS_A_MINUTE", 60)
PERSON_RUNS_A_MINUTE = environment.number("PERSON_RUNS_A_MINUTE", 20)
SPECTACULAR_SETTINGS = {
    "TITLE": "Tai Sai back office",
    "DESCRIPTION": "Money is a decimal text and a time has its offset. An unknown field or parameter is refused; null "
    "means left out. Every refusal is a Problem: it has changed nothing, but may be on record.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SCHEMA_PATH_PREFIX": "/api/v1/",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": ["games.api.openapi.add_components", "audits.api.openapi.add_components"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},  # otherwise it sends our address to a validator
}

# --- HTTP security -------------------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],  # Unfold's own pages add UNSAFE_EVAL (taisai_backoffice.site.admin_site)
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    },
}
X_FRAME_OPTIONS = "DENY"
if PRODUCTION:
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^api/"]  # calls are refused (RequestLineMiddleware)
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

# --- Celery: PostgreSQL is the queue of record, the broker only wakes it ---------------------------

CELERY_BROKER_URL = os.environ.get("BROKER_URL") or Valkey(HOME).url_if_set_up() or "redis://127.0.0.1:1/0"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # worker and scheduler wait for the broker without limit
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 900,  # longer than the longest task
    "unacked_restore_interval": 10,  # seconds between checks for tasks whose time-out has passed
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 2,  # a broker that does not answer delays no request
    "socket_timeout": 5,
}
#: One immediate retry, for a stale connection; the sweep finds what could not be sent.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
CELERY_RESULT_BACKEND = "django-db"
CELERY_RESULT_EXTENDED = True
CELERY_RESULT_EXPIRES = 24 * 60 * 60
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_TRACK_STARTED = True
CELERY_TASK_TIME_LIMIT = 840
CELERY_TASK_SOFT_TIME_LIMIT = 780
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULER = "taisai_backoffice.scheduler:PatientScheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 5
SWEEP_SECONDS = max(environment.number("SWEEP_SECONDS", 10), 1)  # how soon lost messages are made up for
CELERY_BEAT_SCHEDULE = {  # the scheduler accepts `expire_seconds` and silently ignores `expires`
    "heartbeat": {"task": "taisai_backoffice.celery.heartbeat", "schedule": 15.0},
    "reconciliation-sweep": {
        "task": "audits.tasks.sweep", "schedule": float(SWEEP_SECONDS), "options": {"expire_seconds": 60},
    },
    "close-gaming-days": {"task": "audits.tasks.close_days", "schedule": 60.0, "options": {"expire_seconds": 300}},
    "escalate-findings": {"task": "audits.tasks.escalate", "schedule": 60.0, "options": {"expire_seconds": 300}},
    "reports": {"task": "audits.tasks.tend_reports", "schedule": 60.0, "options": {"expire_seconds": 300}},
    "open-access-reviews": {
        "task": "games.tasks.open_access_reviews", "schedule": 600.0, "options": {"expire_seconds": 300},
    },
}  # fmt: skip
#: The task started by a recording. Named here, since games never imports audits.
WAKE_TASK = "audits.tasks.take_arrivals"
#: The task started by a warning about a round in play.
WARNING_TASK = "audits.tasks.take_warnings"
CELERY_TIMEZONE = "UTC"

# --- E-mail: notifications of overdue findings -----------------------------------------------------

globals().update(environment.email("EMAIL_URL"))
EMAIL_FILE_PATH = HOME.path / "mail"  # used if there is no mail server
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = os.environ.get("EMAIL_FROM") or "taisai@localhost"

# --- Logs ------------------------------------------------------------------------------------------

DJANGO_STRUCTLOG_CELERY_ENABLED = True
DJANGO_STRUCTLOG_TRUST_UPSTREAM_REQUEST_ID = PRODUCTION  # the proxy sets it (docs/deploy.md)
LOGGING = logging_configuration(os.environ.get("LOG_LEVEL", "INFO"))
