"""How fast the rules are: decisions per second, and what one answer, one listing, one copy, one event cost.

Every figure stands beside a calibration: a fixed loop of plain Python measured in the same run, so that figures of
different machines (or of one machine on a busy day) can be compared. Totals are processor time, single steps medians of
the clock on the wall, so that other processes disturb little. The last line is one JSON object.

    python benchmarks/engine.py [--deals 20] [--profile qingdao]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from random import Random

from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.events import Event, HandDealt
from bots_sdk.rules.options import Options
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.profiles import PROFILES
from bots_sdk.rules.shuffle import deal_out, deck_order
from bots_sdk.rules.view import View

Answers = list[tuple[int, Answer]]
Preparation = Callable[[Deal, int, Answer], Callable[[], object]]
SECRET = b"benchmark"


def calibration() -> float:
    """Microseconds of a fixed loop of plain Python: 10,000 additions and list stores."""
    best = float("inf")
    for _ in range(20):
        begun = time.perf_counter()
        total, cells = 0, [0] * 16
        for number in range(10_000):
            total += number
            cells[number & 15] = total
        best = min(best, time.perf_counter() - begun)
    return best * 1e6


def start(options: Options, number: int) -> tuple[Deal, list[Event]]:
    hands = deal_out(options, deck_order(options, SECRET, number), 0)
    return Deal.start(options, 0, 0, hands, None)


def random_play(options: Options, deals: int) -> tuple[list[Answers], float]:
    """Play whole deals at random with the legal answers listed; the answers, and decisions per second."""
    rng = Random(1)
    scripts = []
    spent = 0.0
    for number in range(deals):
        deal, _ = start(options, number)
        script: Answers = []
        begun = time.process_time()
        while not deal.is_over:
            seat = deal.asked[0]
            legal = deal.legal(seat)
            answer = legal[int(rng.random() * len(legal))]
            deal.answer(seat, answer)
            script.append((seat, answer))
        spent += time.process_time() - begun
        scripts.append(script)
    return scripts, sum(map(len, scripts)) / spent


def replays(options: Options, scripts: list[Answers]) -> Iterator[tuple[Deal, int, Answer]]:
    """Every position of the deals with the seat that answers and its answer, which is given afterwards."""
    for number, script in enumerate(scripts):
        deal, _ = start(options, number)
        for seat, answer in script:
            yield deal, seat, answer
            deal.answer(seat, answer)


def applied(options: Options, scripts: list[Answers]) -> float:
    """Decisions per second when nothing is listed: every answer is verified and applied."""
    spent = 0.0
    for number, script in enumerate(scripts):
        deal, _ = start(options, number)
        begun = time.process_time()
        for seat, answer in script:
            deal.answer(seat, answer)
        spent += time.process_time() - begun
    return sum(map(len, scripts)) / spent


def median_of(options: Options, scripts: list[Answers], prepare: Preparation, plays_only: bool = False) -> float:
    """Median microseconds of something done at every position of play, or at every one where cards are put down."""
    times = []
    for deal, seat, answer in replays(options, scripts):
        if deal.phase is Phase.PLAY and (answer.word is Word.PLAY or not plays_only):
            act = prepare(deal, seat, answer)
            begun = time.perf_counter()
            act()
            times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1e6


def copied_answer(deal: Deal, seat: int, answer: Answer) -> Callable[[], object]:
    copy = deal.copy()
    return lambda: copy.answer(seat, answer)


def full_lead(options: Options) -> float:
    """Microseconds of listing a lead from the full hand, the median over deals."""
    times = []
    for number in range(40):
        deal, _ = start(options, number)
        while not deal.is_over and deal.phase is not Phase.PLAY:
            seat = deal.asked[0]
            accept = [answer for answer in deal.legal(seat) if answer.word is Word.ACCEPT]
            deal.answer(seat, accept[0] if accept else deal.default(seat))
        if not deal.is_over:
            begun = time.perf_counter()
            for _ in range(10):
                deal.legal(deal.asked[0])
            times.append((time.perf_counter() - begun) / 10)
    return statistics.median(times) * 1e6


def folding(options: Options, scripts: list[Answers]) -> float:
    """Microseconds in which a view takes in one public event of another seat, the mean over whole deals."""
    spent, count = 0.0, 0
    for number, script in enumerate(scripts):
        deal, events = start(options, number)
        view = View(options, 0)
        view.apply(events[0])
        view.apply(HandDealt(deal.hand(0)))
        events = [event for seat, answer in script for event in deal.answer(seat, answer)]
        begun = time.process_time()
        for event in events:
            view.apply(event)
        spent += time.process_time() - begun
        count += len(events)
    return spent / count * 1e6


def measure(options: Options, deals: int) -> dict[str, float]:
    scripts, listed = random_play(options, deals)
    decisions = sum(map(len, scripts))
    return {
        "calibration_us": calibration(),
        "decisions_per_s_listed": listed,
        "decisions_per_s_unlisted": applied(options, scripts),
        "decisions_per_deal": decisions / deals,
        "deal_ms": decisions / deals / listed * 1e3,
        "verify_and_apply_us": median_of(options, scripts, copied_answer),
        "verify_and_apply_play_us": median_of(options, scripts, copied_answer, plays_only=True),
        "verify_us": median_of(options, scripts, lambda deal, seat, answer: lambda: deal.verify(seat, answer)),
        "list_us": median_of(options, scripts, lambda deal, seat, _: lambda: deal.legal(seat)),
        "list_full_lead_us": full_lead(options),
        "copy_us": median_of(options, scripts, lambda deal, _, __: deal.copy),
        "view_event_us": folding(options, scripts),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=20)
    parser.add_argument("--profile", action="append", choices=list(PROFILES))
    arguments = parser.parse_args()
    figures = {name: measure(PROFILES[name], arguments.deals) for name in arguments.profile or PROFILES}
    for name, found in figures.items():
        print(name)
        for key, value in found.items():
            print(f"  {key:26} {value:12,.1f}")
    print(json.dumps({"benchmark": "engine", "profiles": figures}))


if __name__ == "__main__":
    main()
