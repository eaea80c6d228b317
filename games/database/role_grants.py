"""The rights of the database role `app` on every table, and the triggers on rows that are written once.

Both are made after every `migrate` from the models' declarations (games.database.grants), in one transaction.
Anything not declared is refused, so that a new table cannot be forgotten. Triggers fire for `owner` too, and in
replication mode.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.exceptions import FieldDoesNotExist
from django.db import connections, models, transaction
from psycopg import sql

from games.database.box_functions import create_box_functions
from games.database.grants import Grants, field_columns
from games.database.package_grants import PACKAGE_GRANTS
from games.database.rule_functions import create_rule_functions

#: The record of migrations has no model; `/readyz` reads it.
MIGRATIONS = "django_migrations"

DENY_FUNCTION = """
CREATE OR REPLACE FUNCTION deny_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'Rows of % are written once: % is not allowed.', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END $$
"""

PERIOD_FUNCTION = """
CREATE OR REPLACE FUNCTION only_an_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF lower(NEW.during) IS DISTINCT FROM lower(OLD.during) OR NOT NEW.during <@ OLD.during THEN
        RAISE EXCEPTION 'A period of % gets its end, and nothing else of it changes.', TG_TABLE_NAME
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$
"""

#: Name, event, scope and function of each trigger.
WRITTEN_ONCE_TRIGGERS = (
    ("written_once", "BEFORE UPDATE OR DELETE", "FOR EACH ROW", "deny_change"),
    ("never_emptied", "BEFORE TRUNCATE", "FOR EACH STATEMENT", "deny_change"),
)
PERIOD_TRIGGERS = (("only_an_end", "BEFORE UPDATE", "FOR EACH ROW", "only_an_end"),)


# --- Declarations ----------------------------------------------------------------------------------


def models_with_tables() -> list[type[models.Model]]:
    """List every installed model with its own table or view."""
    return [model for model in apps.get_models(include_auto_created=True) if not model._meta.proxy]


def declared_grants(model: type[models.Model]) -> Grants | None:
    grants = getattr(model, "grants", None)
    return grants if isinstance(grants, Grants) else PACKAGE_GRANTS.get(model._meta.label)


def table_grants() -> dict[str, Grants]:
    """Return the grants by table, with columns instead of fields. A model without a declaration grants nothing."""
    found = {}
    for model in models_with_tables():
        if grants := declared_grants(model):
            columns = tuple(sorted(field_columns(model, grants.update)))
            found[model._meta.db_table] = Grants(grants.insert, columns, grants.delete, grants.by_trigger)
    return found


def check_grants(**kwargs: Any) -> list[CheckMessage]:
    """Check that every model declares its grants and names only existing fields (`manage.py check`)."""
    found: list[CheckMessage] = []
    known = models_with_tables()
    for model in known:
        label, grants = model._meta.label, declared_grants(model)
        if grants is None:
            hint = "Write `grants = …` in the model, or name it in games/database/package_grants.py."
            found.append(
                Error(f"{label} does not say what the role `app` may do with its rows.", hint, id="games.E001")
            )
            continue
        found += [
            Error(f"The grants of {label} name {fault}.", "Name a field that is not the key.", id="games.E002")
            for fault in _faulty_fields(model, grants)
        ]
    for label in sorted(PACKAGE_GRANTS.keys() - {model._meta.label for model in known}):
        found.append(
            Error(
                f"games/database/package_grants.py names {label}, which is not installed.",
                "Remove it.",
                id="games.E003",
            )
        )
    return found


def _faulty_fields(model: type[models.Model], grants: Grants) -> list[str]:
    faulty = []
    for name in grants.update:
        try:
            field = model._meta.get_field(name)
        except FieldDoesNotExist:
            faulty.append(f"the field {name!r}, which does not exist")
        else:
            if getattr(field, "primary_key", False) or getattr(field, "column", None) is None:
                faulty.append(f"the field {name!r}, which is the key or has no column")
    return faulty


# --- Grants and triggers ---------------------------------------------------------------------------


def protect(using: str, app_config: Any = None, **kwargs: Any) -> None:
    """Make grants and triggers for all tables. Called after each app's migrations; acts after ours."""
    if app_config is not None and app_config.name != "games":
        return
    connection = connections[using]
    # SQL by hand: grants, functions and triggers.
    with transaction.atomic(using=using), connection.cursor() as cursor:
        present = _columns_by_table(cursor)
        if "games_denial" not in present:  # all migrations were reversed
            return
        cursor.execute(DENY_FUNCTION)
        cursor.execute(PERIOD_FUNCTION)
        create_box_functions(cursor)
        create_rule_functions(cursor)
        for statement in _statements(present):
            cursor.execute(statement)


def _columns_by_table(cursor: Any) -> dict[str, set[str]]:
    """Return the existing tables and views with their columns: after a reversed migration, fewer than declared."""
    cursor.execute(
        "SELECT table_name::text, array_agg(column_name::text) FROM information_schema.columns "
        "WHERE table_schema = 'public' GROUP BY table_name"
    )
    return {table: set(columns) for table, columns in cursor.fetchall()}


def _statements(present: Mapping[str, set[str]]) -> Iterator[sql.Composed]:
    app = sql.Identifier(settings.APP_ROLE)
    for statement in (
        "GRANT USAGE ON SCHEMA public TO {app}",
        "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {app}",  # includes the grants on columns
        "REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM {app}",
        "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {app}",
        "GRANT SELECT ON {migrations} TO {app}",
    ):
        yield sql.SQL(statement).format(app=app, migrations=sql.Identifier(MIGRATIONS))
    for table, grants in sorted(table_grants().items()):
        if table in present:
            columns = [column for column in grants.update if column in present[table]]
            yield _grant(table, grants, columns, app)
            yield from _triggers(table, WRITTEN_ONCE_TRIGGERS if grants.by_trigger else ())
            yield from _triggers(table, PERIOD_TRIGGERS if "during" in columns else ())


def _grant(table: str, grants: Grants, columns: list[str], app: sql.Identifier) -> sql.Composed:
    rights: list[sql.Composable] = [sql.SQL("SELECT")]
    if grants.insert:
        rights.append(sql.SQL("INSERT"))
    if grants.delete:
        rights.append(sql.SQL("DELETE"))
    if columns:
        rights.append(sql.SQL("UPDATE ({})").format(sql.SQL(", ").join(map(sql.Identifier, columns))))
    return sql.SQL("GRANT {} ON {} TO {}").format(sql.SQL(", ").join(rights), sql.Identifier(table), app)


def _triggers(table: str, triggers: tuple[tuple[str, str, str, str], ...]) -> Iterator[sql.Composed]:
    """Write triggers that fire for every role, including the owner, and in replication mode."""
    for name, event, rows, function in triggers:
        yield sql.SQL("CREATE OR REPLACE TRIGGER {} {} ON {} {} EXECUTE FUNCTION {}()").format(
            sql.Identifier(name), sql.SQL(event), sql.Identifier(table), sql.SQL(rows), sql.Identifier(function)
        )
        yield sql.SQL("ALTER TABLE {} ENABLE ALWAYS TRIGGER {}").format(sql.Identifier(table), sql.Identifier(name))
