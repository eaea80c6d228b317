"""Tables whose rows are written once: the list, and the grants and triggers that follow from it.

After every `migrate` the role `app` gets what this file says, on every table there is, so that a new
table cannot be forgotten. The triggers fire for `owner` too, and in replication mode.
"""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import connections, transaction
from psycopg import sql

from games.box_functions import create_box_functions
from games.rule_functions import create_rule_functions

INSERT_ONLY = (
    "audits_checklisttick",
    "audits_closedsummary",
    "audits_consequence",
    "audits_consequencedecision",
    "audits_consequencenotice",
    "audits_correction",
    "audits_custodystep",
    "audits_dayclose",
    "audits_discretion",
    "audits_escalation",
    "audits_evidence",
    "audits_findingweighing",
    "audits_handover",
    "audits_handovertaken",
    "audits_historicaldispute",
    "audits_historicaldisputerule",
    "audits_historicalfinding",
    "audits_historicalfindingpolicy",
    "audits_historicalincident",
    "audits_historicalrulingsetting",
    "audits_historicalshift",
    "audits_incidentlink",
    "audits_incidentnote",
    "audits_incidentperson",
    "audits_incidentround",
    "audits_incidentstep",
    "audits_logentry",
    "audits_notice",
    "audits_noticemail",
    "audits_partyconfirmation",
    "audits_repayment",
    "audits_repaymentmark",
    "audits_proposernotice",
    "audits_ruling",
    "audits_rulingconsent",
    "audits_rulingreview",
    "audits_thresholdnotice",
    "games_accessrecord",
    "games_accessreview",
    "games_accessreviewline",
    "games_accessreviewmark",
    "games_accessreviewsignature",
    "games_accountdecision",
    "games_accountlink",
    "games_accountlinkend",
    "games_accountproposal",
    "games_denial",
    "games_diceinspection",
    "games_differentialline",
    "games_factorreset",
    "games_factorresetconfirmation",
    "games_failedlogin",
    "games_historicalcasino",
    "games_historicaldicefit",
    "games_historicaldiceset",
    "games_historicalduty",
    "games_historicallimitpreset",
    "games_historicalpit",
    "games_historicalstaff",
    "games_historicaltable",
    "games_historicaltableassignment",
    "games_historicalterminal",
    "games_historicaltumbler",
    "games_historicaltumblerfit",
    "games_importedfile",
    "games_ledgerleaf",
    "games_limitdecision",
    "games_limitline",
    "games_limitproposal",
    "games_limitset",
    "games_limitsheet",
    "games_livestep",
    "games_livewarning",
    "games_openingcheck",
    "games_proposedsign",
    "games_recordingconflict",
    "games_round",
    "games_settlementpolicy",
    "games_signprint",
    "games_tablestep",
    "games_thresholdchange",
    "games_thresholddecision",
    "games_tumblerinspection",
)

#: Tables of which only these columns change: a period gets its end, a terminal keeps its key; what it is about stays.
ONLY_COLUMNS = {
    "audits_dispute": ("notified_at", "patron_told_at", "resolved_at", "resolution", "told_id"),
    "audits_finding": (  # the first three with its recording, once: a trigger sees to it
        "round_id",
        "gaming_day",
        "round_started_at",
        "ordinal",
        "detail",
        "severity",  # never below what it was found with: a trigger sees to it
        "severity_found",
        "lapsed_by_id",
        "lapsed_at",
        "state",
        "assigned_to_id",
        "acknowledged_by",
        "acknowledged_at",
        "outcome",
        "settled_amount",
        "resolution",
        "resolved_by_id",
        "resolved_at",
        "needs_confirmation",
        "confirmed_by_id",
        "confirmed_at",
    ),
    "audits_incident": (
        "pit_id",
        "table_id",
        "occurred_from",
        "occurred_to",
        "situation",
        "facts",
        "account",
        "rulebook",
        "state",
        "state_since",
    ),
    "audits_numbercounter": ("last",),
    "games_casino": (  # the acting limits are thresholds (games.services.thresholds)
        "code",
        "name",
        "operator",
        "timezone",
        "currency",
        "gaming_day_starts",
        "notice_minutes",
        "open_round_minutes",
    ),
    "games_dicefit": ("during",),
    "games_diceset": ("code", "pit_id", "seal", "state"),
    "games_liveround": (
        "rulebook",
        "layout",
        "chip_unit",
        "limit_set_id",
        "state",
        "steps_taken",
        "last_step_at",
        "ended_at",
        "recorded_id",
    ),
    "games_loginsession": ("passed_at", "seen_at", "ended_at", "end", "ended_by_id", "reason"),
    "games_tableassignment": ("during",),
    "games_terminal": ("table_codes", "revoked_at", "last_used_at"),
    "games_tumbler": ("code", "pit_id", "lock", "state"),
    "games_tumblerfit": ("during",),
}

#: Tables that the application only reads: what held before thresholds were changed by two people.
READ_ONLY = ("audits_findingpolicy", "audits_rulingsetting")

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


def protect(using: str, app_config: Any = None, **kwargs: Any) -> None:
    """Grants and triggers for all tables; called after each app's migrations, does its work after ours."""
    if app_config is not None and app_config.name != "games":
        return
    connection = connections[using]
    with transaction.atomic(using=using), connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
        if "games_denial" not in tables:  # migrated back to nothing
            return
        cursor.execute(DENY_FUNCTION)
        cursor.execute(PERIOD_FUNCTION)
        create_box_functions(cursor)
        create_rule_functions(cursor)
        app = sql.Identifier(settings.APP_ROLE)
        for statement in _grants(app):
            cursor.execute(statement)
        for statement in _restrictions(tables, app):
            cursor.execute(statement)


def _restrictions(tables: set[str], app: sql.Identifier) -> Iterator[sql.Composed]:
    """What the lists above say, for the tables that are there."""
    for table in tables.intersection(INSERT_ONLY):
        yield from _insert_only(sql.Identifier(table), app)
    for table in tables.intersection(READ_ONLY):
        yield _read_only(sql.Identifier(table), app)
    for table in tables.intersection(ONLY_COLUMNS):
        yield from _only_columns(sql.Identifier(table), ONLY_COLUMNS[table], app)


def _grants(app: sql.Identifier) -> list[sql.Composed]:
    """The application reads and writes rows; it changes no structure and no record of migrations."""
    statements = (
        "GRANT USAGE ON SCHEMA public TO {app}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {app}",
        "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {app}",
        "REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM {app}",
    )
    return [sql.SQL(statement).format(app=app) for statement in statements]


def _insert_only(table: sql.Identifier, app: sql.Identifier) -> list[sql.Composed]:
    statements = (
        "REVOKE UPDATE, DELETE, TRUNCATE ON {table} FROM {app}",
        "CREATE OR REPLACE TRIGGER written_once BEFORE UPDATE OR DELETE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION deny_change()",
        "CREATE OR REPLACE TRIGGER never_emptied BEFORE TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION deny_change()",
        "ALTER TABLE {table} ENABLE ALWAYS TRIGGER written_once",
        "ALTER TABLE {table} ENABLE ALWAYS TRIGGER never_emptied",
    )
    return [sql.SQL(statement).format(table=table, app=app) for statement in statements]


def _read_only(table: sql.Identifier, app: sql.Identifier) -> sql.Composed:
    return sql.SQL("REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON {table} FROM {app}").format(table=table, app=app)


def _only_columns(table: sql.Identifier, columns: tuple[str, ...], app: sql.Identifier) -> list[sql.Composed]:
    named = sql.SQL(", ").join(map(sql.Identifier, columns))
    statements = [
        "REVOKE UPDATE, DELETE, TRUNCATE ON {table} FROM {app}",
        "GRANT UPDATE ({columns}) ON {table} TO {app}",
    ]
    if "during" in columns:
        statements += [
            "CREATE OR REPLACE TRIGGER only_an_end BEFORE UPDATE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION only_an_end()",
            "ALTER TABLE {table} ENABLE ALWAYS TRIGGER only_an_end",
        ]
    return [sql.SQL(statement).format(table=table, app=app, columns=named) for statement in statements]
