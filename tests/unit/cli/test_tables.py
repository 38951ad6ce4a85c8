"""Tables as a person reads them."""

from __future__ import annotations

import io

from baohuang.tournament.v1 import tournament_service_pb2 as pb
from services.cli.tables import (
    describe_tournament,
    make_console,
    matches_table,
    ratings_table,
    roles_table,
    standings_table,
)


def text_of(table: object) -> list[list[str]]:
    out = io.StringIO()
    make_console(out).print(table)
    return [line.split() for line in out.getvalue().splitlines()]


def test_each_role_has_its_mean_interval_and_deals() -> None:
    roles = [
        pb.RoleStanding(role="rebel", deals=30, blocks=12, points_per_deal=-0.5, low=-1.5, high=0.5),
        pb.RoleStanding(role="solo", deals=2, blocks=2, points_per_deal=8.0),
    ]
    lines = text_of(roles_table([pb.Standing(name="ann", roles=roles)]))
    assert ["ann", "-", "-", "0", "-", "-", "0", "-0.50", "±", "1.00", "30", "+8.00", "-", "2"] in lines


def test_who_has_no_deal_that_counts_has_neither_mean_nor_rank() -> None:
    one = pb.Standing(rank=1, name="ann", points_per_deal=-2, matches=1, deals=4, deals_counted=4, blocks=4, beans=-8)
    one.beans_per_deal = -2
    out = pb.Standing(rank=2, name="bob", matches=1, deals=4, beans=0, beans_per_deal=0)
    lines = text_of(standings_table([one, out]))
    assert ["1", "ann", "-2.000", "-", "-2.0", "-", "1", "4", "4", "0"] in lines
    assert ["-", "bob", "-", "-", "-", "-", "1", "0/4", "0", "0"] in lines


def test_each_bot_has_its_ratings() -> None:
    rated = pb.Standing(name="ann", rating=0.5, rating_low=0.25, rating_high=0.75, openskill=21.239)
    lines = text_of(ratings_table([rated, pb.Standing(name="ben", rating=-1), pb.Standing(name="cem")]))
    assert ["ann", "+0.500", "±", "0.250", "21.24"] in lines
    assert ["ben", "-1.000", "-", "-"] in lines
    assert ["cem", "-", "-", "-"] in lines


def test_a_match_with_faults_says_whose_they_were() -> None:
    faults = ["ann: 1 timeout", "eva: 2 illegal answers"]
    match = pb.Match(number=3, names=["ann"], points=[4], ending="completed", deals=2, faults=faults)
    lines = text_of(matches_table([match]))
    assert ["3", "ann", "+4", "2", "completed", "1970-01-01", "00:00", "ann:", "1", "timeout"] in lines
    assert ["eva:", "2", "illegal", "answers"] in lines


def test_a_tournament_that_was_not_started_says_who_is_in_and_nothing_of_a_plan() -> None:
    one = pb.Tournament(name="hall", state=pb.STATE_OPEN, min_entrants=2, max_entrants=9)
    one.entries.add(bot="ada", by_itself=True).entered_at.FromSeconds(1_780_000_000)
    one.entries.add(bot="bob").entered_at.FromSeconds(1_780_000_000)
    assert list(describe_tournament(one)) == [
        "hall: open (2 entered, 2 to 9 may play)",
        "  entrants 2 so far; 2 to 9 may play",
        "  entered  ada, by itself, 2026-05-28 20:26 UTC",
        "  entered  bob, by an operator, 2026-05-28 20:26 UTC",
    ]
