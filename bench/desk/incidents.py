"""Incidents after years: the cost of lists and searches with 100,000 files against 1,000, in one run."""

from bench.grown import Growth
from bench.measure import TRIES, Row
from taisai_backoffice.embedded.home import Home

FEW, MANY = 1_000, 100_000
TITLE = f"Incidents: {MANY:,} files, entries and notes against {FEW:,}, best of {TRIES}"
GROWTH = Growth("incidents", TITLE, FEW, MANY, reader="bench.desk.incident_reader")

#: Words as people write them. The n-th row takes one word of each list, with steps that vary the combinations.
WORDS = {
    "who": "dealer,patron,supervisor,player,seat,inspector,cashier,observer",
    "what": "placed,moved,claimed,dropped,counted,refused,swapped,paid,withdrew,questioned,pushed,touched",
    "thing": "chips,stake,die,dome,tumbler,display,bet,payout,colour,wager,card,cover,lamp,felt,sign,limit,marker",
    "where": "small,big,triple,double,total,domino,corner,edge,rail,pit,camera,cage,aisle,column",
    "how": "twice,late,early,quietly,loudly,again,slowly,quickly,openly,calmly,rudely",
}
#: Half of all rows have the common word, five the rare one, whatever the number of rows.
COMMON, RARE, TWO = "recording", "zebra", "tumbler loudly"
TEXT = """
'The ' || {who} || ' ' || {what} || ' the ' || {thing} || ' near the ' || {where} || ' ' || {how} || '. '
|| CASE WHEN n % 2 = 0 THEN 'The recording is kept. ' ELSE 'Nothing was kept. ' END
|| CASE WHEN n % ({count} / 5) = 7 THEN 'A zebra was seen. ' ELSE '' END
|| 'Patron P-' || n * 7919 % 100003 || ' was asked at seat ' || n % 12 || '.'
"""
#: Spread over the years before today, the newest last; the oldest are closed.
AT = "now() - make_interval(mins => ({count} - n) * 5 + 10)"
FILES = """
INSERT INTO audits_incident (casino_id, pit_id, table_id, year, serial, number, occurred_from, reported_at, who,
    department, situation, facts, account, rulebook, state, state_since)
SELECT places.casino_id, places.pit_id, places.table_id, 2026, n, 'IN-2026-' || lpad(n::text, 6, '0'), {at}, {at}, 'x',
    'surveillance', (ARRAY['other', 'late-bet', 'die-not-flat', 'player-left', 'chips-moved'])[n % 5 + 1], '{{}}',
    {text}, '', CASE WHEN {count} - n > 200 THEN 'closed'
         ELSE (ARRAY['open', 'under-investigation', 'awaiting-ruling', 'closed'])[n % 4 + 1] END, {at}
FROM generate_series(1, {count}) AS n JOIN places ON places.number = n * 7 % (SELECT count(*) FROM places)
ORDER BY n
"""
ENTRIES = """
INSERT INTO audits_logentry (id, casino_id, pit_id, table_id, at, gaming_day, shift, location, camera, time_code,
    recording, was_monitored, summary, is_confidential, author_id, department, who, recorded_at)
SELECT n, places.casino_id, places.pit_id, places.table_id, {at}, ({at})::date, 'Day', '', 'C-' || n % 40, '', '',
    false, {text}, n % 10 = 3, people.id, 'surveillance', 'x', {at}
FROM generate_series(1, {count}) AS n JOIN places ON places.number = n * 7 % (SELECT count(*) FROM places)
CROSS JOIN people
ORDER BY n
"""
NOTES = """
INSERT INTO audits_incidentnote (id, incident_id, text, is_confidential, at, by_id, who)
SELECT n, file.id, {text}, n % 10 = 3, {at}, people.id, 'x'
FROM generate_series(1, {count}) AS n JOIN audits_incident file ON file.serial = n CROSS JOIN people
ORDER BY n
"""
PLACES = b"""
CREATE TEMP TABLE places AS
SELECT row_number() OVER (ORDER BY id) - 1 AS number, casino_id, table_id, pit_id FROM games_tableassignment
WHERE upper(during) IS NULL
"""
PEOPLE = b"CREATE TEMP TABLE people AS SELECT id FROM games_staff WHERE department = 'surveillance' ORDER BY id LIMIT 1"


def run(home: Home) -> list[Row]:
    statements = {
        count: [PLACES, PEOPLE, *(written(statement, count) for statement in (FILES, ENTRIES, NOTES))]
        for count in (FEW, MANY)
    }
    return GROWTH.run(home, statements)


def written(statement: str, count: int) -> bytes:
    steps = zip(WORDS.items(), (1, 3, 7, 11, 13), strict=True)
    choices = {
        key: f"(string_to_array('{words}', ','))[(n / {step} + n * {step}) % {words.count(',') + 1} + 1]"
        for (key, words), step in steps
    }
    text = TEXT.format(count=count, **choices)
    return statement.format(text=text, at=AT.format(count=count), count=count).encode()
