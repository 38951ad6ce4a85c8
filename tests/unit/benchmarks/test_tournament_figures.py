"""What the benchmark of a whole tournament makes of what it has measured."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks import tournament
from benchmarks.whole.contest import Contest, fixtures_of, spec_of
from benchmarks.whole.figures import MIB, Alone, Played, Sample
from benchmarks.whole.serving import Process, role_of
from services.common.matches import Entrant

CONTEST = Contest(bots=10, processes=3, matches=50, deals=1, in_flight=10, tables=10)


def played(resident: list[int], *, deals: int = 100) -> Played:
    """A tournament of ten seconds with a look at its director after each tenth, in MiB."""
    samples = [Sample(at, deals * at // 10, {"director": mib * MIB}) for at, mib in enumerate(resident)]
    return Played(
        deals=deals,
        decisions=200 * deals,
        seconds=10.0,
        first_s=1.0,
        steady_per_s=12.0,
        batch=2.0,
        busy=0.9,
        cpu_ms={"bots": 6.0, "match services": 3.0, "director": 1.0},
        samples=samples,
    )


def test_growth_leaves_the_beginning_out() -> None:
    # Given a director that takes what it needs at first, and then keeps it, or grows with every match,
    flat = played([10, 50, 60, 60, 60, 60, 60, 60, 60, 60, 60])
    growing = played([10, 50, 60, 62, 64, 66, 68, 70, 72, 74, 76])
    # then only the second one has grown, from the second fifth of the deals to the last tenth.
    assert flat.growth_mib("director") == 0
    assert growing.growth_mib("director") == 75 - 61
    assert growing.resident_mib("director") == 75


def test_a_role_that_was_never_seen_has_no_size() -> None:
    assert played([1]).growth_mib("gateway") == 0


@pytest.mark.parametrize(
    ("title", "role"),
    [
        ("ray::MatchServiceActor.collect", "match services"),
        ("ray::match-1:MatchServiceActor.__init__", "match services"),
        ("ray::DirectorActor", "director"),
        ("ray::GatewayActor.live", "gateway"),
        ("ray::IDLE", "ray"),
        ("python -m tool --of DirectorActor", "ray"),
    ],
)
def test_processes_are_told_apart_by_their_titles(title: str, role: str) -> None:
    assert role_of(title) == role


def test_the_whole_time_counts_for_the_rate() -> None:
    assert played([1]).deals_per_s == 10.0
    assert played([1]).all_ms == 10.0


def test_a_tournament_is_held_against_what_was_measured_around_it() -> None:
    # Given deals of 200 decisions, and a match service alone with 1000 and 3000 decisions a second,
    near = [Alone(per_s=1000, server_us=20, bots_us=10, batch=2), Alone(per_s=3000, server_us=30, bots_us=20, batch=2)]
    # then that is 10 deals a second, and 8 ms of processors for each.
    _, rate, cost = tournament._beside(played([1]), near)
    assert rate == pytest.approx(10)
    assert cost == pytest.approx(8)


def test_alone_plays_what_the_platform_plays() -> None:
    # Given a contest, when its matches are made without a platform,
    spec, fixtures = spec_of(CONTEST, "x"), fixtures_of(CONTEST, "x")
    # then all of its bots sit in them, under their names, and shares of processes lose none.
    assert list(spec.entrants) == CONTEST.names == [bot.name for bot in fixtures.bots]
    assert fixtures.matches == CONTEST.matches
    assert {seat for number in range(CONTEST.matches) for seat in fixtures.seats(number)} == {
        Entrant(name, name) for name in CONTEST.names
    }
    assert sorted(name for share in CONTEST.shares() for name in share) == CONTEST.names


def test_a_platform_shares_the_processors_as_the_match_service_alone_does(tmp_path: Path) -> None:
    """The kernel shares among sessions first: with one of its own a platform was given another part of the machine."""
    waits = "import signal; print('ready now', flush=True); signal.pause()"
    started = Process([sys.executable, "-c", waits], tmp_path / "out", {})
    try:
        assert started.said("ready (now)") == "now"
        assert os.getsid(started.pid) == os.getsid(0)
        assert os.getpgid(started.pid) == started.pid, "a Ctrl-C is not for it"
    finally:
        started.close()
