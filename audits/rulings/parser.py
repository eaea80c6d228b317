"""Parse rulings and corrective actions sent by other programs; all faults are reported at once, with their fields."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from audits.incidents.parser import BodyReader
from audits.incidents.search import incidents_numbered
from audits.models import Consequence, Incident, RepaymentMark, Ruling, RulingKind, Scope
from audits.rulings.corrections.damage import NOT_NARROWED, Narrowing
from audits.rulings.numbers import rulings_numbered
from audits.rulings.services.corrective_actions import Basis
from audits.rulings.services.rulings import RulingDraft, is_rule
from games.access.gate import Actor, can, visible
from games.engine.dice import parse_dice
from games.engine.money import parse_net, parse_positive_money
from games.models import Casino, LiveRound, Round
from games.rounds.prepared import MOST_BETS
from games.settlement_policies.models import EXCESS
from games.settlement_policies.services import Setting

MOST_RULES = 50
MOST_READINGS = 10
LONGEST_RULE = 40

RULING_FIELDS = (
    "incident", "kind", "question", "facts", "decision", "reasoning", "rules", "scope", "effective_from", "excess",
    "rounding", "readings", "follows", "departs_from", "departure", "override", "supersedes", "withdraws",
)  # fmt: skip
#: The fields of a ruling that only withdraws another one.
WITHDRAWAL_FIELDS = ("withdraws", "reasoning", "effective_from", "override")
ORDER_FIELDS = (
    "kind", "rule", "ruling", "discretion", "rounds", "live_round", "dice", "nets", "from", "to", "narrowing", "reason",
)  # fmt: skip
Kind = Consequence.Kind
#: The fields of each kind of corrective action, apart from kind and reason.
TAKEN: dict[str, tuple[str, ...]] = {
    Kind.VOID: ("rule", "ruling", "rounds"),
    Kind.VOID_AFFECTED: ("rule", "ruling", "from", "to", "narrowing"),
    Kind.SETTLEMENT: ("ruling", "rounds", "dice", "nets"),
    Kind.DISCRETION: ("discretion", "rounds", "nets"),
    Kind.RESULT: ("ruling", "rounds", "live_round", "dice"),
    Kind.SUSPENSION: ("ruling",),
}
NEEDED: dict[str, tuple[str, ...]] = {
    Kind.VOID: ("rounds",), Kind.SETTLEMENT: ("ruling", "rounds"), Kind.RESULT: ("dice",),
    Kind.DISCRETION: ("discretion", "nets"),
}  # fmt: skip


class RulingReader(BodyReader):
    """Read one document with rulings by number, rules, dice and amounts."""

    def ruling(self, name: str, casino: Casino | None, *, seen: bool = True) -> Ruling | None:
        """Find a ruling by its number; None where none is named. With `seen`, only one that the sender may see."""
        if name not in self.data or not self.verify_line(number := self.data[name], name):
            return None
        match rulings_numbered(self.actor, number, casino.code if casino else None):
            case [ruling] if not seen or can(self.actor, "ruling.view", ruling):
                return ruling
            case [_, _, *_]:
                self.add(name, f"several casinos have a ruling {number!r:.40}; choose with ?casino=CODE.")
            case _:
                self.add(name, f"there is no ruling {number!r:.40}; check the number.")
        return None

    def incident(self, casino: Casino | None) -> Incident | None:
        if "incident" not in self.data or not self.verify_line(number := self.data["incident"], "incident"):
            return None
        match incidents_numbered(self.actor, number, casino.code if casino else None):
            case [incident]:
                return incident
            case []:
                self.add("incident", f"there is no incident {number!r:.40}; check the number.")
            case _:
                self.add("incident", f"several casinos have an incident {number}; choose with ?casino=CODE.")
        return None

    def rules(self) -> list[str]:
        """Read the rules, as citations."""
        rules = self.texts("rules", MOST_RULES)
        for index, rule in enumerate(rules):
            if not is_rule(rule):
                self.add(f"rules[{index}]", f"{rule!r:.60} is not a known rule; write it as rws-tai-sai-v6#5.1.2.")
        return rules

    def chosen(self, name: str, choices: Sequence[str], default: str) -> str:
        return self.choice(name, choices) if name in self.data else default

    def rounding(self) -> int | None:
        if "rounding" not in self.data:
            return None
        return self.money(parse_positive_money, self.data["rounding"], "rounding")

    def dice(self) -> list[int] | None:
        throw = self.trying(parse_dice, self.data["dice"]) if "dice" in self.data else None
        return list(throw.faces) if throw else None

    def nets(self) -> dict[int, int]:
        """Read the nets of single bets by their places, from 0; the sender counts from 1."""
        given = self.data.get("nets", [])
        if not isinstance(given, list) or len(given) > MOST_BETS:
            self.add("nets", f"is not a list of at most {MOST_BETS}; write it as […].")
            return {}
        decided: dict[int, int] = {}
        for index, value in enumerate(given):
            self._net(f"nets[{index}]", value, decided)
        return decided

    def _net(self, where: str, value: object, decided: dict[int, int]) -> None:
        entry = self.table(value, where, ("bet", "net"))
        if isinstance(value, dict):
            self.required(entry, where, "bet", "net")
        bet = entry.get("bet")
        net = self.money(parse_net, entry["net"], f"{where}.net") if "net" in entry else None
        if bet is None:
            return
        if type(bet) is not int or not 0 < bet <= MOST_BETS:
            self.add(f"{where}.bet", f"{bet!r:.40} is not a bet of a round; write its number, from 1.")
        elif bet - 1 in decided:
            self.add(f"{where}.bet", f"bet {bet} is given twice; keep one of them.")
        else:
            decided[bet - 1] = net or 0

    def only(self, known: Sequence[str], allowed: Sequence[str], fault: str) -> None:
        """Report known fields that do not belong here."""
        for name in known:
            if name in self.data and name not in allowed:
                self.add(name, f"{fault}; leave it out.")


# --- A ruling --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RulingRequest:
    """A ruling to be made: on an incident, or in place of another ruling."""

    draft: RulingDraft
    incident: Incident | None = None
    replaces: Ruling | None = None


def read_ruling(actor: Actor, document: object, casino: Casino | None = None) -> RulingRequest:
    """Parse a ruling. `casino` is the casino of the numbers, for group staff."""
    reader = RulingReader(actor, document, RULING_FIELDS)
    if "withdraws" in reader.data:
        return _withdrawal(reader, casino)
    reader.required(reader.data, "", "kind", "question", "decision", "reasoning")
    if "supersedes" not in reader.data:
        reader.required(reader.data, "", "incident")
    replaces = reader.ruling("supersedes", casino, seen=False)
    incident = reader.incident(casino)
    if replaces and incident and replaces.incident_id != incident.pk:
        reader.add("incident", f"{replaces} is about {replaces.incident}; leave the incident out.")
    about = replaces or incident
    place = about.casino if about else casino
    draft = RulingDraft(
        kind=reader.choice("kind", RulingKind.values),
        question=reader.words("question"),
        facts=reader.words("facts"),
        decision=reader.words("decision"),
        reasoning=reader.words("reasoning"),
        rules=reader.rules(),
        scope=reader.chosen("scope", Scope.values, Scope.ROUND),
        effective_from=reader.moment("effective_from"),
        setting=Setting(reader.chosen("excess", EXCESS, ""), reader.rounding()),
        readings=reader.texts("readings", MOST_READINGS),
        follows=reader.ruling("follows", place),
        departs_from=reader.ruling("departs_from", place),
        departure=reader.words("departure"),
        override=reader.words("override"),
    )
    if "departure" in reader.data and "departs_from" not in reader.data:
        reader.add("departure", "is a reason without a ruling; name the ruling in departs_from.")
    reader.done()
    return RulingRequest(draft, incident, replaces)


def _withdrawal(reader: RulingReader, casino: Casino | None) -> RulingRequest:
    reader.only(RULING_FIELDS, WITHDRAWAL_FIELDS, "does not belong to a withdrawal")
    reader.required(reader.data, "", "reasoning")
    replaces = reader.ruling("withdraws", casino, seen=False)
    draft = RulingDraft(
        kind="", question="", decision="", reasoning=reader.words("reasoning"),
        effective_from=reader.moment("effective_from"), override=reader.words("override"), is_withdrawal=True,
    )  # fmt: skip
    reader.done()
    return RulingRequest(draft, replaces=replaces)


# --- Corrective actions ----------------------------------------------------------------------------


@dataclass(frozen=True)
class OrderRequest:
    """A corrective action to be ordered."""

    kind: str
    basis: Basis
    reason: str
    rounds: list[Round] = field(default_factory=list)
    live: LiveRound | None = None
    dice: list[int] | None = None
    nets: dict[int, int] = field(default_factory=dict)
    narrowed: Narrowing = NOT_NARROWED


def read_order(actor: Actor, incident: Incident, document: object) -> OrderRequest:
    """Parse the order of a corrective action."""
    reader = RulingReader(actor, document, ORDER_FIELDS, "kind", "reason")
    kind = reader.choice("kind", Kind.values)
    if kind in TAKEN:
        reader.only(ORDER_FIELDS, ("kind", "reason", *TAKEN[kind]), f"does not belong to a {kind}")
        reader.required(reader.data, "", *NEEDED.get(kind, ()))
        _verify_basis(reader, kind)
    rounds = reader.rounds(incident.casino)
    if kind in (Kind.SETTLEMENT, Kind.DISCRETION, Kind.RESULT) and len(rounds) > 1:
        reader.add("rounds", "are several; name one round at a time.")
    order = OrderRequest(
        kind=kind,
        basis=Basis(
            incident, _ruling_on(reader, incident), reader.line("rule", LONGEST_RULE),
            reader.keyed("discretion", visible(actor, incident.discretions.select_related("incident", "round__table"))),
        ),
        reason=reader.words("reason"),
        rounds=rounds,
        live=reader.keyed("live_round", visible(actor, LiveRound.objects.filter(table=incident.table_id))),
        dice=reader.dice(),
        nets=reader.nets(),
        narrowed=Narrowing(reader.moment("from"), reader.moment("to"), reader.words("narrowing")),
    )  # fmt: skip
    reader.done()
    return order


def _verify_basis(reader: RulingReader, kind: str) -> None:
    if kind in (Kind.VOID, Kind.VOID_AFFECTED) and ("rule" in reader.data) == ("ruling" in reader.data):
        reader.add("rule", "a void needs a rule or a ruling; name one of the two.")
    if kind == Kind.RESULT and ("rounds" in reader.data) == ("live_round" in reader.data):
        reader.add("rounds", "an amended result needs a round on record or a live_round; name one of the two.")


def _ruling_on(reader: RulingReader, incident: Incident) -> Ruling | None:
    ruling = reader.ruling("ruling", incident.casino)
    if ruling is not None and ruling.incident_id != incident.pk:
        reader.add("ruling", f"{ruling} is about another incident, {ruling.incident}; choose a ruling on {incident}.")
    return ruling


def read_reason(actor: Actor, document: object) -> str:
    """Parse a reason."""
    reader = BodyReader(actor, document, ("reason",), "reason")
    reason = reader.words("reason")
    reader.done()
    return reason


def read_mark(actor: Actor, document: object) -> tuple[str, str]:
    """Parse a mark on a refund or recovery, and its note."""
    reader = BodyReader(actor, document, ("what", "note"), "what")
    what, note = reader.choice("what", RepaymentMark.What.values), reader.words("note")
    reader.done()
    return what, note


def read_discretion(actor: Actor, incident: Incident, document: object) -> dict[str, Any]:
    """Parse the arguments of `discretion_record` other than the incident."""
    reader = BodyReader(actor, document, ("decision", "reason", "round", "bet"), "decision", "reason")
    values: dict[str, Any] = {
        "decision": reader.words("decision"), "reason": reader.words("reason"), "round": reader.round(incident.casino),
        "bet": reader.data.get("bet"),
    }  # fmt: skip
    bet = values["bet"]
    if bet is not None and (type(bet) is not int or not 0 < bet <= MOST_BETS):
        reader.add("bet", f"{bet!r:.40} is not a bet of a round; write its number, from 1.")
    played = values["round"]
    if isinstance(played, Round) and played.table_id != incident.table_id:
        reader.add("round", f"{played} was not played at the table of {incident}; check its ref.")
    reader.done()
    return values
