"""Rulings after years: the cost of precedents and of the register with 5,000 rulings against 100, in one run."""

from bench.desk.incidents import FILES, PLACES, written
from bench.grown import Growth
from bench.measure import TRIES, Row
from taisai_backoffice.embedded.home import Home

FEW, MANY = 100, 5_000
TITLE = f"Precedents: {MANY:,} rulings against {FEW:,}, best of {TRIES}"
GROWTH = Growth("precedents", TITLE, FEW, MANY, reader="bench.desk.precedent_reader")

BOOK = "rws-tai-sai-v6"
RULES = ("5.1.1", "5.1.2", "5.2", "5.3", "5.4.1", "5.5.2", "5.6", "5.7", "5.8", "5.14")
#: In each casino the first shift manager makes all rulings.
MANAGERS = b"""
CREATE TEMP TABLE managers AS
SELECT DISTINCT ON (casino_id) casino_id, id FROM games_staff WHERE post = 'shift-manager' ORDER BY casino_id, id
"""
#: One ruling for each file. A ninth of them are standing; every second of these supersedes the previous one.
RULINGS = """
INSERT INTO audits_ruling (id, casino_id, pit_id, table_id, incident_id, year, serial, number, kind, situation,
    rulebook, rules, question, facts, decision, reasoning, scope, effective_from, replaces_id, is_withdrawal, departure,
    override, by_id, post, who, made_at, readings)
SELECT n, file.casino_id, file.pit_id, file.table_id, file.id, 2026, n, 'RU-2026-' || lpad(n::text, 6, '0'),
    CASE WHEN n % 9 = 0 THEN 'interpretation' ELSE 'confirmation' END, file.situation, '{book}',
    ARRAY['{book}#' || ({rules})[n % {rule_count} + 1], '{book}#' || ({rules})[n / 3 % {rule_count} + 1]],
    'What is owed where: ' || {text}, file.account, 'It was decided so: ' || {text}, 'By the account: ' || {text},
    CASE WHEN n % 9 = 0 THEN 'standing' ELSE 'round' END, CASE WHEN n % 9 = 0 THEN {at} END,
    CASE WHEN n % 18 = 0 THEN n - 9 END, false, '', '', managers.id, 'shift manager', 'x', {at},
    ARRAY[]::text[]
FROM generate_series(1, {count}) AS n JOIN audits_incident file ON file.serial = n
JOIN managers ON managers.casino_id = file.casino_id
ORDER BY n
"""


def run(home: Home) -> list[Row]:
    rulings = RULINGS.replace("{book}", BOOK).replace("{rules}", f"ARRAY{list(RULES)}")
    rulings = rulings.replace("{rule_count}", str(len(RULES)))
    statements = {
        count: [PLACES, MANAGERS, *(written(statement, count) for statement in (FILES, rulings))]
        for count in (FEW, MANY)
    }
    return GROWTH.run(home, statements)
