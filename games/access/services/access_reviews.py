"""The quarterly access review: opened by a task, marked account by account, signed once complete."""

import datetime as dt
from collections.abc import Iterator
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from games.access.gate import actor_name, authorize, visible, within_reach
from games.access.roles import role_of
from games.accounts.services.account_proposals import is_privileged
from games.history.audited_save import OvertakenError, verify_text
from games.models import (
    AccessReview,
    AccessReviewLine,
    AccessReviewMark,
    AccessReviewSignature,
    Casino,
    Duty,
    Staff,
)

Flag = AccessReviewLine.Flag
REVIEW_DAYS = 30
UNUSED_AFTER = dt.timedelta(days=90)


# --- Opening: by a scheduled task, no person acts - -----------------------------------------------


def reviews_open(*, now: dt.datetime | None = None) -> list[AccessReview]:
    """Open this quarter's review for every casino that has none. A late run opens it too."""
    moment = now or timezone.now()
    opened = []
    for casino in Casino.objects.all():
        quarter = quarter_of(local_day(casino, moment))
        if AccessReview.objects.filter(casino=casino, quarter=quarter).exists():
            continue
        try:
            opened.append(_open(casino, quarter, moment))
        except IntegrityError:  # another worker opened it first
            continue
    return opened


@transaction.atomic
def _open(casino: Casino, quarter: dt.date, now: dt.datetime) -> AccessReview:
    due_on = local_day(casino, now) + dt.timedelta(days=REVIEW_DAYS)
    review = AccessReview.objects.create(casino=casino, quarter=quarter, opened_at=now, due_on=due_on)
    AccessReviewLine.objects.bulk_create(lines_of(review, now))
    return review


def lines_of(review: AccessReview, now: dt.datetime) -> Iterator[AccessReviewLine]:
    """List every active account that reaches the casino.

    People with no rights, no password and no acting appointment have no account to review.
    """
    here = Q(casino=review.casino) | Q(casino=None)
    for staff in Staff.objects.filter(here, is_active=True).select_related("casino", "pit"):
        duties = list(staff.duties.filter(ends_at__gt=now).select_related("casino", "pit"))
        role = role_of(staff.department, staff.post)
        if role.may or duties or staff.has_usable_password():
            yield AccessReviewLine(
                review=review, staff=staff, name=str(staff), role=role.name,
                reach=str(staff.pit or (staff.casino.code if staff.casino else "Every casino")),
                acting="; ".join(map(duty_words, duties)), last_login=staff.last_login,
                flags=list(flags_of(staff, review.casino, now)),
            )  # fmt: skip


def duty_words(duty: Duty) -> str:
    return f"{duty.get_post_display()}, {duty.place}, until {duty.ends_at:%Y-%m-%d}"


def flags_of(staff: Staff, casino: Casino, now: dt.datetime) -> Iterator[str]:
    if staff.leaves_on is not None and staff.leaves_on < local_day(casino, now):
        yield Flag.LEFT
    if staff.last_login is None or staff.last_login < now - UNUSED_AFTER:
        yield Flag.UNUSED
    if is_privileged(staff):
        yield Flag.PRIVILEGED


def quarter_of(day: dt.date) -> dt.date:
    """Return the first day of the quarter.

    >>> quarter_of(dt.date(2026, 11, 15)).isoformat()
    '2026-10-01'
    """
    return dt.date(day.year, (day.month - 1) // 3 * 3 + 1, 1)


def local_day(casino: Casino, now: dt.datetime) -> dt.date:
    return now.astimezone(ZoneInfo(casino.timezone)).date()


# --- Marking and signing ---------------------------------------------------------------------------


@transaction.atomic
def account_mark(*, actor: Staff, line: AccessReviewLine, outcome: str, note: str) -> AccessReviewMark:
    """Decide whether an account stays. An account with a flag, and your own, need a note."""
    authorize(actor, "accessreview.mark", line.review)
    note = note.strip()
    verify_text("note", note)
    if outcome not in AccessReviewMark.Outcome.values:
        raise ValidationError({"outcome": "Choose keep or remove."})
    if AccessReviewSignature.objects.filter(review=line.review_id).exists():
        raise OvertakenError("This review is signed and cannot be changed.")
    if not note and (outcome == AccessReviewMark.Outcome.REMOVE or line.staff_id == actor.pk or line.flags):
        raise ValidationError({"note": f"{line.name}: enter a note. It is required to remove an account, to keep one "
                                       "with a flag, and for your own."})  # fmt: skip
    return AccessReviewMark.objects.create(line=line, outcome=outcome, note=note, by=actor, who=actor_name(actor))


@transaction.atomic
def review_sign(*, actor: Staff, review: AccessReview, note: str) -> AccessReviewSignature:
    """Sign a review in which every account is marked. It cannot be changed afterwards."""
    authorize(actor, "accessreview.sign", review)
    note = note.strip()
    verify_text("note", note)
    if not note:
        raise ValidationError({"note": "Enter the findings. They are recorded with the signature."})
    if signed := AccessReviewSignature.objects.filter(review=review).first():
        raise OvertakenError(f"Already signed by {signed.who}. Nothing was changed.")
    if missing := unmarked(review).count():
        raise ValidationError(f"{missing} accounts are not marked yet. Mark each as keep or remove first.")
    try:
        with transaction.atomic():
            return AccessReviewSignature.objects.create(review=review, by=actor, who=actor_name(actor), note=note)
    except IntegrityError:
        raise OvertakenError("Another person signed this review first. Reload the page.") from None


# --- Reading ---------------------------------------------------------------------------------------


def unmarked(review: AccessReview) -> QuerySet[AccessReviewLine]:
    return review.lines.exclude(Exists(AccessReviewMark.objects.filter(line=OuterRef("pk"))))


def lines_with_marks(review: AccessReview) -> list[tuple[AccessReviewLine, AccessReviewMark | None]]:
    """List the accounts of a review with their latest mark, unmarked accounts first."""
    marks = {mark.line_id: mark for mark in AccessReviewMark.objects.filter(line__review=review).order_by("pk")}
    lines = [(line, marks.get(line.pk)) for line in review.lines.select_related("staff")]
    return sorted(lines, key=lambda pair: (pair[1] is not None, pair[0].name))


def reviews_to_sign(actor: Staff) -> list[AccessReview]:
    """Select the open reviews that this person may sign, the oldest first."""
    waiting = AccessReview.objects.filter(signature=None).select_related("casino").order_by("quarter")
    return list(within_reach(actor, "accessreview.sign", waiting))


def accounts_to_remove(actor: Staff) -> QuerySet[AccessReviewLine]:
    """Select the active accounts that a signed review says to remove."""
    latest = AccessReviewMark.objects.filter(line=OuterRef("pk")).order_by("-pk")
    signed = AccessReviewLine.objects.filter(review__signature__isnull=False, staff__is_active=True)
    removed = signed.alias(outcome=latest.values("outcome")[:1]).filter(outcome=AccessReviewMark.Outcome.REMOVE)
    reviews = visible(actor, AccessReview.objects.all())
    return removed.filter(review__in=reviews).select_related("staff", "review__casino").order_by("name", "-review")
