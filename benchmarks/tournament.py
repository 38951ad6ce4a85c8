"""How fast a whole tournament is beside the match service alone, and whether its director stays as it is.

    python -m benchmarks.tournament
    python -m benchmarks.tournament --quick --services 1

A hundred house bots in several processes play a `balanced` tournament on a platform as `baohuang serve` starts it: real
Ray actors, ledger, metrics that are scraped, and an operator who follows. Before it and after it, in the same run, a
match service alone plays the same matches with as many tables and bots. All share the machine with the bots, whose part
of the work is the same in both; so beside the ratio of rates stands that of processor time of all there are.
Two and four match services run on nodes of a Ray cluster on this machine. The last line is a JSON object.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.match.cases import say
from benchmarks.whole.alone import Points, measure_alone
from benchmarks.whole.contest import SETS, Contest
from benchmarks.whole.figures import Alone, Played
from benchmarks.whole.nodes import ENVIRON, cluster
from benchmarks.whole.planning import measure_planning
from benchmarks.whole.playing import play_tournament
from benchmarks.whole.serving import serving

FULL = Contest(bots=100, processes=4, matches=10_000, deals=1, in_flight=500, tables=100)
QUICK = Contest(bots=10, processes=2, matches=200, deals=1, in_flight=20, tables=20)
MILLION = 1_000_000
NODES_PART = 4
"""On nodes a fourth of the matches is played: how it goes in the middle is what is compared."""

Figures = dict[str, float]


def run(arguments: list[str]) -> Figures:
    """Runs everything and returns the figures."""
    options = _parse(arguments)
    contest = QUICK if options.quick else FULL
    asked = {name: getattr(options, name) for name in ("bots", "processes", "matches", "deals", "in_flight", "tables")}
    contest = replace(contest, **{name: value for name, value in asked.items() if value is not None})
    if contest.matches % SETS:
        raise SystemExit(f"--matches is {contest.matches}, but must be a multiple of {SETS}")
    figures: Figures = {}
    if not options.no_plan:
        figures |= measure_planning(contest, 20_000 if options.quick else MILLION)
        say(f"planning  {json.dumps(figures)}")
    services = options.services or ([1] if options.quick else [1, 2, 4])
    seconds = options.seconds or (2.0 if options.quick else 20.0)
    with tempfile.TemporaryDirectory(prefix="baohuang-benchmark-") as folder:
        if 1 in services:
            figures |= beside_alone(contest, options.rounds, seconds, Path(folder))
        for count in services:
            if count > 1:
                few = replace(contest, matches=contest.matches // NODES_PART // SETS * SETS)
                figures |= on_nodes(few, count, Path(folder) / f"nodes-{count}")
                if "steady_per_s" in figures:
                    figures[f"scale_{count}"] = round(figures[f"steady_per_s_{count}"] / figures["steady_per_s"], 3)
    return figures


def beside_alone(contest: Contest, rounds: int, seconds: float, folder: Path) -> Figures:
    """A platform with one match service, and before and after each tournament a match service alone."""
    alone: list[Alone] = []
    played: list[Played] = []

    def measure() -> Points:
        figures, points = measure_alone(contest, 1, seconds)
        alone.append(figures)
        say(f"match service alone  {figures.sentence()}")
        return points

    points = measure()
    for number in range(rounds):
        with serving(folder / f"data-{number}", 1) as platform:
            played.append(play_tournament(platform, contest, "whole", points))
        say(f"whole tournament     {played[-1].sentence()}")
        measure()
    pairs = [_beside(one, alone[at : at + 2]) for at, one in enumerate(played)]
    figures: Figures = {
        "deals": sum(one.deals for one in played),
        "deals_per_s": round(statistics.median(one.deals_per_s for one in played), 1),
        "match_service_ratio": round(statistics.median(one.deals_per_s / rate for one, rate, _ in pairs), 3),
        "steady_ratio": round(statistics.median(one.steady_per_s / rate for one, rate, _ in pairs), 3),
        "cpu_ratio": round(statistics.median(cost / one.all_ms for one, _, cost in pairs), 3),
        "alone_deals_per_s": round(statistics.median(rate for _, rate, _ in pairs), 1),
        "alone_server_us": round(statistics.median(one.server_us for one in alone), 1),
        "alone_bots_us": round(statistics.median(one.bots_us for one in alone), 1),
        "alone_batch": round(statistics.median(one.batch for one in alone), 2),
        "batch": round(statistics.median(one.batch for one in played), 2),
        "busy_tables": round(statistics.median(one.busy for one in played), 3),
        "decisions_per_deal": round(statistics.median(one.decisions_each for one in played), 1),
        "steady_per_s": round(statistics.median(one.steady_per_s for one in played), 1),
        "first_deal_s": round(statistics.median(one.first_s for one in played), 1),
    }
    for role in ("director", "gateway"):
        figures[f"{role}_growth_mib"] = round(max(one.growth_mib(role) for one in played), 2)
        figures[f"{role}_mib"] = round(max(one.resident_mib(role) for one in played), 1)
    for role in sorted({role for one in played for role in one.cpu_ms}):
        figures[f"{role.replace(' ', '_')}_ms"] = round(
            statistics.median(one.cpu_ms.get(role, 0.0) for one in played), 3
        )
    return figures


def _beside(played: Played, near: list[Alone]) -> tuple[Played, float, float]:
    """A tournament, and what the match service alone has come to around it: deals a second, milliseconds for each."""
    each = played.decisions_each
    rate = statistics.fmean(one.per_s for one in near) / each
    return played, rate, statistics.fmean(one.all_us for one in near) * each / 1e3


def on_nodes(contest: Contest, services: int, folder: Path) -> Figures:
    """The same with so many match services, each on a node of its own."""
    folder.mkdir(parents=True)
    with cluster(folder, services) as nodes, serving(folder / "data", services, nodes, ENVIRON) as platform:
        played = play_tournament(platform, contest, "nodes", {})
    say(f"{services} match services on {services} nodes  {played.sentence()}")
    return {
        f"deals_per_s_{services}": round(played.deals_per_s, 1),
        f"steady_per_s_{services}": round(played.steady_per_s, 1),
        f"cpu_ms_{services}": round(played.all_ms, 3),
    }


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A whole tournament beside the match service alone.")
    parser.add_argument("--quick", action="store_true", help="shorter: to see that it works")
    parser.add_argument("--services", type=_counts, help="how many match services, such as 1,2,4")
    parser.add_argument("--rounds", type=int, default=1, help="tournaments beside the match service alone")
    parser.add_argument("--seconds", type=float, help="what counts of each turn of the match service alone")
    parser.add_argument("--no-plan", action="store_true", help="leave the schedule of a million matches out")
    parser.add_argument("--matches", type=int, help=f"a multiple of {SETS}")
    parser.add_argument("--deals", type=int, help="in a match")
    parser.add_argument("--bots", type=int)
    parser.add_argument("--processes", type=int, help="processes the bots are spread over")
    parser.add_argument("--in-flight", type=int, help="matches played at once")
    parser.add_argument("--tables", type=int, help="the most tables of a bot")
    return parser.parse_args(arguments)


def _counts(text: str) -> list[int]:
    found = sorted({int(part) if part.isdecimal() else 0 for part in text.split(",")})
    if found[0] < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be numbers from 1 on, such as 1,2,4")
    return found


if __name__ == "__main__":
    try:
        say(json.dumps(run(sys.argv[1:])))
    except KeyboardInterrupt:
        sys.exit(130)
