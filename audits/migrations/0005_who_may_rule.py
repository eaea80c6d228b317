"""The database's own word on who rules, and on what takes two people; whoever asks, by whatever door."""

from django.db import migrations

MAY_RULE = """
CREATE FUNCTION may_rule(person bigint, at_casino bigint, at_pit bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM games_staff s WHERE s.id = person AND s.is_active AND s.department = 'pit' AND (
            (s.post IN ('shift-manager', 'casino-manager') AND (s.casino_id IS NULL OR s.casino_id = at_casino))
            OR EXISTS (
                SELECT 1 FROM games_duty d WHERE d.staff_id = s.id AND d.post IN ('shift-manager', 'casino-manager')
                AND d.casino_id = at_casino AND (d.pit_id IS NULL OR d.pit_id = at_pit)
                AND d.starts_at <= clock_timestamp() AND d.ends_at > clock_timestamp())))
$$
"""
IS_PARTY = """
CREATE FUNCTION is_party(person bigint, in_rounds bigint[]) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM games_round r WHERE r.id = ANY (in_rounds)
        AND (r.dealer_staff_id = person OR r.supervisor_staff_id = person))
$$
"""
RULING = """
CREATE FUNCTION verify_ruling() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT may_rule(NEW.by_id, NEW.casino_id, NEW.pit_id) THEN
        RAISE EXCEPTION 'Staff % holds no post that rules at this moment.', NEW.by_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF is_party(NEW.by_id, ARRAY(SELECT round_id FROM audits_incidentround WHERE incident_id = NEW.incident_id))
        OR EXISTS (SELECT 1 FROM audits_incidentperson p WHERE p.incident_id = NEW.incident_id
            AND p.staff_id = NEW.by_id AND p.part IN ('dealer', 'supervisor')) THEN
        RAISE EXCEPTION 'Staff % dealt or supervised what is ruled on.', NEW.by_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF NEW.override = ''
        AND EXISTS (SELECT 1 FROM audits_incident i WHERE i.id = NEW.incident_id AND i.reported_by_id = NEW.by_id)
        AND coalesce((SELECT is_reporter_party FROM audits_rulingsetting WHERE casino_id = NEW.casino_id), true) THEN
        RAISE EXCEPTION 'Staff % reported what is ruled on.', NEW.by_id USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$
"""
CONSEQUENCE = """
CREATE FUNCTION verify_consequence() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE pit bigint := (SELECT pit_id FROM audits_incident WHERE id = NEW.incident_id);
BEGIN
    IF (NEW.needs_second OR NEW.kind = 'settlement') AND (
        NOT may_rule(NEW.by_id, NEW.casino_id, pit) OR is_party(NEW.by_id, NEW.round_ids)) THEN
        RAISE EXCEPTION 'Staff % may not order this at this moment.', NEW.by_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$
"""
DECISION = """
CREATE FUNCTION verify_second_person() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE ordered record;
BEGIN
    SELECT c.casino_id, i.pit_id, c.round_ids INTO ordered
        FROM audits_consequence c JOIN audits_incident i ON i.id = c.incident_id WHERE c.id = NEW.consequence_id;
    IF NEW.needs_second AND NEW.outcome = 'executed' AND (
        NOT may_rule(NEW.by_id, ordered.casino_id, ordered.pit_id) OR is_party(NEW.by_id, ordered.round_ids)) THEN
        RAISE EXCEPTION 'Staff % may not be the second person at this moment.', NEW.by_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$
"""
CORRECTION = """
CREATE FUNCTION verify_correction() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE decided record; played record;
BEGIN
    SELECT c.needs_second, d.outcome INTO decided FROM audits_consequence c
        LEFT JOIN audits_consequencedecision d ON d.consequence_id = c.id WHERE c.id = NEW.consequence_id;
    IF decided.outcome IS DISTINCT FROM 'executed' THEN
        RAISE EXCEPTION 'Nobody has decided on consequence %.', NEW.consequence_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT r.status, r.nets, r.table_id, r.gaming_day INTO played FROM games_round r WHERE r.id = NEW.round_id;
    IF (NEW.is_void OR (NEW.is_decided AND 0 = ALL (NEW.nets))) AND NOT decided.needs_second AND coalesce(
        (SELECT c.is_settled FROM audits_correction c WHERE c.round_id = NEW.round_id AND (c.is_void OR c.is_settled)
            ORDER BY c.ordinal DESC LIMIT 1), played.status = 'settled') THEN
        RAISE EXCEPTION 'A void after settlement takes two people.' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF played.table_id <> NEW.table_id OR played.gaming_day <> NEW.gaming_day
        OR cardinality(NEW.deltas) <> cardinality(played.nets) OR NEW.nets <> ARRAY(
            SELECT net + delta FROM unnest(
                coalesce((SELECT c.nets FROM audits_correction c WHERE c.round_id = NEW.round_id
                    AND c.ordinal = NEW.ordinal - 1), played.nets), NEW.deltas)
                WITH ORDINALITY AS one (net, delta, place) ORDER BY place)
        OR (NEW.ordinal > 1) <> EXISTS (SELECT 1 FROM audits_correction c WHERE c.round_id = NEW.round_id
            AND c.ordinal = NEW.ordinal - 1) THEN
        RAISE EXCEPTION 'The correction of round % does not follow from what is on record.', NEW.round_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$
"""
FUNCTIONS = (
    (MAY_RULE, "may_rule(bigint, bigint, bigint)"), (IS_PARTY, "is_party(bigint, bigint[])"),
    (RULING, "verify_ruling()"), (CONSEQUENCE, "verify_consequence()"), (DECISION, "verify_second_person()"),
    (CORRECTION, "verify_correction()"),
)  # fmt: skip
TRIGGERS = (
    ("audits_ruling", "verify_ruling"), ("audits_consequence", "verify_consequence"),
    ("audits_consequencedecision", "verify_second_person"), ("audits_correction", "verify_correction"),
)  # fmt: skip


def trigger(table: str, function: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"CREATE TRIGGER {function} BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION {function}(); "
        f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {function}",
        f"DROP TRIGGER {function} ON {table}",
    )


def together(table: str, columns: str, other: str, others: str, name: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({columns}) "
        f"REFERENCES {other} ({others}) DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


class Migration(migrations.Migration):
    dependencies = [("audits", "0004_rulings")]
    operations = [
        *(migrations.RunSQL(body, f"DROP FUNCTION {name}") for body, name in FUNCTIONS),
        *(trigger(table, function) for table, function in TRIGGERS),
        together(
            "audits_consequencedecision", "consequence_id, ordered_by_id, needs_second", "audits_consequence",
            "id, by_id, needs_second", "decision_of_what_was_ordered",
        ),
        together("audits_ruling", "pit_id, casino_id", "games_pit", "id, casino_id", "ruling_pit_of_same_casino"),
        together("audits_ruling", "table_id, casino_id", "games_table", "id, casino_id", "ruling_table_of_same_casino"),
        migrations.RunSQL(
            "ALTER TABLE audits_ruling ADD CONSTRAINT ruling_number_says_year_and_serial CHECK (number = "
            "'RU-' || year || '-' || lpad(serial::text, greatest(6, length(serial::text)), '0'))",
            "ALTER TABLE audits_ruling DROP CONSTRAINT ruling_number_says_year_and_serial",
        ),
    ]  # fmt: skip
