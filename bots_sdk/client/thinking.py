"""How bots are asked: in the event loop, on threads of their own, or awaited.

House bots and bots that answer in microseconds think in the loop: everything that has come is decided before the next
message is written, so that one message carries many answers. Others think on threads, so that the wire is served while
they do: they get views of their own that nothing changes under their hands, and when time is almost up the default is
sent for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol, cast

from bots_sdk.asking import ask, ask_async, call_hook, describe_error, verify_legal
from bots_sdk.bot import AnyBot, AsyncBot, Bot, MatchResult, has_hook
from bots_sdk.client.seat import TableSeat
from bots_sdk.errors import ArenaError, BotFailed
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.events import DealEnded, Event
from bots_sdk.rules.view import View

SLICE_S = 0.005
"""Bots that think in the loop leave it to the wire after so long."""


class Decider(Protocol):
    """Who is told what the bots say: the session."""

    def ready(self, seat: TableSeat) -> None:
        """The bot is ready to play."""

    def decide(self, seat: TableSeat, request: int, answer: Answer) -> None:
        """The bot has answered; the answer is legal."""

    def fail(self, seat: TableSeat, request: int, message: str) -> None:
        """The bot has raised or answered what is not legal."""

    def hurry(self, seat: TableSeat, request: int) -> None:
        """The bot has not answered and time is almost up."""

    def mishap(self, seat: TableSeat, message: str) -> None:
        """A hook of the bot has raised, or no bot could be made."""


class BotPool:
    """Makes bots, and keeps those whose match is over for the next one.

    Args:
        make: makes a bot from a seed.
        seed: the first part of every seed.
    """

    def __init__(self, make: Callable[[int | str], AnyBot], seed: int | str = 0) -> None:
        self._make = make
        self._seed = seed
        self._numbers = itertools.count(1)  # also taken from threads
        self._idle: list[AnyBot] = []

    def take(self) -> AnyBot:
        """A bot that is at no table.

        Raises:
            ArenaError: none could be made.
        """
        with contextlib.suppress(IndexError):  # two threads may ask for the last one
            return self._idle.pop()
        try:
            return self._make(f"{self._seed}/{next(self._numbers)}")
        except ArenaError:
            raise
        except Exception as error:
            raise BotFailed(f"no bot could be made: {describe_error(error)}") from error

    def put_back(self, bot: AnyBot) -> None:
        """The bot's match is over."""
        self._idle.append(bot)


class Thinker(Protocol):
    """A way of asking bots. All methods are called in the event loop."""

    decider: Decider

    def begin(self, seat: TableSeat) -> None:
        """A match begins: make or take a bot, tell it, say when it is ready."""

    def see(self, seat: TableSeat, event: Event) -> None:
        """Something happened; the seat's view has taken it in."""

    def restart(self, seat: TableSeat, new: list[Event]) -> None:
        """The seat has a new view; `new` are the events in it that the bot has not seen."""

    def ask(self, seat: TableSeat) -> None:
        """Ask the bot for an answer to the seat's open request."""

    def end(self, seat: TableSeat, result: MatchResult) -> None:
        """The match is over."""

    def think(self, until: Callable[[], bool]) -> bool:
        """Let bots think in the loop until time is up; True if some are still to be asked."""

    def close(self) -> None:
        """Stop whatever goes on."""


class InlineThinker:
    """Asks in the event loop.

    Args:
        pool: where bots come from.
        trusted: they never raise and always answer legally, so that checking it can be spared.
    """

    decider: Decider

    def __init__(self, pool: BotPool, *, trusted: bool) -> None:
        self._pool = pool
        self._trusted = trusted
        self._waiting: deque[tuple[TableSeat, int]] = deque()  # seats and the requests they are asked

    def begin(self, seat: TableSeat) -> None:
        """See `Thinker.begin`."""
        try:
            bot = self._pool.take()
            seat.bot = bot
            seat.sees = has_hook(bot, "event_seen") or has_hook(bot, "deal_ended")
            call_hook(partial(bot.seated, seat.seating))
        except ArenaError as failed:
            self.decider.mishap(seat, str(failed))
        if seat.bot is not None:
            self.decider.ready(seat)

    def see(self, seat: TableSeat, event: Event) -> None:
        """See `Thinker.see`."""
        if seat.bot is not None and seat.sees:
            tell(seat.bot, event, seat.view, partial(self.decider.mishap, seat))

    def restart(self, seat: TableSeat, new: list[Event]) -> None:
        """See `Thinker.restart`."""
        for event in new:
            self.see(seat, event)

    def ask(self, seat: TableSeat) -> None:
        """See `Thinker.ask`."""
        self._waiting.append((seat, seat.request))

    def think(self, until: Callable[[], bool]) -> bool:
        """See `Thinker.think`."""
        waiting = self._waiting
        decider = self.decider
        while waiting:
            seat, request = waiting.popleft()
            bot = seat.bot
            if seat.request != request or bot is None:
                continue
            bot.time_limit, bot.time_bank = seat.time.limit, seat.time.bank
            try:
                answer = cast("Bot", bot).answer(seat.view) if self._trusted else ask_legal(cast("Bot", bot), seat.view)
            except Exception as error:
                decider.fail(seat, request, str(error) if isinstance(error, BotFailed) else describe_error(error))
            else:
                decider.decide(seat, request, answer)
            if until():
                return bool(waiting)
        return False

    def end(self, seat: TableSeat, result: MatchResult) -> None:
        """See `Thinker.end`."""
        if seat.bot is None:
            return
        try:
            call_hook(partial(seat.bot.match_ended, result))
        except BotFailed as failed:
            self.decider.mishap(seat, str(failed))
        self._pool.put_back(seat.bot)
        seat.bot = None

    def close(self) -> None:
        """See `Thinker.close`."""
        self._waiting.clear()


class AsyncThinker(InlineThinker):
    """Awaits answers; hooks are called in the loop. A coroutine whose request is closed is cancelled."""

    def __init__(self, pool: BotPool) -> None:
        super().__init__(pool, trusted=False)
        self._tasks: dict[TableSeat, asyncio.Task[None]] = {}

    def ask(self, seat: TableSeat) -> None:
        """See `Thinker.ask`."""
        self._cancel(seat)
        if seat.bot is not None:
            watch(seat, self.decider)
            self._tasks[seat] = asyncio.get_running_loop().create_task(self._await(seat, seat.bot, seat.request))

    def end(self, seat: TableSeat, result: MatchResult) -> None:
        """See `Thinker.end`."""
        self._cancel(seat)
        super().end(seat, result)

    def close(self) -> None:
        """See `Thinker.close`."""
        for seat in list(self._tasks):
            self._cancel(seat)

    async def _await(self, seat: TableSeat, bot: AnyBot, request: int) -> None:
        bot.time_limit, bot.time_bank = seat.time.limit, seat.time.bank
        view = seat.view.copy()  # as it is now: the deal may go on meanwhile
        try:
            answer = verify_legal(await ask_async(cast("AsyncBot", bot), view.copy()), view)
        except BotFailed as failed:
            self.decider.fail(seat, request, str(failed))
        else:
            self.decider.decide(seat, request, answer)

    def _cancel(self, seat: TableSeat) -> None:
        task = self._tasks.pop(seat, None)
        if task is not None:
            task.cancel()


def ask_legal(bot: Bot, view: View) -> Answer:
    """The bot's answer, which is legal. The bot gets a view of its own: one that it writes into is of no use later.

    Raises:
        BotFailed: it raised, or returned what is not.
    """
    return verify_legal(ask(bot, view.copy()), view)


def watch(seat: TableSeat, decider: Decider) -> None:
    """Start the timer after which the default is sent."""
    seconds = seat.seconds_to_default
    seat.cancel_deadline()
    if seconds is not None:
        loop = asyncio.get_running_loop()
        seat.deadline = loop.call_later(seconds, decider.hurry, seat, seat.request)


def tell(bot: AnyBot, event: Event, view: View, mishap: Callable[[str], None]) -> None:
    """Call the hooks for one event, with a view of the bot's own."""
    view = view.copy()
    try:
        call_hook(partial(bot.event_seen, event, view))
        if isinstance(event, DealEnded):
            call_hook(partial(bot.deal_ended, event, view))
    except BotFailed as failed:
        mishap(str(failed))
