"""Moments and gaming days: hours that occur twice or never, and which day's books a moment belongs to."""

import datetime as dt
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.floor.moments import MomentError, as_text, day_bounds, day_starts, gaming_day, parse_local, parse_moment
from games.models import Casino
from tests.games.floors import EXAMPLE, LIMITS, edited, load, sign

SINGAPORE, LONDON, LORD_HOWE = "Asia/Singapore", "Europe/London", "Australia/Lord_Howe"
INSTANT = dt.timedelta(microseconds=1)
DAY = dt.timedelta(days=1)


def house(zone: str, starts: str = "06:00") -> Casino:
    return Casino(code="X", timezone=zone, gaming_day_starts=dt.time.fromisoformat(starts))


def at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


# --- Reading ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-15T21:07:00+08:00",
        "2026-11-15T13:07:00Z",
        "2026-11-15 21:07:00+08:00",
        "2026-11-15T21:07+08:00",
        "2026-11-15T21:07:00+0800",
        "2026-11-15T21:07:00.000000+08:00",
        "2026-11-15T08:07:00-05:00",
        "2026-11-15T18:52:00+05:45",
    ],
)
def test_the_same_moment_in_many_spellings(text: str) -> None:
    assert parse_moment(text) == dt.datetime(2026, 11, 15, 13, 7, tzinfo=dt.UTC)


def test_a_moment_keeps_its_microseconds() -> None:
    assert parse_moment("2026-11-15T21:07:00.123456+08:00").microsecond == 123456
    assert parse_moment("2026-11-15T21:07:00.5+08:00").microsecond == 500_000


@pytest.mark.parametrize("value", ["2026-11-15T21:07:00.1234567Z", "2026-11-15t21:07:00.123457z"])
def test_a_time_is_read_to_the_microsecond_and_in_small_letters_too(value: str) -> None:
    assert parse_moment(value) == dt.datetime(2026, 11, 15, 21, 7, 0, 123457, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "value",
    [
        "", " ", "now", "21:07", "2026-11-15", "2026-11-15T21", "2026-11-15T21:07:00+08", "2026-11-15T21:07:00+08:0",
        "2026-11-15T21:07:00,5+08:00", "2026-11-15T21:07:00.Z", "2026-11-15x21:07:00Z",
        "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-15T24:00:00Z", "2026-11-15T23:59:60Z",
        "2026-11-15T21:07:00+24:00", "2026-11-15T21:07:00Z\n", " 2026-11-15T21:07:00Z", "20261115T210700Z",
        "2026-W46-7T21:07:00Z", "２０２６-11-15T21:07:00Z", "+2026-11-15T21:07:00Z", "two\nlines", "x" * 10_000,
        None, 5, 1.5, True, b"2026-11-15T21:07:00Z", dt.date(2026, 11, 15), dt.time(21, 7), ["2026-11-15T21:07:00Z"],
    ],
)  # fmt: skip
def test_what_is_not_a_moment_is_told_on_one_line(value: object) -> None:
    with pytest.raises(MomentError) as refusal:
        parse_moment(value)
    told = str(refusal.value)
    assert told.endswith(" is not a time; write it as 2026-11-15T21:07:00+08:00")
    assert told.isprintable()
    assert len(told) < 150


@pytest.mark.parametrize("value", ["2026-11-15T21:07:00", "2026-11-15 21:07", at("2026-11-15T21:07:00")])
def test_a_moment_without_its_offset_is_none(value: object) -> None:
    with pytest.raises(MomentError, match="has no offset; write it as 2026-11-15T21:07:00"):
        parse_moment(value)


@pytest.mark.parametrize("text", ["1970-01-02T00:00:00Z", "2999-12-31T23:59:59.999999Z", "3000-01-01T07:59:59+08:00"])
def test_the_first_and_the_last_moment(text: str) -> None:
    assert parse_moment(text) == at(text)
    assert parse_local(text, ZoneInfo(LONDON)) == at(text)


@pytest.mark.parametrize(
    "text",
    [
        "0001-01-01T00:00:00+08:00", "0001-01-01T00:00:00-08:00", "1970-01-01T23:59:59.999999Z", "3000-01-01T00:00:00Z",
        "9999-12-31T23:59:59-08:00", "9999-12-31T23:59:59+08:00",
    ],
)  # fmt: skip
def test_moments_out_of_all_bounds(text: str) -> None:
    for read in (parse_moment, lambda text: parse_local(text, ZoneInfo(SINGAPORE))):
        with pytest.raises(MomentError, match="lies out of all bounds; check the year"):
            read(text)


@pytest.mark.parametrize("text", ["0001-01-01 00:00", "9999-12-31 23:59"])
def test_a_clock_out_of_all_bounds(text: str) -> None:
    for zone in (SINGAPORE, LONDON, "America/New_York"):
        with pytest.raises(MomentError, match="lies out of all bounds; check the year"):
            parse_local(text, ZoneInfo(zone))


# --- On a clock ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "text", "moment"),
    [
        (SINGAPORE, "2026-11-15 21:07", "2026-11-15T21:07:00+08:00"),
        (SINGAPORE, " 2026-11-15T21:07:30 ", "2026-11-15T21:07:30+08:00"),
        (SINGAPORE, "2026-11-15 21:07+01:00", "2026-11-15T21:07:00+01:00"),
        (LONDON, "2026-03-29 00:59:59", "2026-03-29T00:59:59+00:00"),
        (LONDON, "2026-03-29 02:00", "2026-03-29T02:00:00+01:00"),
        (LONDON, "2026-10-25 00:59:59", "2026-10-25T00:59:59+01:00"),
        (LONDON, "2026-10-25 02:00", "2026-10-25T02:00:00+00:00"),
        (LORD_HOWE, "2026-10-04 01:59:59", "2026-10-04T01:59:59+10:30"),
        (LORD_HOWE, "2026-10-04 02:30", "2026-10-04T02:30:00+11:00"),
        (LORD_HOWE, "2026-04-05 01:29:59", "2026-04-05T01:29:59+11:00"),
        (LORD_HOWE, "2026-04-05 02:00", "2026-04-05T02:00:00+10:30"),
    ],
)
def test_a_time_without_an_offset_is_the_casino_s_own(zone: str, text: str, moment: str) -> None:
    assert parse_local(text, ZoneInfo(zone)) == at(moment)


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        (LONDON, "2026-03-29 01:00"),
        (LONDON, "2026-03-29 01:30"),
        (LONDON, "2026-03-29 01:59:59"),
        (LORD_HOWE, "2026-10-04 02:00"),
        (LORD_HOWE, "2026-10-04 02:29:59"),
        ("Pacific/Apia", "2011-12-30 12:00"),
    ],
)
def test_an_hour_that_never_occurs_is_asked_back(zone: str, text: str) -> None:
    with pytest.raises(MomentError) as refusal:
        parse_local(text, ZoneInfo(zone))
    assert str(refusal.value) == (
        f"{text[:16]} does not occur in {zone}: the clocks go forward; choose a time before or after"
    )


@pytest.mark.parametrize(
    ("zone", "text", "first", "second"),
    [
        (LONDON, "2026-10-25 01:00", "2026-10-25 01:00+01:00", "2026-10-25 01:00+00:00"),
        (LONDON, "2026-10-25 01:30", "2026-10-25 01:30+01:00", "2026-10-25 01:30+00:00"),
        (LORD_HOWE, "2026-04-05 01:30", "2026-04-05 01:30+11:00", "2026-04-05 01:30+10:30"),
        (LORD_HOWE, "2026-04-05 01:59", "2026-04-05 01:59+11:00", "2026-04-05 01:59+10:30"),
    ],
)
def test_an_hour_that_occurs_twice_is_asked_back_with_both(zone: str, text: str, first: str, second: str) -> None:
    with pytest.raises(MomentError) as refusal:
        parse_local(text, ZoneInfo(zone))
    assert str(refusal.value) == (
        f"{text} occurs twice in {zone}: the clocks go back; write which one, as {first} or {second}"
    )
    earlier, later = parse_local(first, ZoneInfo(zone)), parse_local(second, ZoneInfo(zone))
    assert later.astimezone(dt.UTC) - earlier.astimezone(dt.UTC) in (dt.timedelta(hours=1), dt.timedelta(minutes=30))


@pytest.mark.parametrize("text", ["", "two\nlines", "21:07", "2026-11-15", "15/11/2026 21:07", "2026-02-30 10:00"])
def test_what_is_no_time_on_any_clock(text: str) -> None:
    with pytest.raises(MomentError, match="is not a time; write it as 2026-11-15 21:07, or with an offset") as refusal:
        parse_local(text, ZoneInfo(SINGAPORE))
    assert str(refusal.value).isprintable()


MOMENTS = st.datetimes(at("1975-01-01T00:00"), at("2199-12-30T00:00"), timezones=st.just(dt.UTC))
ZONES = st.sampled_from(sorted(available_timezones() - {"localtime", "Factory"}))


@given(MOMENTS, ZONES)
def test_what_is_written_is_read_back(moment: dt.datetime, zone: str) -> None:
    assert parse_moment(as_text(moment, house(zone))) == moment


@given(MOMENTS, ZONES)
def test_a_clock_is_read_as_shown_or_asked_back(moment: dt.datetime, zone: str) -> None:
    local = moment.astimezone(ZoneInfo(zone))
    shown = local.replace(tzinfo=None).isoformat()
    if local.utcoffset() == local.replace(fold=1 - local.fold).utcoffset():
        assert parse_local(shown, ZoneInfo(zone)) == moment
    else:
        with pytest.raises(MomentError, match="occurs twice"):
            parse_local(shown, ZoneInfo(zone))


# --- Gaming days -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "starts", "moment", "day"),
    [
        (SINGAPORE, "06:00", "2026-11-15T06:00:00+08:00", "2026-11-15"),
        (SINGAPORE, "06:00", "2026-11-15T05:59:59.999999+08:00", "2026-11-14"),
        (SINGAPORE, "06:00", "2026-11-14T22:00:00Z", "2026-11-15"),
        (SINGAPORE, "06:00", "2026-11-14T21:59:59.999999Z", "2026-11-14"),
        (SINGAPORE, "06:00", "2026-01-01T00:00:00+08:00", "2025-12-31"),
        (SINGAPORE, "00:00", "2026-11-15T00:00:00+08:00", "2026-11-15"),
        (SINGAPORE, "00:00", "2026-11-14T23:59:59.999999+08:00", "2026-11-14"),
        (SINGAPORE, "23:59", "2026-11-15T23:59:00+08:00", "2026-11-15"),
        (SINGAPORE, "23:59", "2026-11-15T23:58:59.999999+08:00", "2026-11-14"),
        (LONDON, "06:00", "2026-03-29T05:00:00Z", "2026-03-29"),
        (LONDON, "06:00", "2026-03-29T04:59:59.999999Z", "2026-03-28"),
        (LONDON, "06:00", "2026-10-25T06:00:00Z", "2026-10-25"),
        (LONDON, "06:00", "2026-10-25T05:59:59.999999Z", "2026-10-24"),
        # 01:30 never occurs: an hour and a half after midnight, when the clocks show 02:30
        (LONDON, "01:30", "2026-03-29T02:30:00+01:00", "2026-03-29"),
        (LONDON, "01:30", "2026-03-29T02:29:59.999999+01:00", "2026-03-28"),
        # 01:30 occurs twice: the first time counts
        (LONDON, "01:30", "2026-10-25T01:30:00+01:00", "2026-10-25"),
        (LONDON, "01:30", "2026-10-25T01:29:59.999999+01:00", "2026-10-24"),
        (LONDON, "01:30", "2026-10-25T01:00:00+00:00", "2026-10-25"),
        (LONDON, "01:30", "2026-10-25T01:29:59+00:00", "2026-10-25"),
        (LORD_HOWE, "02:15", "2026-10-04T02:45:00+11:00", "2026-10-04"),
        (LORD_HOWE, "02:15", "2026-10-04T02:44:59.999999+11:00", "2026-10-03"),
        (LORD_HOWE, "01:45", "2026-04-05T01:45:00+11:00", "2026-04-05"),
        (LORD_HOWE, "01:45", "2026-04-05T01:30:00+10:30", "2026-04-05"),
    ],
)
def test_the_gaming_day_of_a_moment(zone: str, starts: str, moment: str, day: str) -> None:
    assert gaming_day(house(zone, starts), at(moment)).isoformat() == day


@pytest.mark.parametrize(
    ("zone", "starts", "day", "hours"),
    [
        (SINGAPORE, "06:00", "2026-03-29", 24),
        (LONDON, "06:00", "2026-03-28", 23),
        (LONDON, "06:00", "2026-03-29", 24),
        (LONDON, "06:00", "2026-10-24", 25),
        (LONDON, "06:00", "2026-10-25", 24),
        (LONDON, "01:30", "2026-03-28", 24),
        (LONDON, "01:30", "2026-03-29", 23),
        (LONDON, "01:30", "2026-10-24", 24),
        (LONDON, "01:30", "2026-10-25", 25),
        (LORD_HOWE, "06:00", "2026-10-03", 23.5),
        (LORD_HOWE, "06:00", "2026-04-04", 24.5),
    ],
)
def test_how_long_a_gaming_day_is(zone: str, starts: str, day: str, hours: float) -> None:
    first, end = day_bounds(house(zone, starts), dt.date.fromisoformat(day))
    assert end - first == dt.timedelta(hours=hours)


#: Usual changes; half an hour; southern; none; at midnight; over midnight and back; a day that was left out.
YEARS = [
    (LONDON, 2026), ("America/New_York", 2026), (LORD_HOWE, 2026), ("Australia/Sydney", 2027), (SINGAPORE, 2028),
    ("Africa/Cairo", 2026), ("America/Havana", 2026), ("Asia/Beirut", 2026), ("America/Santiago", 2026),
    ("America/Sao_Paulo", 2018), ("America/St_Johns", 2010), ("Pacific/Apia", 2011), ("Africa/Casablanca", 2026),
]  # fmt: skip


@pytest.mark.parametrize("starts", ["00:00", "00:30", "01:30", "02:15", "06:00", "23:30"])
@pytest.mark.parametrize(("zone", "year"), YEARS)
def test_a_year_of_gaming_days_has_no_gap_and_no_overlap(zone: str, year: int, starts: str) -> None:
    casino = house(zone, starts)
    day, moment = dt.date(year, 1, 1), day_starts(casino, dt.date(year, 1, 1))
    while day.year == year:
        first, end = day_bounds(casino, day)
        assert first == moment
        assert first <= end
        if first < end:
            within = (first, first + dt.timedelta(minutes=10), first + (end - first) / 2, end - INSTANT)
            assert [gaming_day(casino, moment) for moment in within] == [day] * 4
        day, moment = day + DAY, end


def test_no_moment_of_the_day_that_apia_left_out() -> None:
    first, end = day_bounds(house("Pacific/Apia"), dt.date(2011, 12, 30))
    assert first == end
    assert gaming_day(house("Pacific/Apia"), at("2011-12-31T05:59:59+14:00")) == dt.date(2011, 12, 29)


@given(MOMENTS, ZONES, st.times())
def test_every_moment_lies_within_its_gaming_day(moment: dt.datetime, zone: str, starts: dt.time) -> None:
    casino = Casino(timezone=zone, gaming_day_starts=starts)
    first, end = day_bounds(casino, gaming_day(casino, moment))
    assert first <= moment < end


# --- Limits at the turn of the day -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "turn"),
    [
        (SINGAPORE, "2026-11-15T06:00:00+08:00"),
        (LONDON, "2026-10-25T01:30:00+00:00"),
        (LONDON, "2026-03-29T02:00:00+01:00"),
    ],
)
def test_limits_change_at_their_moment_and_not_an_instant_before(
    db: None, tmp_path: Path, zone: str, turn: str
) -> None:
    start = "2026-01-01T06:00:00+08:00"
    before = edited(EXAMPLE, (SINGAPORE, zone), ("2026-11-01T06:00:00+08:00", start))
    after = edited(LIMITS, ("2026-11-01T06:00:00+08:00", turn), ('"50"', '"100"'))
    load(tmp_path / "floor.toml", before + after)
    old, new = sign("TS-01", (at(turn) - INSTANT).isoformat()), sign("TS-01", turn)
    assert (old["boxes"]["big-small"]["min"], new["boxes"]["big-small"]["min"]) == ("50.00", "100.00")
    assert parse_moment(old["to"]) == parse_moment(new["from"]) == at(turn)
