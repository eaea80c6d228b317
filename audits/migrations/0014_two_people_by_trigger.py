"""Two people for every change of a settled round, bounded nets, and payments marked by a third: by the database too."""

from importlib import import_module

from django.db import migrations

WHO_MAY_RULE = import_module("audits.migrations.0005_who_may_rule")
CONSEQUENCE_BEFORE = import_module("audits.migrations.0010_affected_rounds_and_discretion").CONSEQUENCE

#: The amount from which a change of a settled round takes two people, in a casino. The only place that looks it up.
SECOND_PERSON_FROM = """
CREATE FUNCTION second_person_from(of_casino bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT s.second_person_from FROM audits_rulingsetting s WHERE s.casino_id = of_casino), 0)
$$
"""
SUM_OF = """
CREATE FUNCTION money_in(deltas bigint[]) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(sum(abs(delta)), 0) FROM unnest(deltas) AS moved (delta)
$$
"""
#: What was moved on these rounds so far, by anybody, and what a person moved alone in the casino since a moment.
MONEY_MOVED = """
CREATE FUNCTION money_moved(by_person bigint, in_casino bigint, on_rounds bigint[], since timestamptz) RETURNS numeric
LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(money_in(deltas)), 0) FROM (
        SELECT c.id, c.deltas FROM audits_correction c WHERE c.round_id = ANY (on_rounds)
        UNION
        SELECT c.id, c.deltas FROM audits_correction c JOIN audits_consequence o ON o.id = c.consequence_id
            WHERE o.by_id = by_person AND o.casino_id = in_casino AND NOT o.needs_second AND o.at > since) AS moved
$$
"""
#: As the gate has it: the pit where the table is now, or is to be first.
PIT_OF_TABLE = """
CREATE FUNCTION pit_of_table(of_table bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT a.pit_id FROM games_tableassignment a WHERE a.table_id = of_table
            AND lower(a.during) <= clock_timestamp() ORDER BY a.during DESC LIMIT 1),
        (SELECT a.pit_id FROM games_tableassignment a WHERE a.table_id = of_table ORDER BY a.during LIMIT 1))
$$
"""
MAY_RULE_ON = """
CREATE FUNCTION may_rule_on(person bigint, in_rounds bigint[]) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT 1 FROM games_table t
        WHERE t.id IN (SELECT r.table_id FROM games_round r WHERE r.id = ANY (in_rounds))
        AND NOT may_rule(person, t.casino_id, pit_of_table(t.id)))
$$
"""
#: As in 0010; whoever orders reaches every round concerned.
CONSEQUENCE = """
CREATE OR REPLACE FUNCTION verify_consequence() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE pit bigint := (SELECT pit_id FROM audits_incident WHERE id = NEW.incident_id);
BEGIN
    IF (NEW.needs_second OR NEW.kind IN ('settlement', 'discretion')) AND (
        NOT may_rule(NEW.by_id, NEW.casino_id, pit) OR NOT may_rule_on(NEW.by_id, NEW.round_ids)
        OR is_party(NEW.by_id, NEW.round_ids)) THEN
        RAISE EXCEPTION 'Staff % may not order this at this moment.', NEW.by_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF NEW.discretion_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM audits_discretion d
        WHERE d.id = NEW.discretion_id AND d.incident_id = NEW.incident_id
        AND (d.round_id IS NULL OR NEW.round_ids = ARRAY[d.round_id])) THEN
        RAISE EXCEPTION 'Discretion % is about another incident or another round.', NEW.discretion_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$
"""
#: As in 0005; the second person reaches every round concerned, and made neither the ruling nor the discretion.
DECISION = """
CREATE OR REPLACE FUNCTION verify_second_person() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE ordered record;
BEGIN
    SELECT c.casino_id, i.pit_id, c.round_ids, r.by_id AS ruled_by, d.by_id AS decided_by INTO ordered
        FROM audits_consequence c JOIN audits_incident i ON i.id = c.incident_id
        LEFT JOIN audits_ruling r ON r.id = c.ruling_id LEFT JOIN audits_discretion d ON d.id = c.discretion_id
        WHERE c.id = NEW.consequence_id;
    IF NEW.needs_second AND NEW.outcome = 'executed' AND (
        NOT may_rule(NEW.by_id, ordered.casino_id, ordered.pit_id) OR NOT may_rule_on(NEW.by_id, ordered.round_ids)
        OR is_party(NEW.by_id, ordered.round_ids)
        OR coalesce(NEW.by_id IN (ordered.ruled_by, ordered.decided_by), false)) THEN
        RAISE EXCEPTION 'Staff % may not be the second person at this moment.', NEW.by_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$
"""
#: The round's money was settled at any time: as recorded, by an event, or by a correction.
CORRECTION = """
CREATE OR REPLACE FUNCTION verify_correction() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE ordered record; played record; before bigint[];
BEGIN
    SELECT c.by_id, c.casino_id, c.round_ids, c.needs_second, d.outcome INTO ordered FROM audits_consequence c
        LEFT JOIN audits_consequencedecision d ON d.consequence_id = c.id WHERE c.id = NEW.consequence_id;
    IF ordered.outcome IS DISTINCT FROM 'executed' THEN
        RAISE EXCEPTION 'Nobody has decided on consequence %.', NEW.consequence_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF NEW.round_id <> ALL (ordered.round_ids) THEN
        RAISE EXCEPTION 'Consequence % is not about round %.', NEW.consequence_id, NEW.round_id
            USING ERRCODE = 'check_violation';
    END IF;
    SELECT r.nets, r.table_id, r.gaming_day, r.rulebook, r.layout, r.boxes, r.stakes,
        r.status = 'settled' OR r.events @> '[{"kind": "settled"}]' OR EXISTS (
            SELECT 1 FROM audits_correction c WHERE c.round_id = r.id AND c.is_settled) AS was_settled
        INTO played FROM games_round r WHERE r.id = NEW.round_id;
    before := coalesce((SELECT c.nets FROM audits_correction c WHERE c.round_id = NEW.round_id
        AND c.ordinal = NEW.ordinal - 1), played.nets);
    IF NOT ordered.needs_second
        AND (played.was_settled OR (money_in(before) > 0 AND money_in(NEW.deltas) > 0)) THEN
        PERFORM pg_advisory_xact_lock(8000932, (ordered.by_id % 2147483648)::integer);
        IF money_in(NEW.deltas) + money_moved(ordered.by_id, ordered.casino_id, ARRAY[NEW.round_id],
            least(NEW.at, clock_timestamp()) - interval '24 hours') >= second_person_from(ordered.casino_id) THEN
            RAISE EXCEPTION 'A change of a settled round takes two people (round %).', NEW.round_id
                USING ERRCODE = 'insufficient_privilege';
        END IF;
        IF NOT may_rule_on(ordered.by_id, ARRAY[NEW.round_id]) OR is_party(ordered.by_id, ARRAY[NEW.round_id]) THEN
            RAISE EXCEPTION 'Staff % may not change round % at this moment.', ordered.by_id, NEW.round_id
                USING ERRCODE = 'insufficient_privilege';
        END IF;
    END IF;
    IF played.table_id <> NEW.table_id OR played.gaming_day <> NEW.gaming_day
        OR cardinality(NEW.deltas) <> cardinality(played.nets) OR NEW.nets <> ARRAY(
            SELECT net + delta FROM unnest(before, NEW.deltas)
                WITH ORDINALITY AS one (net, delta, place) ORDER BY place)
        OR (NEW.ordinal > 1) <> EXISTS (SELECT 1 FROM audits_correction c WHERE c.round_id = NEW.round_id
            AND c.ordinal = NEW.ordinal - 1) THEN
        RAISE EXCEPTION 'The correction of round % does not follow from what is on record.', NEW.round_id
            USING ERRCODE = 'check_violation';
    END IF;
    IF EXISTS (SELECT 1 FROM unnest(played.boxes, played.stakes, NEW.deltas, NEW.nets)
            WITH ORDINALITY AS bet (box, stake, delta, net, place)
        WHERE (delta <> 0 OR NEW.is_settled AND (NEW.decided IS NULL OR NEW.decided[place]))
        AND net NOT BETWEEN -stake AND stake * coalesce(best_odds(played.rulebook, played.layout, box), 0)) THEN
        RAISE EXCEPTION 'A net of round % is out of bounds: minus the stake, or the stake at the best odds of its box.',
            NEW.round_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$
"""
#: What is executed is what was ordered: all rounds of an order are corrected in one statement, and move its amount.
AMOUNT = """
CREATE FUNCTION verify_corrected_amount() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE wrong bigint;
BEGIN
    SELECT o.id INTO wrong FROM audits_consequence o WHERE o.id IN (SELECT consequence_id FROM made)
        AND o.amount <> (SELECT sum(money_in(c.deltas)) FROM audits_correction c WHERE c.consequence_id = o.id) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'The corrections of consequence % do not move the amount that was ordered.', wrong
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$
"""
REPAYMENT = """
CREATE FUNCTION verify_repayments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE wrong record;
BEGIN
    SELECT m.consequence_id, m.player INTO wrong FROM made m LEFT JOIN (
        SELECT c.consequence_id, bet.player, sum(bet.delta) AS amount FROM audits_correction c
            JOIN games_round r ON r.id = c.round_id CROSS JOIN unnest(r.players, c.deltas) AS bet (player, delta)
            WHERE c.consequence_id IN (SELECT consequence_id FROM made) GROUP BY 1, 2) AS owed
        ON owed.consequence_id = m.consequence_id AND owed.player = m.player
        WHERE owed.amount IS DISTINCT FROM m.amount LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'The corrections of consequence % do not owe % this amount.', wrong.consequence_id, wrong.player
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$
"""
MARK = """
CREATE FUNCTION verify_payer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.what IN ('paid', 'not-paid') AND EXISTS (
        SELECT 1 FROM audits_repayment p JOIN audits_consequence c ON c.id = p.consequence_id
            LEFT JOIN audits_consequencedecision d ON d.consequence_id = c.id
            WHERE p.id = NEW.repayment_id AND NEW.by_id IN (c.by_id, d.by_id)) THEN
        RAISE EXCEPTION 'Staff % ordered or executed this; another person marks it as paid.', NEW.by_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$
"""
NEW_FUNCTIONS = (
    (SECOND_PERSON_FROM, "second_person_from(bigint)"), (SUM_OF, "money_in(bigint[])"),
    (MONEY_MOVED, "money_moved(bigint, bigint, bigint[], timestamptz)"), (PIT_OF_TABLE, "pit_of_table(bigint)"),
    (MAY_RULE_ON, "may_rule_on(bigint, bigint[])"), (AMOUNT, "verify_corrected_amount()"),
    (REPAYMENT, "verify_repayments()"), (MARK, "verify_payer()"),
)  # fmt: skip
REPLACED = (
    (CONSEQUENCE, CONSEQUENCE_BEFORE), (DECISION, WHO_MAY_RULE.DECISION), (CORRECTION, WHO_MAY_RULE.CORRECTION),
)  # fmt: skip
EACH_STATEMENT = "AFTER INSERT ON {} REFERENCING NEW TABLE AS made FOR EACH STATEMENT"
TRIGGERS = (
    ("audits_correction", "verify_corrected_amount", EACH_STATEMENT),
    ("audits_repayment", "verify_repayments", EACH_STATEMENT),
    ("audits_repaymentmark", "verify_payer", "BEFORE INSERT ON {} FOR EACH ROW"),
)
#: What rulings settled otherwise is found in the rounds that were corrected before, too.
AGAIN = """
INSERT INTO games_outbox (round_id, at, again) SELECT DISTINCT round_id, now(), true FROM audits_correction
ON CONFLICT DO NOTHING
"""


def replaced(now: str, before: str) -> migrations.RunSQL:
    return migrations.RunSQL(now, before.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"))


def trigger(table: str, function: str, when: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"CREATE TRIGGER {function} {when.format(table)} EXECUTE FUNCTION {function}(); "
        f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {function}",
        f"DROP TRIGGER {function} ON {table}",
    )


class Migration(migrations.Migration):
    dependencies = [("audits", "0013_two_people")]
    operations = [
        *(migrations.RunSQL(body, f"DROP FUNCTION {name}") for body, name in NEW_FUNCTIONS),
        *(replaced(now, before) for now, before in REPLACED),
        *(trigger(*one) for one in TRIGGERS),
        migrations.RunSQL(AGAIN, migrations.RunSQL.noop),
    ]
