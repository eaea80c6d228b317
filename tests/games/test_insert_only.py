"""Rows that are written once: direct SQL as `app` changes none of them, and cannot switch the protection off."""

import psycopg
import pytest
from django.apps import apps
from django.db import connection
from psycopg import errors
from simple_history.models import HistoricalChanges

from games.insert_only import INSERT_ONLY, ONLY_COLUMNS, READ_ONLY
from games.models import Denial
from tests import servers

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


def test_every_table_of_the_list_is_there_and_protected(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, t.tgname, t.tgenabled::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            "WHERE t.tgname IN ('written_once', 'never_emptied')"
        )
        found = {(table, trigger): enabled for table, trigger, enabled in cursor.fetchall()}
    always = "A"
    assert found == {(table, trigger): always for table in INSERT_ONLY for trigger in ("written_once", "never_emptied")}


def test_every_history_is_on_the_list() -> None:
    histories = {model._meta.db_table for model in apps.get_models() if issubclass(model, HistoricalChanges)}
    assert histories
    assert histories <= set(INSERT_ONLY)


def test_the_application_reads_and_adds_everywhere_but_to_the_record_of_migrations(db: None) -> None:
    for privilege, refused in [("SELECT", set()), ("INSERT", {"django_migrations", *READ_ONLY})]:
        assert {table for table in tables() if not has(privilege, table)} == refused


def test_the_application_takes_rows_away_where_they_are_not_kept(db: None) -> None:
    assert {table for table in tables() if not has("DELETE", table)} == {
        *INSERT_ONLY, *ONLY_COLUMNS, *READ_ONLY, "django_migrations",
    }  # fmt: skip
    assert not [table for table in tables() if has("TRUNCATE", table) or has("TRIGGER", table)]


def test_the_application_changes_every_column_but_of_what_is_written_once(db: None) -> None:
    may_change = {table: {column for column in columns if may_update(table, column)}
                  for table, columns in tables().items()}  # fmt: skip
    never = dict.fromkeys([*INSERT_ONLY, *READ_ONLY, "django_migrations"], ())
    assert may_change == {
        table: set({**never, **ONLY_COLUMNS}.get(table, columns)) for table, columns in tables().items()
    }


def test_a_period_is_not_on_both_lists() -> None:
    assert not set(INSERT_ONLY) & set(ONLY_COLUMNS)


def tables() -> dict[str, list[str]]:
    """Every table there is, with its columns."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, array_agg(a.attname::text) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 "
            "AND NOT a.attisdropped GROUP BY c.relname"
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
