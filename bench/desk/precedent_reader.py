"""What looking up precedents and the register take in one database: prints seconds as JSON.

`python -m bench.desk.precedent_reader`, with the database in the environment.
"""

from typing import Any

import django

from bench.desk.incident_reader import Works, measure

#: Readers: one rules in the whole casino; one reads in one pit.
READERS = ("shift-manager", "pit-supervisor")
#: The beginning of a draft as a person would write it.
QUESTION = (
    "What is owed where the patron moved the chips near the double late, and the dealer paid the stake twice before "
    "the supervisor saw it?"
)


def main() -> None:
    django.setup()
    measure(READERS, candidates)


def candidates(reader: Any) -> Works:
    from audits.models import Incident
    from audits.rulings.precedents import PrecedentQuery, binding, precedents
    from audits.rulings.selectors import RulingFilter, rulings_found
    from audits.rulings.serializers import precedent_document, ruling_line
    from bench.desk.incidents import COMMON, RARE
    from bench.desk.precedents import BOOK
    from games.access.gate import visible
    from games.api.views import Pages

    rules = [f"{BOOK}#5.1.2", f"{BOOK}#5.7"]
    known = visible(reader, Incident.objects.filter(situation="late-bet")).select_related("casino")
    incident = known.order_by("pk")[0]

    def similar(words: str, *cited: str) -> list[Any]:
        asked = PrecedentQuery(BOOK, incident.situation, cited, words)
        return [precedent_document(precedent) for precedent in precedents(reader, incident, asked)]

    def register(**wanted: str) -> list[Any]:
        rulings = rulings_found(reader, RulingFilter(**wanted))
        return [ruling_line(ruling) for ruling in rulings[: Pages.page_size + 1]]

    incident.rulebook = BOOK
    return {
        "precedents of a draft": lambda: similar(QUESTION, *rules),
        "precedents by situation": lambda: similar(""),
        "precedents by a rare word": lambda: similar(RARE),
        "precedents by a common word": lambda: similar(COMMON, *rules),
        "what binds": lambda: [binding(incident, rules)],
        "register, first page": register,
        "register, in force": lambda: register(state="in-force"),
        "register, a word": lambda: register(text=RARE),
    }


if __name__ == "__main__":
    main()
