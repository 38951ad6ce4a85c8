"""What a bot is: a class with one method, `answer`, and hooks it may have.

An object plays one match at a time. Beginning with `seated` it may be given another one when a match is over; a process
that plays many tables at once has many objects. Nothing is called on two threads at once for one object.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from bots_sdk.rules.answers import Answer
from bots_sdk.rules.events import DealEnded, Event
from bots_sdk.rules.options import Options
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.view import View


@dataclass(frozen=True, slots=True)
class Seating:
    """A seat in a match that is about to start.

    Attributes:
        match_id: names the match; an opaque text.
        seat: the bot's own seat, 0 to 4.
        options: the rules.
        deals: how many deals the match has.
        names: who sits where, five names by seat.
        limit: the time for one decision; None: the clock is off.
        limits: kinds of decision that have another limit. `time_limit` of the bot is the one that holds, whatever is
            asked.
        bank: the time beyond the limits that the seat has for the whole match.
        increment: what each decision adds to the bank.
    """

    match_id: str
    seat: int
    options: Options
    deals: int
    names: tuple[str, ...]
    limit: timedelta | None = None
    bank: timedelta = timedelta(0)
    increment: timedelta = timedelta(0)
    limits: tuple[tuple[Phase, timedelta], ...] = ()


@dataclass(frozen=True, slots=True)
class MatchResult:
    """How a match ended for a bot.

    Attributes:
        completed: it was played to the end and counts; otherwise it is played again, or the bot is told why not.
        points: the points of the whole match, five numbers by seat; empty if it does not count.
        message: why it ended early, or who was at fault; empty if there is nothing to say.
    """

    completed: bool
    points: tuple[int, ...]
    message: str = ""


class Player:
    """What `Bot` and `AsyncBot` share: hooks that do nothing unless a bot has its own.

    Attributes:
        time_limit: seconds for the decision being asked for; None: there is no clock.
        time_bank: seconds in the bank on top of that.
    """

    time_limit: float | None = None
    time_bank: float = 0.0

    def seated(self, seating: Seating) -> None:
        """A match begins. There is more time here than for an answer: this is the place to load a model."""

    def event_seen(self, event: Event, view: View) -> None:
        """Something happened; `view` has taken it in already. Keep it short: it is called for every event."""

    def deal_ended(self, result: DealEnded, view: View) -> None:
        """A deal is over, everything is shown."""

    def match_ended(self, result: MatchResult) -> None:
        """The match is over. Not called if the connection is lost for good."""


class Bot(Player, ABC):
    """A bot: write `answer`, the rest is optional.

    >>> class First(Bot):
    ...     def answer(self, view: View) -> Answer:
    ...         return view.legal()[0]
    """

    @abstractmethod
    def answer(self, view: View) -> Answer:
        """What to say now.

        Args:
            view: all that this seat knows, to be read only; `view.legal()` lists the legal answers, never none.

        Returns:
            One of `view.legal()`, or the same play with cards of other suits. If it is illegal, or an exception is
            raised, the default (`view.default()`) is played instead, and the fault is counted and shown.
        """


class AsyncBot(Player, ABC):
    """A bot whose `answer` is a coroutine, for one that asks somebody else over the network."""

    @abstractmethod
    async def answer(self, view: View) -> Answer:
        """See `Bot.answer`."""


AnyBot = Bot | AsyncBot
"""Both kinds of bot."""

BotFactory = Callable[[], AnyBot]
"""Makes a bot: its class, if that takes no arguments."""


def is_async(bot: AnyBot | type[AnyBot]) -> bool:
    """True if `answer` has to be awaited; of a bot or its class."""
    return inspect.iscoroutinefunction(bot.answer)


def has_hook(bot: AnyBot, name: str) -> bool:
    """True if the bot has its own version of a hook of `Player`, so that calling it has a point."""
    return getattr(type(bot), name) is not getattr(Player, name)
