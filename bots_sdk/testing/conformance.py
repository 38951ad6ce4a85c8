"""Whether a bot is fit to play: deals under every profile, with all that goes wrong and how long it thinks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from bots_sdk.arena.match import Mishap, play_match
from bots_sdk.asking import synchronous
from bots_sdk.bot import AnyBot, Bot, MatchResult, Seating
from bots_sdk.house import GreedyBot, RandomBot
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.events import DealEnded, Event
from bots_sdk.rules.options import Options
from bots_sdk.rules.profiles import PROFILES
from bots_sdk.rules.view import View

SLOW_S = 1.0
"""A decision that takes longer is reported: the usual limit is 2 s."""
_MOST_MESSAGES = 20


@dataclass(frozen=True, slots=True)
class BotReport:
    """What a check found.

    Attributes:
        deals: how many deals were played.
        decisions: how many answers the bot gave.
        mishaps: what went wrong, with how often: exceptions, illegal answers, failing hooks.
        slow: how many decisions took longer than `SLOW_S`.
        mean_s: seconds per decision.
        most_s: the most for one.
    """

    deals: int
    decisions: int
    mishaps: Mapping[str, int]
    slow: int
    mean_s: float
    most_s: float

    @property
    def is_fit(self) -> bool:
        """Nothing went wrong, and nothing was slow."""
        return not self.mishaps and not self.slow

    def sentences(self) -> list[str]:
        """The report for a person, one sentence a line."""
        lines = [
            f"{self.deals} deals, {self.decisions} decisions, {self.mean_s * 1000:.2f} ms each, "
            f"{self.most_s * 1000:.1f} ms at the most."
        ]
        lines += [f"{number} times: {message}." for message, number in self.mishaps.items()]
        if self.slow:
            lines.append(f"{self.slow} decisions took longer than {SLOW_S:g} s; the usual limit is 2 s.")
        return lines


def check_bot(
    make: Callable[[], AnyBot],
    deals: int = 60,
    *,
    profiles: Sequence[str] = tuple(PROFILES),
    seed: int | str = 0,
    timer: Callable[[], float] = perf_counter,
) -> BotReport:
    """Play deals with a bot, under several profiles and against several others, and report what went wrong.

    Args:
        make: makes the bot: its class, if that takes no arguments.
        deals: how many deals at least; they are spread over the profiles.
        profiles: names of profiles.
        seed: what the shuffles come from.
        timer: a clock in seconds.
    """
    bot = _Timed(make(), timer)
    mishaps: Counter[str] = Counter()
    played = 0
    # Two deals a match, so that a bot that keeps something of the deal before is found out.
    for number in range(-(-deals // (2 * len(profiles)))):
        for profile in profiles:
            _play(bot, PROFILES[profile], number, f"{seed}/{profile}/{number}", mishaps)
            played += 2
    times = bot.times
    return BotReport(
        deals=played,
        decisions=len(times),
        mishaps=dict(mishaps.most_common(_MOST_MESSAGES)),
        slow=sum(time > SLOW_S for time in times),
        mean_s=sum(times) / len(times) if times else 0.0,
        most_s=max(times, default=0.0),
    )


def _play(bot: _Timed, options: Options, number: int, seed: str, mishaps: Counter[str]) -> None:
    seat = number % 5

    def count(mishap: Mishap) -> None:
        if mishap.seat == seat:
            mishaps[mishap.message] += 1

    others: list[AnyBot] = [GreedyBot(), GreedyBot(), RandomBot(f"{seed}/a"), RandomBot(f"{seed}/b")]
    line_up = [*others[:seat], bot, *others[seat:]]
    play_match(line_up, options, 2, seed.encode(), on_mishap=count)


class _Timed(Bot):
    """The bot, with every answer measured."""

    def __init__(self, bot: AnyBot, timer: Callable[[], float]) -> None:
        self.times: list[float] = []
        self._bot = bot
        self._answer = synchronous(bot).answer
        self._timer = timer

    def answer(self, view: View) -> Answer:
        start = self._timer()
        try:
            return self._answer(view)
        finally:
            self.times.append(self._timer() - start)

    def seated(self, seating: Seating) -> None:
        self._bot.seated(seating)

    def event_seen(self, event: Event, view: View) -> None:
        self._bot.event_seen(event, view)

    def deal_ended(self, result: DealEnded, view: View) -> None:
        self._bot.deal_ended(result, view)

    def match_ended(self, result: MatchResult) -> None:
        self._bot.match_ended(result)
