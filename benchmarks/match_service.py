"""What a match service does and costs, each case beside its baselines in the same run.

    python -m benchmarks.match_service
    python -m benchmarks.match_service --case 50x1000 --case slow --quick

Bots are instant and in other processes, the rules are real (`qingdao`). Real service and baselines stand ready beside
each other and take turns, round by round; ratios are medians over the rounds. The last line is a JSON object with one
entry per case.
"""

from __future__ import annotations

import argparse
import json
import sys

from benchmarks.match.cases import CASES, Figures, Setting, say
from benchmarks.match.measuring import Times
from benchmarks.match.scripts import record_scripts


def run(arguments: list[str]) -> dict[str, Figures]:
    """Runs the cases and returns their figures."""
    parser = argparse.ArgumentParser(description="What a match service does and costs, beside its baselines.")
    parser.add_argument("--case", action="append", choices=list(CASES), help="one case only; may be given repeatedly")
    parser.add_argument("--quick", action="store_true", help="shorter: for a glance, and to see that it works")
    parser.add_argument("--seconds", type=float, help="what counts of each turn of a load")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--processes", type=int, default=1, help="processes the bots are spread over")
    parser.add_argument("--deals", type=int, help="how many different deals are played")
    options = parser.parse_args(arguments)
    quick = options.quick
    times = Times(
        seconds=options.seconds or (1.5 if quick else 3.0),
        warmup=0.7,
        rounds=options.rounds or (2 if quick else 7),
        processes=options.processes,
    )
    scripts = record_scripts(options.deals or (16 if quick else 128))
    setting = Setting(scripts, times, quick)
    figures = {}
    for case in options.case or CASES:
        figures[case] = CASES[case](setting)
        say(f"{case}  {json.dumps(figures[case])}")
    return figures


if __name__ == "__main__":
    try:
        say(json.dumps(run(sys.argv[1:])))
    except KeyboardInterrupt:
        sys.exit(130)
