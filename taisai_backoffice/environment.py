"""Read the environment for the settings, and list what production refuses."""

import os
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

TRUE = {"1", "true", "yes", "on"}
FALSE = {"", "0", "false", "no", "off"}
WELL_KNOWN_PASSWORDS = {
    "", "admin", "app", "changeme", "change-me", "guest", "owner", "password", "postgres", "secret", "taisai", "test",
}  # fmt: skip
ENCRYPTED = {"require", "verify-ca", "verify-full"}
ENCRYPTED_BROKERS = {"rediss", "amqps"}
SECRET_KEY_LENGTH = 50
SECRET_KEY_LETTERS = 10  # different letters at least


def flag(name: str, default: bool = False) -> bool:
    value = os.environ.get(name)
    if value is None:
        return default
    if value.lower() not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name} is {value!r}; set it to 1 or 0.")
    return value.lower() in TRUE


def number(name: str, default: int) -> int:
    value = os.environ.get(name, "")
    if value and not value.isdecimal():
        raise ImproperlyConfigured(f"{name} is {value!r}; set it to a whole number.")
    return int(value) if value else default


def names(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def database(url: str, name: str) -> dict[str, Any]:
    """Make Django's database settings from a PostgreSQL URL; query parameters (sslmode, …) become options."""
    parts = _conninfo(url, name)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.pop("dbname", ""),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        "OPTIONS": parts,
    }


def _conninfo(url: str, name: str) -> dict[str, Any]:
    try:
        return dict(conninfo_to_dict(url))
    except ProgrammingError:
        raise ImproperlyConfigured(
            f"{name} is not a PostgreSQL URL; write it as postgresql://user:password@host:5432/database."
        ) from None


def email(name: str) -> dict[str, Any]:
    """Make Django's mail settings from a URL; without one, messages are stored as files."""
    text = os.environ.get(name, "")
    if not text:
        return {"EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend"}
    url = urlsplit(text)
    if url.scheme not in ("smtp", "smtps") or not url.hostname:
        raise ImproperlyConfigured(
            f"{name} is not the URL of a mail server; write it as smtp://user:password@host:587."
        )
    is_secure = url.scheme == "smtps"
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": url.hostname,
        "EMAIL_PORT": url.port or (465 if is_secure else 587 if url.username else 25),
        "EMAIL_HOST_USER": unquote(url.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(url.password or ""),
        "EMAIL_USE_SSL": is_secure,
        # Neither a password nor a sign-in link leaves the machine unencrypted.
        "EMAIL_USE_TLS": not is_secure and (bool(url.username) or not is_local(url.hostname)),
    }


def production_faults(environment: Mapping[str, str]) -> list[str]:
    """List everything that forbids a start in production, one sentence each."""
    return [
        *_secret_key_faults(environment.get("SECRET_KEY", "")),
        *(["DEBUG is on; unset it."] if environment.get("DEBUG", "").lower() not in FALSE else []),
        *_factor_faults(environment),
        *_passkey_faults(environment),
        *_database_faults(environment),
        *_broker_faults(environment.get("BROKER_URL", "")),
        *(
            []
            if environment.get("ALLOWED_HOSTS")
            else ["ALLOWED_HOSTS is missing; name the hosts this site answers to."]
        ),
    ]


def _factor_faults(environment: Mapping[str, str]) -> list[str]:
    if environment.get("REQUIRE_SECOND_FACTOR", "1").lower() in FALSE:
        return ["REQUIRE_SECOND_FACTOR is off; unset it: production asks for a second factor."]
    return []


def _passkey_faults(environment: Mapping[str, str]) -> list[str]:
    """Check the host of passkeys: a browser uses a passkey only at that host and below it."""
    host = environment.get("PASSKEY_HOST", "")
    hosts = [name.strip().lstrip(".") for name in environment.get("ALLOWED_HOSTS", "").split(",")]
    if host and not any(name == host or name.endswith(f".{host}") for name in hosts):
        return [f"PASSKEY_HOST is {host!r}; name one of ALLOWED_HOSTS, or a domain that they belong to."]
    return []


def _secret_key_faults(key: str) -> list[str]:
    if not key:
        return ["SECRET_KEY is missing; set it to a long random text."]
    if len(key) < SECRET_KEY_LENGTH or len(set(key)) < SECRET_KEY_LETTERS or key.startswith("django-insecure"):
        return [f"SECRET_KEY is too weak; set it to a random text of {SECRET_KEY_LENGTH} characters or more."]
    return []


def _database_faults(environment: Mapping[str, str]) -> list[str]:
    if not environment.get("DATABASE_URL"):
        return ["DATABASE_URL is missing, and the embedded server is for local use; name your PostgreSQL."]
    faults, users = [], []
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL"):
        if url := environment.get(name):
            parts = _conninfo(url, name)
            users.append(parts.get("user"))
            faults += _encryption_faults(parts, name)
            if str(parts.get("password", "")).lower() in WELL_KNOWN_PASSWORDS and "passfile" not in parts:
                faults.append(f"{name} has no password or a well-known one; give the role a random password.")
    if len(users) > len(set(users)):
        faults.append(
            "DATABASE_URL and DATABASE_OWNER_URL name the same role; the application must not own its tables."
        )
    return faults


def _encryption_faults(parts: Mapping[str, Any], name: str) -> list[str]:
    """Check that connections are encrypted: libpq's default silently falls back to plain text."""
    mode = str(parts.get("sslmode") or "prefer")
    if mode == "disable":
        return [f"{name} says sslmode=disable; records would travel unencrypted. Set sslmode=verify-full."]
    hosts = str(parts.get("hostaddr") or parts.get("host") or "").split(",")
    if mode not in ENCRYPTED and not all(map(is_local, hosts)):
        return [f"{name} does not require encryption; add sslmode=verify-full (or require) to it."]
    return []


def is_local(host: str) -> bool:
    """Return whether a host is this machine: loopback, or the path of a socket."""
    if host in ("", "localhost") or host.startswith(("/", "@")):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _broker_faults(url: str) -> list[str]:
    if not url:
        return ["BROKER_URL is missing, and the embedded broker is for local use; name your Valkey, Redis or RabbitMQ."]
    password = url.rpartition("@")[0].rpartition(":")[2]
    if password.lower() in WELL_KNOWN_PASSWORDS:
        return ["BROKER_URL has no password or a well-known one; give the broker a random password."]
    faults = []
    for address in url.split(";"):  # one of several brokers is used
        parts = urlsplit(address)
        if parts.scheme not in ENCRYPTED_BROKERS and not is_local(parts.hostname or ""):
            faults.append(
                f"BROKER_URL leads to another machine by {parts.scheme}://, unencrypted; use rediss:// or amqps://."
            )
    return faults


def site_url(hosts: list[str], is_production: bool) -> str:
    """Return the address of the site if SITE_URL is not set: the first host, in production by HTTPS."""
    host = next((host.lstrip(".") for host in hosts if host != "*"), "localhost")
    return f"https://{host}" if is_production else f"http://{host}:8000"
