"""The rights of the role `app`: what no model declares is refused by the database, and cannot be switched off."""

import os
import subprocess
import sys
from dataclasses import replace

import psycopg
import pytest
from django.apps import apps
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import ProgrammingError, connection, models, transaction
from django.test.utils import isolate_apps
from psycopg import errors
from simple_history.models import HistoricalChanges

from games.database.grants import WRITTEN_ONCE, Grants
from games.database.package_grants import PACKAGE_GRANTS
from games.database.role_grants import MIGRATIONS, check_grants, declared_grants, models_with_tables, table_grants
from games.floor.models.casino import ACTING_DAYS
from games.history.audited_save import record_save
from games.models import Casino, Denial
from taisai_backoffice.embedded.home import PROJECT
from tests import servers
from tests.conftest import OPERATOR, House

CHANGES = [
    "UPDATE games_denial SET who = 'nobody'",
    "DELETE FROM games_denial",
    "TRUNCATE games_denial",
    "INSERT INTO games_denial (id, at, who, action, thing, door) "
    "SELECT id, at, who, action, thing, door FROM games_denial "
    "ON CONFLICT (id) DO UPDATE SET who = 'nobody'",
    "SELECT 1 FROM games_denial FOR UPDATE",
]
SWITCHES = [
    "ALTER TABLE games_denial DISABLE TRIGGER written_once",
    "ALTER TABLE games_denial DISABLE TRIGGER ALL",
    "DROP TRIGGER written_once ON games_denial",
    "DROP TABLE games_denial",
    "DROP FUNCTION deny_change() CASCADE",
    "CREATE OR REPLACE FUNCTION deny_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
    "SET session_replication_role = replica",
    "SET ROLE owner",
    "SELECT setval('games_denial_id_seq', 1)",
    "ALTER TABLE games_denial OWNER TO app",
    "CREATE TABLE mine (id int)",
    "DELETE FROM django_migrations",
]


@pytest.fixture
def denial(db: None) -> Denial:
    return Denial.objects.create(who="S1", action="pit.change", thing="", door="")


def test_the_application_is_not_the_owner_of_its_tables(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, tableowner FROM pg_tables WHERE tablename = 'games_denial'")
        assert cursor.fetchone() == ("app", "owner")


@pytest.mark.parametrize("statement", CHANGES)
def test_the_application_changes_no_row(denial: Denial, statement: str) -> None:
    with connection.cursor() as cursor, pytest.raises(Exception, match="permission denied") as refusal:
        cursor.execute(statement)
    assert isinstance(refusal.value.__cause__, errors.InsufficientPrivilege)


@pytest.mark.parametrize("statement", SWITCHES)
def test_the_application_cannot_switch_the_protection_off(denial: Denial, statement: str) -> None:
    with connection.cursor() as cursor, pytest.raises(Exception, match=r"permission|must be") as refusal:
        cursor.execute(statement)
    assert isinstance(refusal.value.__cause__, errors.InsufficientPrivilege)


@pytest.mark.parametrize("statement", CHANGES[:4])
@pytest.mark.parametrize("role", ["owner", "postgres"])
def test_the_triggers_stop_the_owner_and_a_superuser_in_replication_mode_too(role: str, statement: str) -> None:
    with servers.clone() as name, psycopg.connect(servers.database_url(name, role)) as session:
        session.execute("INSERT INTO games_denial (at, who, action, thing, door) VALUES (now(), '', '', '', '')")
        if role == "postgres":
            session.execute("SET session_replication_role = replica")
        with pytest.raises(errors.InsufficientPrivilege, match="written once"):
            session.execute(statement)


# --- Every table and column against the declarations -----------------------------------------------


def test_the_triggers_are_on_every_table_that_is_written_once(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, t.tgname, t.tgenabled::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            "WHERE t.tgname IN ('written_once', 'never_emptied')"
        )
        found = {(table, trigger): enabled for table, trigger, enabled in cursor.fetchall()}
    always, tables = "A", [table for table, grants in table_grants().items() if grants.by_trigger]
    assert found == {(table, trigger): always for table in tables for trigger in ("written_once", "never_emptied")}


def test_every_history_is_written_once() -> None:
    histories = [model for model in apps.get_models() if issubclass(model, HistoricalChanges)]
    assert histories
    assert {declared_grants(model) for model in histories} == {WRITTEN_ONCE}


def test_the_database_grants_what_the_models_declare_and_nothing_else(db: None) -> None:
    declared = table_grants() | {MIGRATIONS: Grants(insert=False)}
    expected = {table: replace(grants, by_trigger=False) for table, grants in declared.items()}
    found = {
        table: Grants(
            insert=has("INSERT", table),
            update=tuple(sorted(column for column in columns if may_update(table, column))),
            delete=has("DELETE", table),
        )
        for table, columns in tables().items()
    }
    assert found == expected
    assert all(has("SELECT", table) for table in found)
    for privilege in ("TRUNCATE", "TRIGGER", "REFERENCES"):
        assert not [table for table in found if has(privilege, table)]


def test_rows_are_removed_where_the_product_removes_them_and_nowhere_else() -> None:
    assert {table for table, grants in table_grants().items() if grants.delete} == {
        "audits_shift", "django_celery_results_groupresult", "django_celery_results_taskresult", "django_session",
        "games_limitpreset", "games_loginthrottle", "games_outbox", "games_terminaltable", "games_terminaluse",
        "otp_static_staticdevice", "otp_static_statictoken", "otp_totp_totpdevice",
    }  # fmt: skip


def test_every_refused_statement_is_refused_by_permission(db: None) -> None:
    """By real statements, one for each table and column: an empty table refuses as a full one does."""
    granted = table_grants()
    tried = 0
    for table, columns in tables(kinds="r").items():
        grants = granted.get(table, Grants(insert=False))
        statements = [f'UPDATE "{table}" SET "{column}" = DEFAULT' for column in columns if column not in grants.update]
        statements += [f'TRUNCATE "{table}" CASCADE']
        statements += [] if grants.delete else [f'DELETE FROM "{table}"']
        statements += [] if grants.insert else [f'INSERT INTO "{table}" DEFAULT VALUES']
        statements += [] if grants.update else [f'SELECT 1 FROM "{table}" FOR UPDATE']
        for statement in statements:
            denied(statement)
        tried += len(statements)
    assert tried > len(granted)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE games_duty SET starts_at = now()",
        "UPDATE games_duty SET post = 'casino-manager'",
        "UPDATE games_duty SET ends_at = now(), post = post",
        "UPDATE games_ledgerchain SET name = 'x'",
        "UPDATE games_table SET code = 'X'",
        "UPDATE games_pit SET casino_id = casino_id",
        "UPDATE games_outbox SET at = now()",
        "UPDATE games_terminaltable SET table_id = table_id",
        "UPDATE audits_run SET who = 'x'",
        "UPDATE audits_daysummary SET gaming_day = gaming_day",
        "UPDATE auth_permission SET name = 'x'",
        "DELETE FROM games_staff",
        "DELETE FROM games_casino",
        "DELETE FROM games_ledgerchain",
        "DELETE FROM games_duty",
        "DELETE FROM audits_daysummary",
        "DELETE FROM audits_run",
        "UPDATE django_admin_log SET change_message = ''",
        "DELETE FROM django_admin_log",
        "INSERT INTO auth_group (name) VALUES ('x')",
        "INSERT INTO games_pit (id, casino_id, code, name) SELECT id, casino_id, code, name FROM games_pit "
        "ON CONFLICT (id) DO UPDATE SET casino_id = excluded.casino_id",
    ],
)
def test_a_fact_is_neither_changed_nor_removed(house: House, statement: str) -> None:
    denied(statement)


def test_a_record_is_saved_by_the_fields_that_may_change_or_not_at_all(house: House) -> None:
    """Django names every column in the UPDATE of a whole record: an oversight is refused, not half written."""
    casino = Casino.objects.get(pk=house.casino.pk)
    casino.name, casino.acting_days = "Another name", 300
    for only in (None, ("name", "acting_days")):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            record_save(casino, actor=OPERATOR, reason="Renamed", only=only)
    record_save(casino, actor=OPERATOR, reason="Renamed", only=("name",))
    casino.refresh_from_db()
    assert (casino.name, casino.acting_days) == ("Another name", ACTING_DAYS)


# --- Declarations ----------------------------------------------------------------------------------


def test_every_model_declares_its_grants() -> None:
    assert [model._meta.label for model in models_with_tables() if declared_grants(model) is None] == []
    assert check_grants() == []


@isolate_apps("games")
def test_a_model_without_a_declaration_is_an_error_of_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgotten(models.Model):  # noqa: DJ008  never shown
        class Meta:
            app_label = "games"

    class Misspelt(models.Model):  # noqa: DJ008
        grants = Grants(update=("ends_at", "id"))

        class Meta:
            app_label = "games"

    monkeypatch.setattr("games.database.role_grants.models_with_tables", lambda: [Forgotten, Misspelt])
    monkeypatch.setattr("games.database.role_grants.PACKAGE_GRANTS", {"gone.Model": Grants()})
    found = [(fault.id, fault.msg) for fault in check_grants()]
    assert found == [
        ("games.E001", "games.Forgotten does not say what the role `app` may do with its rows."),
        ("games.E002", "The grants of games.Misspelt name the field 'ends_at', which does not exist."),
        ("games.E002", "The grants of games.Misspelt name the field 'id', which is the key or has no column."),
        ("games.E003", "games/database/package_grants.py names gone.Model, which is not installed."),
    ]
    with pytest.raises(SystemCheckError, match=r"games\.E001"):
        call_command("check")


def test_no_model_of_ours_is_declared_elsewhere() -> None:
    assert not [label for label in PACKAGE_GRANTS if label.startswith(("games.", "audits."))]


def test_migrate_takes_back_what_was_granted_by_hand() -> None:
    with servers.clone() as name:
        owner = servers.database_url(name, "owner")
        with psycopg.connect(owner, autocommit=True) as session:
            session.execute("GRANT ALL ON games_casino, games_roundbet TO app")
            session.execute("GRANT UPDATE (who) ON games_denial TO app")
            session.execute("REVOKE DELETE ON games_outbox FROM app")
            urls = {"DATABASE_URL": servers.database_url(name), "DATABASE_OWNER_URL": owner}
            command = [sys.executable, str(PROJECT / "manage.py"), "migrate", "--verbosity", "0"]
            subprocess.run(command, env=os.environ | urls, check=True)
            (rights,) = session.execute(
                "SELECT ARRAY[has_table_privilege('app', 'games_casino', 'DELETE'), "
                "has_column_privilege('app', 'games_casino', 'acting_days', 'UPDATE'), "
                "has_table_privilege('app', 'games_roundbet', 'INSERT'), "
                "has_column_privilege('app', 'games_denial', 'who', 'UPDATE'), "
                "has_table_privilege('app', 'games_outbox', 'DELETE')]"
            ).fetchone() or ([],)
    assert rights == [False, False, False, False, True]


def denied(statement: str) -> None:
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


def tables(kinds: str = "rpvmf") -> dict[str, list[str]]:
    """Return every table and view, with its columns; or those of some kinds (r: ordinary tables)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, array_agg(a.attname::text) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = 'public'::regnamespace AND strpos(%s, c.relkind::text) > 0 "
            "AND a.attnum > 0 AND NOT a.attisdropped GROUP BY c.relname",
            [kinds],
        )
        return dict(cursor.fetchall())


def has(privilege: str, table: str) -> bool:
    return asked("SELECT has_table_privilege('app', %s, %s)", table, privilege)


def may_update(table: str, column: str) -> bool:
    return asked("SELECT has_column_privilege('app', %s, %s, 'UPDATE')", table, column)


def asked(question: str, *values: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(question, values)
        (answer,) = cursor.fetchone()
    return bool(answer)


def test_the_application_cannot_grant_itself_anything(denial: Denial) -> None:
    with connection.cursor() as cursor:
        cursor.execute("GRANT UPDATE ON games_denial TO app")  # PostgreSQL only warns
        cursor.execute("SELECT has_table_privilege('app', 'games_denial', 'UPDATE')")
        assert cursor.fetchone() == (False,)
