"""Whether a bot is fit to play: deals under every profile, with all that goes wrong and how long it thinks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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
MOST_SLOW = 10
"""After so many of them the check ends: it would take hours."""
_MOST_MESSAGES = 20
_DEALS = 2
"""Deals of a match: a bot that keeps something of the deal before is found out."""


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
        if self.slow >= MOST_SLOW:
            lines.append("That was enough; the check ended early.")
        return lines


def check_bot(
    make: Callable[[], AnyBot],
    deals: int = 60,
    *,
    profiles: Sequence[str] = tuple(PROFILES),
    seed: int | str = 0,
    timer: Callable[[], float] = perf_counter,
    on_match: Callable[[int], None] | None = None,
) -> BotReport:
    """Play deals with a bot, under several profiles and against several others, and report what went wrong.

    Args:
        make: makes the bot: its class, if that takes no arguments.
        deals: how many deals at least; they are spread over the profiles.
        profiles: names of profiles.
        seed: what the shuffles come from.
        timer: a clock in seconds.
        on_match: called after each match with the number of its deals.
    """
    mishaps: Counter[str] = Counter()
    bot = _Timed(make(), timer, mishaps)
    played = 0
    with suppress(_SlowEnough):
        for number in range(-(-deals // (_DEALS * len(profiles)))):
            for profile in profiles:
                _play(bot, PROFILES[profile], number, f"{seed}/{profile}/{number}", mishaps)
                played += _DEALS
                if on_match is not None:
                    on_match(_DEALS)
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
    play_match(line_up, options, _DEALS, seed.encode(), on_mishap=count)


class _SlowEnough(BaseException):
    """The check has seen enough slow decisions. No `Exception`, which would be taken for one of the bot's."""


class _Timed(Bot):
    """The bot, with every answer measured, and its view compared afterwards."""

    def __init__(self, bot: AnyBot, timer: Callable[[], float], mishaps: Counter[str]) -> None:
        self.times: list[float] = []
        self._mishaps = mishaps
        self._bot = bot
        self._answer = synchronous(bot).answer
        self._timer = timer

    def answer(self, view: View) -> Answer:
        before = view.copy()
        start = self._timer()
        try:
            return self._answer(view)
        finally:
            self.times.append(self._timer() - start)
            if changed := _changed(before, view):
                self._mishaps[f"answer() changed the view ({changed}), which is to be read; view.copy() is yours"] += 1
            if self.times[-1] > SLOW_S and sum(time > SLOW_S for time in self.times) >= MOST_SLOW:
                raise _SlowEnough

    def seated(self, seating: Seating) -> None:
        self._bot.seated(seating)

    def event_seen(self, event: Event, view: View) -> None:
        self._bot.event_seen(event, view)

    def deal_ended(self, result: DealEnded, view: View) -> None:
        self._bot.deal_ended(result, view)

    def match_ended(self, result: MatchResult) -> None:
        self._bot.match_ended(result)


def _changed(before: View, after: View) -> str:
    """The first attribute of two views that differs; empty if none does."""
    for old, new in ((before, after), (before.public, after.public)):
        for name in type(old).__slots__:
            if name != "public" and getattr(old, name) != getattr(new, name):
                return name
    return ""
