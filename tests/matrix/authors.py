"""Who wrote something, and who decides on it: one's own and a colleague's, by tests/routes.toml."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice

from audits.incidents.services.incidents import IncidentReport, incident_open
from audits.incidents.services.log import handover_sign, log_write
from audits.rulings.services.corrective_actions import Basis, consequence_execute, round_settle
from audits.rulings.services.rulings import RulingDraft, ruling_make
from games.access.services.people import account_reset
from games.accounts.services.second_factors import factor_reset_propose
from games.engine.signs.edits import Edits
from games.limits.services.proposals import limits_edit
from games.models import LoginSession, Staff
from games.thresholds.services import threshold_propose
from tests.conftest import House
from tests.matrix.expected import DATA
from tests.matrix.places import Samples
from tests.matrix.walk import PATHS, Caller, filled

AUTHORS: list[dict[str, Any]] = DATA["author"]
SITE = "http://localhost"


def acted(house: House, samples: Samples, caller: Caller, case: dict[str, Any], whose: str) -> int:
    """The answer to a role that sends a sound form about something of its own, or of a colleague in the same role."""
    caller.cookies_of(case["role"])  # a login that stays, before what is taken back
    with transaction.atomic():
        person = house[case["role"]]
        pit = house.pits["P1"] if person.pit_id else None
        author = person if whose == "own" else house.hire("COLLEAGUE", case["role"], pit=pit)
        model, thing = MAKERS[case["made"]](house, samples, author)
        address = filled(PATHS[case["route"]], samples | {model: thing})
        body = {
            name: value.format(incident=getattr(thing, "number", "")) if isinstance(value, str) else value
            for name, value in case["sends"].items()
        }
        answer = caller.ask(case["role"], "POST", address, body)
        transaction.set_rollback(True)
    return answer


def proposal(house: House, samples: Samples, author: Staff) -> tuple[str, Any]:
    lower = Edits({("big-small", "min"): 400})
    return "limitproposal", limits_edit(actor=author, edits={samples["table"]: lower}, reason="Sample")


def threshold(house: House, samples: Samples, author: Staff) -> tuple[str, Any]:
    values = {"second_person_from": 100}
    return "thresholdchange", threshold_propose(
        actor=author, casino=house.casino, kind="rulings", values=values, reason="Sample"
    )


def account(house: House, samples: Samples, author: Staff) -> tuple[str, Any]:
    """On an account that nothing is proposed for yet."""
    return "accountproposal", account_reset(actor=author, staff=house["compliance"], site=SITE, reason="Sample")


def own_account(house: House, samples: Samples, author: Staff) -> tuple[str, Any]:
    return "staff", author


def factor(house: House, samples: Samples, author: Staff) -> tuple[str, Any]:
    TOTPDevice.objects.create(user=house["compliance"], name="x", confirmed=True)
    return "factorreset", factor_reset_propose(actor=author, staff=house["compliance"], reason="Sample")


def entry(house: House, samples: Samples, author: Staff) -> tuple[str, Any]:
    return "logentry", log_write(actor=author, casino=house.casino, at=timezone.now(), summary="x", pit=author.pit)


def handover(house: House, samples: Samples, author: Staff) -> tuple[str, Any]:
    return "handover", handover_sign(actor=author, casino=house.casino, watch="Sample")


def incident(house: House, samples: Samples, author: Staff) -> tuple[str, Any]:
    report = IncidentReport(house.casino, timezone.now(), "other", "Sample", table=samples["table"])
    return "incident", incident_open(actor=author, report=report)


def order(house: House, samples: Samples, author: Staff) -> tuple[str, Any]:
    """Ordered by the author on a ruling of somebody else, and waiting for a second person."""
    _, about = incident(house, samples, house["surveillance"])
    draft = RulingDraft(kind="not-covered", question="Who won?", decision="The house.", reasoning="The recording")
    ruling = ruling_make(actor=house["casino-manager"], incident=about, draft=draft)
    made = round_settle(
        actor=author, basis=Basis(about, ruling), round=samples["round"], reason="As ruled", dice=[1, 2, 2]
    )
    return "consequence", made


def refund(house: House, samples: Samples, author: Staff) -> tuple[str, Any]:
    """Ordered by the author and executed by the casino manager; what a player gets or gives back."""
    third = house.hire("THIRD", "casino-manager")
    made = consequence_execute(actor=third, consequence=order(house, samples, author)[1], reason="Agreed")
    return "repayment", made.repayments.get()


def session(house: House, samples: Samples, author: Staff) -> tuple[str, Any]:
    now = timezone.now()
    return "loginsession", LoginSession.objects.create(staff=author, started_at=now, seen_at=now)


MAKERS: dict[str, Callable[[House, Samples, Staff], tuple[str, Any]]] = {
    "limitproposal": proposal, "thresholdchange": threshold, "accountproposal": account, "account": own_account,
    "factorreset": factor, "logentry": entry, "handover": handover, "incident": incident, "consequence": order,
    "repayment": refund, "loginsession": session,
}  # fmt: skip
