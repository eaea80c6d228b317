"""One settings file, read from the environment; production refuses what does not belong there, and says which."""

import os
import subprocess
import sys

import pytest

from taisai_backoffice.embedded.home import PROJECT
from taisai_backoffice.environment import production_faults

GOOD = {
    "TAISAI_ENV": "production",
    "SECRET_KEY": "k3y-Of-4-gr3at-many-Random-Letters-and-Figures-0123456789",
    "ALLOWED_HOSTS": "backoffice.example.com",
    "DATABASE_URL": "postgresql://taisai_app:zu4kieRae2oo@db.example.com:5432/taisai?sslmode=require",
    "DATABASE_OWNER_URL": "postgresql://taisai_owner:eiXoo8Oa9ahb@db.example.com:5432/taisai?sslmode=require",
    "BROKER_URL": "rediss://:aeBohp4ohNg1@broker.example.com:6379/0",
}

FAULTS = [
    ({"SECRET_KEY": ""}, "SECRET_KEY is missing"),
    ({"SECRET_KEY": "short"}, "SECRET_KEY is too weak"),
    ({"SECRET_KEY": "django-insecure-" + "x1y2z3" * 10}, "SECRET_KEY is too weak"),
    ({"DEBUG": "1"}, "DEBUG is on"),
    ({"REQUIRE_SECOND_FACTOR": "0"}, "REQUIRE_SECOND_FACTOR is off"),
    ({"PASSKEY_HOST": "casino.example"}, "PASSKEY_HOST is 'casino.example'"),
    ({"PASSKEY_HOST": "https://backoffice.example.com"}, "name one of ALLOWED_HOSTS"),
    ({"PASSKEY_HOST": "ice.example.com"}, "PASSKEY_HOST is"),
    ({"DATABASE_URL": ""}, "embedded server is for local use"),
    (
        {"DATABASE_URL": "postgresql://app:postgres@db/taisai?sslmode=require"},
        "DATABASE_URL has no password or a well-known one",
    ),
    (
        {"DATABASE_URL": "postgresql://app@db/taisai?sslmode=require"},
        "DATABASE_URL has no password or a well-known one",
    ),
    ({"DATABASE_OWNER_URL": "postgresql://o:changeme@db/taisai?sslmode=require"}, "DATABASE_OWNER_URL has no password"),
    ({"DATABASE_OWNER_URL": GOOD["DATABASE_URL"]}, "name the same role"),
    ({"BROKER_URL": ""}, "embedded broker is for local use"),
    ({"BROKER_URL": "amqp://guest:guest@broker//"}, "BROKER_URL has no password or a well-known one"),
    ({"BROKER_URL": "redis://broker:6379/0"}, "BROKER_URL has no password or a well-known one"),
    ({"ALLOWED_HOSTS": ""}, "ALLOWED_HOSTS is missing"),
    ({"DATABASE_URL": "postgresql://app:zu4kieRae2oo@db/taisai?sslmode=disable"}, "sslmode=disable"),
    ({"DATABASE_URL": "postgresql://app:zu4kieRae2oo@127.0.0.1/taisai?sslmode=disable"}, "sslmode=disable"),
    ({"DATABASE_URL": "postgresql://app:zu4kieRae2oo@db/taisai"}, "DATABASE_URL does not require encryption"),
    ({"DATABASE_URL": "postgresql://app:zu4kieRae2oo@db/taisai?sslmode=prefer"}, "does not require encryption"),
    ({"DATABASE_OWNER_URL": "postgresql://o:zu4kieRae2oo@10.0.0.7/taisai"}, "DATABASE_OWNER_URL does not require"),
    ({"BROKER_URL": "redis://:aeBohp4ohNg1@broker.example.com:6379/0"}, "by redis://, unencrypted"),
    ({"BROKER_URL": "amqp://taisai:aeBohp4ohNg1@10.0.0.7:5672/x"}, "by amqp://, unencrypted"),
    ({"BROKER_URL": "rediss://:aeBohp4ohNg1@one/0;redis://:aeBohp4ohNg1@two/0"}, "by redis://, unencrypted"),
]
LOOPBACK = [
    {"DATABASE_URL": "postgresql://app:zu4kieRae2oo@127.0.0.1/taisai"},
    {"DATABASE_URL": "postgresql://app:zu4kieRae2oo@%2Frun%2Fpostgresql/taisai"},
    {"BROKER_URL": "redis://:aeBohp4ohNg1@localhost:6379/0"},
    {"BROKER_URL": "redis://:aeBohp4ohNg1@[::1]:6379/0"},
    {"BROKER_URL": "amqps://taisai:aeBohp4ohNg1@broker.example.com/x"},
]


def manage(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    names = ("PATH", "TAISAI_HOME", "LANG")
    clean = {name: os.environ[name] for name in names if name in os.environ}
    return subprocess.run(
        [sys.executable, PROJECT / "manage.py", *arguments],
        env=clean | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_good_environment_has_no_fault() -> None:
    assert production_faults(GOOD) == []


@pytest.mark.parametrize("change", LOOPBACK)
def test_what_does_not_leave_the_machine_may_be_open(change: dict[str, str]) -> None:
    assert production_faults(GOOD | change) == []


def test_passkeys_may_be_bound_to_the_domain_of_the_hosts() -> None:
    assert production_faults(GOOD | {"PASSKEY_HOST": "example.com"}) == []


def test_in_production_passkeys_are_bound_to_the_host_of_the_site() -> None:
    code = "from django.conf import settings; print(repr(settings.PASSKEY_HOST))"
    assert manage("shell", "-v0", "-c", code, **GOOD).stdout == "'backoffice.example.com'\n"
    assert manage("shell", "-v0", "-c", code, DATABASE_URL=GOOD["DATABASE_URL"]).stdout == "''\n"


@pytest.mark.parametrize(("change", "fault"), FAULTS)
def test_production_refuses_and_says_which(change: dict[str, str], fault: str) -> None:
    (said,) = production_faults(GOOD | change)
    assert fault in said


def test_all_faults_are_told_at_once_one_a_line_and_without_a_traceback() -> None:
    answer = manage("check", TAISAI_ENV="production", DEBUG="1")
    assert answer.returncode == 1
    starts = [line.split()[0] for line in answer.stderr.splitlines()]
    assert starts == ["SECRET_KEY", "DEBUG", "DATABASE_URL", "BROKER_URL", "ALLOWED_HOSTS"]


def test_the_deployment_check_is_clean_in_production() -> None:
    answer = manage("check", "--deploy", "--fail-level", "WARNING", **GOOD)
    assert answer.returncode == 0, answer.stderr
    assert "no issues" in answer.stdout


def test_production_makes_no_demonstration_house() -> None:
    answer = manage("demonstration", **GOOD)
    assert answer.returncode == 1
    assert "not created in production" in answer.stderr


@pytest.mark.parametrize(
    ("environment", "fault"),
    [
        ({"TAISAI_ENV": "staging"}, "TAISAI_ENV is 'staging'"),
        ({"DEBUG": "perhaps"}, "DEBUG is 'perhaps'"),
        ({"DATABASE_URL": "mysql://x"}, "DATABASE_URL is not a PostgreSQL URL"),
        ({"TAISAI_POOL": "1", "TAISAI_POOL_SIZE": "many"}, "TAISAI_POOL_SIZE is 'many'"),
    ],
)
def test_a_wrong_variable_is_one_clear_sentence(environment: dict[str, str], fault: str) -> None:
    answer = manage("check", **environment)
    assert answer.returncode == 1
    assert answer.stderr.startswith(fault)
    assert len(answer.stderr.splitlines()) == 1


def test_migrating_without_the_owner_is_refused() -> None:
    answer = manage("migrate", DATABASE_URL=GOOD["DATABASE_URL"])
    assert answer.returncode == 1
    assert "DATABASE_OWNER_URL is missing" in answer.stderr


def test_the_web_server_uses_the_pool_and_commands_do_not() -> None:
    code = "from django.conf import settings; print('pool' in settings.DATABASES['default']['OPTIONS'])"
    assert manage("shell", "-v0", "-c", code, DATABASE_URL=GOOD["DATABASE_URL"]).stdout == "False\n"
    assert (
        manage(
            "shell",
            "-v0",
            "-c",
            f"import taisai_backoffice.wsgi; {code}",
            DATABASE_URL=GOOD["DATABASE_URL"],
            TAISAI_POOL="1",
        ).stdout
        == "True\n"
    )
