"""Bots that think on threads, so that the wire is served meanwhile.

Each seat has a mailbox. What is in it is done in order, on one thread at a time, with a view that belongs to the
mailbox alone: nothing changes under the hands of a bot that is still thinking when its time is up and the deal goes on.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from functools import partial
from time import monotonic

from bots_sdk.asking import call_hook, describe_error, frames_of_call, place_of_call
from bots_sdk.bot import AnyBot, Bot, MatchResult, has_hook
from bots_sdk.client.seat import TableSeat
from bots_sdk.client.thinking import BotPool, Decider, ask_legal, tell, watch
from bots_sdk.errors import ArenaError, BotFailed
from bots_sdk.rules.events import Event
from bots_sdk.rules.view import View

Job = Callable[[], None]
PATIENCE_S = 5.0


class Mailbox:
    """What a seat's bot is still to be told; `jobs` is touched in the event loop only, the rest on the bot's thread."""

    __slots__ = ("bot", "busy", "hooked", "jobs", "view")

    def __init__(self, view: View) -> None:
        self.jobs: list[Job] = []
        self.busy = False
        self.view = view
        self.bot: AnyBot | None = None
        self.hooked = False


class Crew:
    """Threads that do what is put before them.

    Args:
        threads: how many; so many bots think at once.
    """

    def __init__(self, threads: int) -> None:
        self._work: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._working: dict[int, float] = {}  # the threads that have a job, and since when
        # Daemons: a bot that never returns must not keep the process from ending.
        self._threads = [threading.Thread(target=self._run, name=f"bot-{n}", daemon=True) for n in range(threads)]
        for thread in self._threads:
            thread.start()

    def held_s(self) -> tuple[float, int]:
        """For how many seconds all threads have been at one job, and one of them; 0 while any waits for one."""
        working = dict(self._working)
        if len(working) < len(self._threads):
            return 0.0, 0
        thread, since = max(working.items(), key=lambda item: item[1])
        return monotonic() - since, thread

    def put(self, job: Job) -> None:
        """Have the job done on one of the threads."""
        self._work.put(job)

    def close(self) -> None:
        """Let every thread end after what it is doing."""
        for _ in self._threads:
            self._work.put(None)

    def _run(self) -> None:
        thread = threading.get_ident()
        while (job := self._work.get()) is not None:
            self._working[thread] = monotonic()
            job()
            del self._working[thread]


class ThreadThinker:
    """Asks on threads.

    Args:
        pool: where bots come from.
        crew: the threads; several thinkers may share them.
        loop: the event loop of the client.
        patience_s: a match that waits longer for a thread to begin on is said to wait.
    """

    decider: Decider

    def __init__(
        self, pool: BotPool, crew: Crew, loop: asyncio.AbstractEventLoop, *, patience_s: float = PATIENCE_S
    ) -> None:
        self._patience_s = patience_s
        self._pool = pool
        self._crew = crew
        self._loop = loop

    def begin(self, seat: TableSeat) -> None:
        """See `Thinker.begin`."""
        seat.mind = Mailbox(View(seat.seating.options, seat.seating.seat))
        self._post(seat, partial(self._seat_bot, seat))
        self._loop.call_later(self._patience_s, self._complain, seat)

    def see(self, seat: TableSeat, event: Event) -> None:
        """See `Thinker.see`."""
        box = _box(seat)
        box.jobs.append(partial(self._fold, seat, event))
        if box.hooked:
            self._send(seat)

    def restart(self, seat: TableSeat, new: list[Event]) -> None:
        """See `Thinker.restart`."""
        self._post(seat, partial(self._replace_view, seat, seat.view.copy(), new))

    def ask(self, seat: TableSeat) -> None:
        """See `Thinker.ask`."""
        watch(seat, self.decider)
        self._post(seat, partial(self._answer, seat, seat.request, seat.time.limit, seat.time.bank))

    def end(self, seat: TableSeat, result: MatchResult) -> None:
        """See `Thinker.end`."""
        self._post(seat, partial(self._end, seat, result))

    def think(self, until: Callable[[], bool]) -> bool:
        """Nothing is thought in the loop."""
        return False

    def close(self) -> None:
        """The threads belong to who made them."""

    # ---- in the event loop

    def _post(self, seat: TableSeat, job: Job) -> None:
        _box(seat).jobs.append(job)
        self._send(seat)

    def _send(self, seat: TableSeat) -> None:
        box = _box(seat)
        if not box.busy and box.jobs:
            box.busy = True
            jobs, box.jobs = box.jobs, []
            self._crew.put(partial(self._work, seat, jobs))

    def _complain(self, seat: TableSeat) -> None:
        """Where no thread is free for a match that begins, somebody must be told why the bot does not turn up."""
        box = _box(seat)
        if box.bot is not None or not box.busy:
            return
        seconds, thread = self._crew.held_s()
        if seconds < self._patience_s:  # a thread may take up its job later than the loop has put it there
            self._loop.call_later(self._patience_s - seconds, self._complain, seat)
        elif frames := frames_of_call(thread):
            place = place_of_call(frames)
            self.decider.mishap(seat, f"no match can begin while the bot holds every thread ({place})")

    def _done(self, seat: TableSeat) -> None:
        _box(seat).busy = False
        self._send(seat)

    # ---- on a thread

    def _work(self, seat: TableSeat, jobs: list[Job]) -> None:
        for job in jobs:
            try:
                job()
            except (
                Exception
            ) as error:  # nothing of ours should raise here, but a thread that ends would stop all tables
                self._call(self.decider.mishap, seat, describe_error(error))
        self._call(self._done, seat)

    def _call(self, callback: Callable[..., None], *args: object) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *args)
        except RuntimeError:
            return  # the loop is closed: nobody wants to know any more

    def _seat_bot(self, seat: TableSeat) -> None:
        box = _box(seat)
        try:
            box.bot = self._pool.take()
            box.hooked = has_hook(box.bot, "event_seen") or has_hook(box.bot, "deal_ended")
            call_hook(partial(box.bot.seated, seat.seating))
        except ArenaError as failed:
            self._call(self.decider.mishap, seat, str(failed))
        if box.bot is not None:
            self._call(self.decider.ready, seat)

    def _fold(self, seat: TableSeat, event: Event) -> None:
        box = _box(seat)
        box.view.apply(event)
        if box.hooked and box.bot is not None:
            tell(box.bot, event, box.view, partial(self._call, self.decider.mishap, seat))

    def _replace_view(self, seat: TableSeat, view: View, new: list[Event]) -> None:
        box = _box(seat)
        box.view = view
        if box.hooked and box.bot is not None:
            for event in new:
                tell(box.bot, event, view, partial(self._call, self.decider.mishap, seat))

    def _answer(self, seat: TableSeat, request: int, limit: float | None, bank: float) -> None:
        box = _box(seat)
        # Only read: when the request is closed already, the bot is spared the thinking.
        if seat.request != request or not isinstance(box.bot, Bot):
            return
        box.bot.time_limit, box.bot.time_bank = limit, bank
        box.view.answered = False
        try:
            answer = ask_legal(box.bot, box.view)
        except BotFailed as failed:
            self._call(self.decider.fail, seat, request, str(failed))
        else:
            self._call(self.decider.decide, seat, request, answer)
        box.view.note_answered()

    def _end(self, seat: TableSeat, result: MatchResult) -> None:
        box = _box(seat)
        if box.bot is None:
            return
        try:
            call_hook(partial(box.bot.match_ended, result))
        except BotFailed as failed:
            self._call(self.decider.mishap, seat, str(failed))
        self._pool.put_back(box.bot)
        box.bot = None


def _box(seat: TableSeat) -> Mailbox:
    box = seat.mind
    assert isinstance(box, Mailbox)
    return box
