"""Durations and whole specifications as text."""

from __future__ import annotations

from datetime import timedelta

import pytest

from services.tournament.spec import format_spec, parse_spec
from services.tournament.spec.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("2s", 2000), ("2", 2000), ("0.25", 250), ("500ms", 500), ("1.5m", 90_000), ("1 h", 3_600_000), ("0", 0)],
)
def test_durations_are_read_in_their_unit(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == timedelta(milliseconds=milliseconds)


@pytest.mark.parametrize("text", ["", "s", "2 days", "-1s", "1e3", "1s2", "0.5ms", "٣s", "nan"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(0, "0s"), (200, "200ms"), (2000, "2s"), (90_000, "90s"), (60_000, "1m")]
)
def test_durations_are_written_as_short_as_can_be(milliseconds: int, text: str) -> None:
    assert format_duration(timedelta(milliseconds=milliseconds)) == text


def test_a_written_specification_is_a_file_a_person_can_read() -> None:
    spec = parse_spec(
        "name: x\nprofile: qingdao\noptions: {wind: auto}\nbots: [007, house:random]\n"
        "schedule: {kind: full, repeats: 3}\ndeals: 2\nclock: {limit: off}\nseed: 5\n"
    )
    assert format_spec(spec) == (
        "name: x\nprofile: qingdao\noptions:\n  wind: auto\nbots:\n- '007'\n- house:random\n"
        "schedule:\n  kind: full\n  repeats: 3\nduplicate: rotation\ndeals: 2\n"
        "clock:\n  limit: 'off'\n  bank: 0s\n  increment: 0s\n  grace: 200ms\n  ready: 30s\n"
        "faults:\n  illegal: retry\n  illegal_limit: 3\n  takeover_after: 5\n  score: played\n  others: block\n"
        "seed: '5'\nno_show_limit: 5\n"
    )


def test_limits_by_kind_and_the_price_of_faults_are_written_where_there_are_any() -> None:
    spec = parse_spec(
        "name: x\nprofile: qingdao\nbots: [a]\nschedule: full\ndeals: 2\n"
        "clock: {limit: 2s, limits: {play: 500ms, tribute: 5s}}\nfaults: {score: forfeit, forfeit: 9, others: deal}\n"
    )
    text = format_spec(spec)
    assert "  limits:\n    pay: 5s\n    take: 5s\n    play: 500ms\n" in text
    assert "  score: forfeit\n  forfeit: 9\n  others: deal\n" in text
    assert parse_spec(text) == spec
