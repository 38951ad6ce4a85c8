"""Counts over a schedule, against counting match by match."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import comb

import pytest

from services.tournament.schedule import Schedule, Spread, report_schedule
from services.tournament.schedule import report as report_module
from services.tournament.schedule.balanced import BalancedSelection
from services.tournament.schedule.full import FullSelection
from services.tournament.schedule.gauntlet import GauntletSelection
from services.tournament.schedule.rounds import RoundsSelection
from services.tournament.schedule.selection import Selection


def counted(schedule: Schedule) -> tuple[Spread, Spread, Spread, tuple[int, ...]]:
    """Meetings, seats, neighbours and matches, match by match."""
    entrants = range(schedule.entrants)
    met: Counter[tuple[int, int]] = Counter()
    seats: Counter[tuple[int, int]] = Counter()
    before: Counter[tuple[int, int]] = Counter()
    for match in schedule:
        met.update(permutations(match.entrants, 2))
        seats.update(enumerate(match.entrants))
        before.update(zip(match.entrants, match.entrants[1:] + match.entrants[:1], strict=True))
    pairs = list(permutations(entrants, 2))

    def spread(counts: list[int]) -> Spread:
        return Spread(min(counts), sum(counts) / len(counts), max(counts))

    return (
        spread([met[pair] for pair in pairs]),
        spread([seats[seat, entrant] for seat in range(5) for entrant in entrants]),
        spread([before[pair] for pair in pairs]),
        tuple(sum(seats[seat, entrant] for seat in range(5)) for entrant in entrants),
    )


@pytest.mark.parametrize("rotated", [True, False])
@pytest.mark.parametrize("kind", ["full", "balanced", "balanced with passes"])
def test_the_report_is_what_counting_finds(kind: str, rotated: bool) -> None:
    selection: Selection
    if kind == "full":
        selection = FullSelection(9, 2, 5, rotated)
    else:
        selection = BalancedSelection(23 if kind == "balanced" else 7, 70, 5, rotated)
    schedule = Schedule(selection, rotated, deals=3)
    report = report_schedule(schedule)
    assert (report.matches, report.deals) == (len(schedule), 3 * len(schedule))
    meetings, in_seat, before, per_entrant = counted(schedule)
    assert (report.meetings, report.in_seat, report.per_entrant) == (meetings, in_seat, per_entrant)
    assert report.before == before
    assert report.different == report.deals // schedule.sharing
    assert (report.played.least, report.played.most) == (min(per_entrant), max(per_entrant))


def test_a_field_is_counted_at_all_its_tables() -> None:
    selection = RoundsSelection(17, 12, 5, False)
    schedule = Schedule(selection, rotated=False, deals=2, unit=3, field=3)
    report = report_schedule(schedule)
    meetings, in_seat, before, per_entrant = counted(schedule)
    assert (report.matches, report.deals, report.different) == (36, 72, 24)
    assert (report.meetings, report.in_seat, report.per_entrant) == (meetings, in_seat, per_entrant)
    assert report.before == before


def test_control_tables_are_matches_and_nothing_else() -> None:
    plain = report_schedule(Schedule(BalancedSelection(23, 40, 5, False), rotated=False, deals=2))
    par = report_schedule(Schedule(BalancedSelection(23, 40, 5, False), rotated=False, deals=2, controls=1))
    assert (par.matches, par.deals, par.different, par.controls) == (80, 160, 80, 40)
    assert (par.meetings, par.in_seat, par.before, par.per_entrant) == (
        plain.meetings,
        plain.in_seat,
        plain.before,
        plain.per_entrant,
    )


def test_a_gauntlet_tells_the_field_from_its_challengers() -> None:
    report = report_schedule(Schedule(GauntletSelection(21, [4], 50, 5, False), rotated=False, deals=1))
    assert report.challenges == Spread(10, 10.0, 10)
    assert report.meetings.most <= 4
    assert report.per_entrant[4] == 50


def test_the_formula_for_large_full_schedules_agrees_with_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = Schedule(FullSelection(12, 2, 5, True), True, deals=3)
    passed_over = report_schedule(schedule)
    monkeypatch.setattr(report_module, "_COUNTED", 10)
    by_formula = report_schedule(schedule)
    assert by_formula.before is None
    assert by_formula.meetings == passed_over.meetings
    assert by_formula.in_seat == passed_over.in_seat
    assert by_formula.per_entrant == passed_over.per_entrant
    assert (by_formula.matches, by_formula.deals) == (passed_over.matches, passed_over.deals)


def test_a_schedule_of_forty_million_matches_is_reported_without_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the sets were made")

    monkeypatch.setattr(FullSelection, "lineups", refuse)
    report = report_schedule(Schedule(FullSelection(66, 1, 1, True), True, deals=2))
    assert report.matches == 5 * comb(66, 5)
    assert report.meetings == Spread(208_320, 208_320.0, 208_320)
