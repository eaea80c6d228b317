"""The quarterly access review: it opens by itself, names what is odd, and is signed once, when it is complete."""

import datetime as dt

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from games.access.services.access_reviews import account_mark, lines_with_marks, quarter_of, review_sign, reviews_open
from games.access.services.people import staff_update
from games.models import AccessReview, AccessReviewMark, AccessReviewSignature, Staff
from games.tasks import open_access_reviews
from tests.conftest import OPERATOR, House


def opened(house: House, now: dt.datetime | None = None) -> AccessReview:
    reviews_open(now=now)
    return AccessReview.objects.filter(casino=house.casino).latest("quarter")


def mark_all(house: House, review: AccessReview, outcome: str = "keep") -> None:
    for line, _ in lines_with_marks(review):
        account_mark(actor=house["compliance"], line=line, outcome=outcome, note="Looked at")


@pytest.mark.parametrize(("day", "first"), [("2026-01-01", "2026-01-01"), ("2026-03-31", "2026-01-01"),
                                            ("2026-11-15", "2026-10-01"), ("2026-12-31", "2026-10-01")])  # fmt: skip
def test_a_quarter_begins_on_its_first_day(day: str, first: str) -> None:
    assert quarter_of(dt.date.fromisoformat(day)).isoformat() == first


def test_a_review_opens_once_a_quarter_and_casino_also_late_and_by_its_task(house: House) -> None:
    open_access_reviews()
    assert reviews_open() == []
    assert AccessReview.objects.count() == 2
    late = timezone.now() + dt.timedelta(days=150)  # the scheduler was down over the turn of the quarter
    assert {review.casino for review in reviews_open(now=late)} == {house.casino, house.other}


def test_the_quarter_is_that_of_the_casinos_own_clock(house: House) -> None:
    turn = dt.datetime(2026, 12, 31, 17, tzinfo=dt.UTC)  # one in the morning of 1 January in Singapore
    assert {str(review) for review in reviews_open(now=turn)} == {"RWS 2027 Q1", "ELSE 2026 Q4"}


def test_it_lists_every_account_with_its_flags(house: House) -> None:
    now = timezone.now()
    left = now.date() - dt.timedelta(days=3)
    staff_update(actor=OPERATOR, staff=house["pit-manager"], changes={"leaves_on": left}, reason="Leaves")
    staff_update(actor=OPERATOR, staff=house["pit-supervisor"], changes={"is_active": False}, reason="Left")
    Staff.objects.filter(pk=house["auditor"].pk).update(last_login=now - dt.timedelta(days=91))
    Staff.objects.filter(pk=house["surveillance"].pk).update(last_login=now)
    house.hire("GROUP", "compliance")
    staff_update(actor=OPERATOR, staff=Staff.objects.get(number="GROUP"), changes={"casino": None}, reason="Group")
    flags = {line.staff.number: line.flags for line in opened(house).lines.all()}
    assert flags["PIT-MANAGER"] == ["left", "unused"]
    assert flags["AUDITOR"] == ["unused", "privileged"]
    assert flags["SURVEILLANCE"] == ["privileged"]
    assert "GROUP" in flags
    assert not {"DEALER", "PIT-SUPERVISOR"} & flags.keys()  # without an account, and left


def test_only_compliance_marks_and_signs(house: House) -> None:
    review = opened(house)
    line = review.lines.first()
    assert line is not None
    for role in ("casino-manager", "surveillance", "auditor", "administrator"):
        with pytest.raises(PermissionDenied):
            account_mark(actor=house[role], line=line, outcome="keep", note="x")
        with pytest.raises(PermissionDenied):
            review_sign(actor=house[role], review=review, note="x")
    foreign = AccessReview.objects.get(casino=house.other)
    with pytest.raises(PermissionDenied):
        review_sign(actor=house["compliance"], review=foreign, note="x")


def test_it_is_signed_when_complete_and_then_never_changes(house: House) -> None:
    review = opened(house)
    with pytest.raises(ValidationError, match="not marked yet"):
        review_sign(actor=house["compliance"], review=review, note="Done")
    row = {"review": review, "by": house["compliance"], "who": "x", "note": "x"}
    with pytest.raises(IntegrityError, match="access_review_complete"), transaction.atomic():
        AccessReviewSignature.objects.create(**row)
    mark_all(house, review)
    review_sign(actor=house["compliance"], review=review, note="Done")
    line = review.lines.first()
    assert line is not None
    with pytest.raises(ValidationError, match="is signed"):
        account_mark(actor=house["compliance"], line=line, outcome="remove", note="Late")
    with pytest.raises(ValidationError, match="Already signed"):
        review_sign(actor=house["compliance"], review=review, note="Again")
    with pytest.raises(IntegrityError, match="access_review_still_open"), transaction.atomic():
        AccessReviewMark.objects.create(line=line, outcome="keep", by=house["compliance"], who="x")
    for table in ("accessreview", "accessreviewline", "accessreviewmark", "accessreviewsignature"):
        for statement in (f"DELETE FROM games_{table}", f"UPDATE games_{table} SET id = id"):
            with (
                pytest.raises(Exception, match="permission denied"),
                transaction.atomic(),
                connection.cursor() as cursor,
            ):
                cursor.execute(statement)


def test_a_flag_a_removal_and_ones_own_account_need_a_note(house: House) -> None:
    review = opened(house)
    line = review.lines.get(staff=house["auditor"])
    with pytest.raises(ValidationError, match="enter a note"):
        account_mark(actor=house["compliance"], line=line, outcome="keep", note=" ")
    with pytest.raises(ValidationError, match="keep or remove"):
        account_mark(actor=house["compliance"], line=line, outcome="perhaps", note="x")


def test_compliance_sees_an_overdue_review_and_an_administrator_what_to_remove(house: House) -> None:
    review = opened(house, now=timezone.now() - dt.timedelta(days=31))
    compliance, administrator = Client(), Client()
    compliance.force_login(house["compliance"])
    administrator.force_login(house["administrator"])
    page = compliance.get("/admin/").content.decode()
    assert str(review) in page
    assert "overdue" in page
    line = review.lines.get(staff=house["pit-manager"])
    mark_all(house, review)
    sent = {f"outcome-{line.pk}": "remove", f"note-{line.pk}": "Has left"}
    assert compliance.post(f"/admin/games/accessreview/{review.pk}/mark/", sent).status_code == 302
    assert b"Accounts to remove" not in administrator.get("/admin/").content
    assert compliance.post(f"/admin/games/accessreview/{review.pk}/sign/", {"note": "One leaver"}).status_code == 302
    assert b'id="reviews"' not in compliance.get("/admin/").content
    assert b"Accounts to remove" in administrator.get("/admin/").content
    staff_update(actor=house["administrator"], staff=house["pit-manager"], changes={"is_active": False}, reason="Left")
    assert b"Accounts to remove" not in administrator.get("/admin/").content
