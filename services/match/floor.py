"""The floor: all tables of one match service, the bots at them, the orders that wait, the clocks.

No gRPC, no coroutines: the service around it feeds it with what is read from the wires and with the time, and lends it
two ways to be called back later (`Later`). Everything runs in one thread.
"""

from __future__ import annotations

import heapq
import itertools
import logging
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.house import make_house_bot
from services.common.clock import Clock
from services.common.errors import Reason
from services.common.matches import Ending, MatchOrder, MatchOutcome, SeatFaults
from services.common.metrics import MatchMetrics
from services.common.tickets import EndedTokens, TokenEnd
from services.match.clocks import Lag
from services.match.conduct import CROSSED, Conduct
from services.match.inbox import Inboxes
from services.match.records import draining
from services.match.riding import Riding
from services.match.seat import Seat, Wire
from services.match.sessions import Farewell, Session
from services.match.table import Table
from services.match.waiting import ABSENT, WaitingRoom

_log = logging.getLogger(__name__)

HOUSE_SLICE = 0.002
"""Seconds that house bots may think before the wires get their turn again."""

UNREAD_RETRY_S = 1.0
"""So long a bot stays away that has not read what was sent to it."""

FORGOTTEN_AFTER = 600.0
"""So many seconds after its last stream nothing is remembered of a bot without a seat."""

STALE_LIMIT = 64
"""So many deadlines of matches that are over are borne: each holds a seat in memory, with a bank for hours."""


OUR_FAULT = "a fault of the platform"


class Later(Protocol):
    """How the floor asks its surroundings to be called again."""

    def house_soon(self) -> None:
        """Calls `Floor.play_house` in the next turn of the loop."""

    def seat_soon(self) -> None:
        """Calls `Floor.seat_waiting` in the next turn of the loop."""

    def look_soon(self) -> None:
        """Calls `Floor.send_waiting` in `riding.LOOK_S` seconds."""

    def entered(self) -> None:
        """A bot has come in."""


class Floor:
    """Tables, sessions and orders of one match service. `now` is monotonic seconds everywhere."""

    def __init__(self, name: str, clock: Clock, metrics: MatchMetrics, later: Later) -> None:
        self.inboxes = Inboxes()
        self.sessions: dict[str, Session] = {}
        self.ended_tokens = EndedTokens()
        self._name = name
        self._clock = clock
        self._metrics = metrics
        self._later = later
        self._lag = Lag(clock.monotonic())
        self._lag_at_tidy = 0.0
        self._tables: dict[int, Table] = {}
        self._attempts: set[str] = set()
        self._opening: dict[int, tuple[Table, float]] = {}
        self._seats: dict[str, dict[int, Seat]] = {}
        self._conducts: dict[str, Conduct] = {}
        self._absent_since: dict[str, float] = {}
        self._waiting = WaitingRoom()
        self._riding = Riding(clock.monotonic())
        self._deadlines: list[tuple[float, int, int, Seat]] = []
        self._stale = 0
        self._ticket = itertools.count()
        self._table_numbers = itertools.count(1)
        self._house: deque[Table] = deque()
        self._draining = False
        self._stops_at = 0.0

    # ---- what a table needs (`Host`)

    @property
    def lag(self) -> Lag:
        """What the service was late."""
        return self._lag

    @property
    def observer(self) -> MatchMetrics:
        """Where tables count."""
        return self._metrics

    def wall(self) -> datetime:
        """The time of day."""
        return self._clock.now()

    def watch(self, table: Table, seat: Seat, due: float) -> None:
        """Watches a deadline of a seat; one at a time."""
        seat.watched = True
        heapq.heappush(self._deadlines, (due, next(self._ticket), table.number, seat))

    def call_house(self, table: Table) -> None:
        """A house bot has to decide at `table`."""
        if not self._house:
            self._later.house_soon()
        self._house.append(table)

    def ended(self, table: Table, outcome: MatchOutcome) -> None:
        """A match is over: frees its seats, keeps the outcome for the director."""
        number = table.number
        del self._tables[number]
        self._opening.pop(number, None)
        self._attempts.discard(outcome.attempt)
        for entrant in remote_bots(table):
            self._seats[entrant].pop(number, None)
        for seat in table.seats:
            if (conduct := self._conducts.get(seat.entrant.bot_id)) is not None:
                conduct.excuse(CROSSED + max(0, seat.timeouts - seat.late))
        self._stale += sum(seat.watched for seat in table.seats)
        if self._stale > max(STALE_LIMIT, len(self._deadlines) // 2):
            self._drop_stale()
        self._deliver(outcome)
        self._metrics.tables_live = len(self._tables)
        if self._waiting:
            self._later.seat_soon()

    # ---- orders

    def submit(self, orders: list[MatchOrder], now: float) -> None:
        """Takes orders; one that is here already is not taken twice."""
        for order in orders:
            if order.attempt in self._attempts or order.attempt in self._waiting:
                continue
            if self._draining:
                self._void(order, "the match service is stopping")
            else:
                self._waiting.add(order, self._fair(now))
        self.seat_waiting(now)

    def withdraw(self, tournament: str) -> None:
        """Forgets a tournament: its orders, its tables, its outcomes."""
        self._waiting.remove(tournament)
        for table in [table for table in self._tables.values() if table.order.tournament == tournament]:
            table.end_early(Ending.VOID, (), "the match was withdrawn")
        self.inboxes.forget(tournament)
        self._count_waiting()

    def seat_waiting(self, now: float) -> None:
        """Seats every order whose bots are here and have a free table."""
        if self._draining:
            return
        for order in self._waiting.take_seatable(self._free_tables, self._fair(now)):
            self._open(order, now)
        self._count_waiting()

    def _open(self, order: MatchOrder, now: float) -> None:
        try:
            table = Table(next(self._table_numbers), order, self, make_house_bot)
        except Exception:  # whatever it is: the order goes back, and those behind it are seated
            _log.exception("no table can be made", extra={"attempt": order.attempt})
            self._void(order, OUR_FAULT)
            return
        self._tables[table.number] = table
        self._attempts.add(order.attempt)
        self._opening[table.number] = (table, self._fair(now))
        wires: dict[int, Wire] = {}
        for seat in table.seats:
            if not seat.entrant.is_house:
                session = self.sessions[seat.entrant.bot_id]
                session.seats[table.number] = seat
                wires[seat.index] = session
        self._metrics.tables_live = len(self._tables)
        self._guard(table, lambda: table.open(wires, now))

    # ---- sessions

    def enter(self, session: Session, now: float) -> None:
        """A bot's stream is open. The newest wins: an older one of the same bot is told so and closed."""
        bot = session.terms.bot_id
        older = self.sessions.get(bot)
        self.sessions[bot] = session
        self._metrics.sessions_live = len(self.sessions)
        if older is not None:
            self._metrics.reconnects += 1
            older.close(Farewell(Reason.SUPERSEDED, "a newer stream of the same bot took over"))
        elif self._absent_since.pop(bot, None) is not None:
            self._metrics.reconnects += 1
        if bot in self._conducts:
            # What the client sent on the stream before may have arrived, and is sent once more.
            self._conducts[bot].excuse(len(session.seats))
        for number, seat in list(session.seats.items()):
            table = self._tables[number]
            self._guard(table, lambda table=table, seat=seat: table.attach(seat, session, now))  # type: ignore[misc]
        session.forgive()
        if self._draining:
            session.push_now(draining(max(0.0, self._stops_at - now)))
        self._later.entered()
        self.seat_waiting(now)

    def leave(self, session: Session, now: float) -> None:
        """A stream has ended. Seats stay, clocks go on; nothing happens if a newer stream is here."""
        session.end()
        bot = session.terms.bot_id
        if self.sessions.get(bot) is not session:
            return
        del self.sessions[bot]
        self._absent_since[bot] = self._fair(now)
        self._metrics.sessions_live = len(self.sessions)
        for number, seat in list(session.seats.items()):
            self._tables[number].detach(seat, now)

    def dismiss(self, end: TokenEnd) -> None:
        """Closes the stream of a bot if it rests on a token that has ended; tickets that rest on it open no other."""
        self.ended_tokens.add(end, self._clock.now())
        session = self.sessions.get(end.bot_id)
        if session is not None and session.terms.token_since < end.before:
            session.close(Farewell(Reason.TOKEN_UNKNOWN, "the bot's token has ended"))

    def seats_of(self, bot_id: str) -> dict[int, Seat]:
        """The seats of a bot by table number; they outlive its sessions."""
        return self._seats.setdefault(bot_id, {})

    def conduct_of(self, bot_id: str, now: float) -> Conduct:
        """How a bot has behaved so far."""
        conduct = self._conducts.get(bot_id)
        if conduct is None:
            conduct = self._conducts[bot_id] = Conduct(now)
        return conduct

    def decide(self, session: Session, decision: pb.Decision, now: float) -> bool:
        """A bot has decided; a table where it does not sit is as good as a closed request. False: it was in vain."""
        number = decision.table
        seat = session.seats.get(number)
        if seat is None:
            self._metrics.late_answers += 1
            return False
        table = self._tables[number]
        try:
            return table.decide(seat, decision, now)
        except Exception:
            self._give_up(table)
        return True

    def ready(self, session: Session, number: int, now: float) -> bool:
        """A bot is ready at a table; False if it does not sit there, or was ready already."""
        seat = session.seats.get(number)
        if seat is None or seat.ready:
            return False
        table = self._tables[number]
        self._guard(table, lambda: table.ready(seat, now))
        if not table.unready:
            self._opening.pop(number, None)
        return True

    # ---- time

    def observe(self, now: float) -> None:
        """Called before anything that depends on clocks."""
        late = self._lag.observe(now)
        if late > 0.0:
            self._metrics.loop_lag(late)

    def sweep(self, now: float, interval: float) -> None:
        """Deals with overdue decisions; to be called every `interval` seconds, some tens of milliseconds."""
        self.observe(now)
        self._lag.promise(now + interval)
        deadlines = self._deadlines
        while deadlines and deadlines[0][0] <= now:
            _, _, number, seat = heapq.heappop(deadlines)
            seat.watched = False
            table = self._tables.get(number)
            if table is None:
                self._stale -= 1
                continue
            self._guard(table, lambda table=table, seat=seat: self._look(table, seat, now))  # type: ignore[misc]

    def wait(self, session: Session) -> None:
        """Events wait in a session for company."""
        if not self._riding:
            self._later.look_soon()
        self._riding.wait(session)

    def send_waiting(self, now: float) -> None:
        """Sends the events that have waited long enough."""
        for session in self._riding.look(self._metrics.messages_sent, now):
            session.hurry()
        if self._riding:
            self._later.look_soon()

    def tidy(self, now: float, silence: float) -> None:
        """Deals with bots that never come, never get ready, say nothing or read nothing; once or twice a second."""
        # Where the loop itself stood still, what bots said meanwhile has not been read yet; it may have been just now.
        self.observe(now)
        fair = self._fair(now)
        patience = silence + self._lag.total - self._lag_at_tidy
        self._lag_at_tidy = self._lag.total
        for session in list(self.sessions.values()):
            if session.is_flooded:
                self.conduct_of(session.terms.bot_id, now).shut(now, UNREAD_RETRY_S)
                unread = "the client does not read what is sent to it"
                session.close(Farewell(Reason.RATE_LIMITED, unread, retry_after=UNREAD_RETRY_S))
            elif now - session.heard_at > patience:
                session.close(Farewell(Reason.SILENT, f"nothing was heard of the client for {silence:g} s"))
        for bot_id in [bot_id for bot_id, conduct in self._conducts.items() if conduct.is_clean(now)]:
            if bot_id not in self.sessions:
                del self._conducts[bot_id]
        if not self._waiting:  # otherwise it may matter to an order since when a bot is away
            self._forget_absent(fair)
        for table, since in list(self._opening.values()):
            if fair - since > table.order.clock.ready.total_seconds() and table.unready:
                blamed = tuple(seat.index for seat in table.unready)
                table.end_early(Ending.NO_SHOW, blamed, _describe_unready(table))
        for order, blamed in self._waiting.take_hopeless(self._free_tables, self._absent_since, fair):
            names = ", ".join(order.seats[seat].name for seat in blamed)
            self._deliver(self._outcome(order, Ending.NO_SHOW, blamed, f"not connected: {names}"))
        self.seat_waiting(now)

    def play_house(self, now: float, spent: Callable[[], float]) -> None:
        """Lets house bots decide for a slice of time; `spent` reads the monotonic clock."""
        until = now + HOUSE_SLICE
        while self._house and spent() < until:
            table = self._house.popleft()
            if table.number in self._tables:
                self._guard(table, lambda table=table: table.play_house(spent()))  # type: ignore[misc]
        if self._house:
            self._later.house_soon()

    # ---- the end

    def drain(self, grace: float) -> None:
        """Takes no more orders; those waiting go back; bots are told."""
        self._draining = True
        self._stops_at = self._clock.monotonic() + grace
        for order in self._waiting.clear():
            self._void(order, "the match service is stopping")
        record = draining(grace)
        for session in self.sessions.values():
            session.push_now(record)
        self._count_waiting()

    @property
    def is_idle(self) -> bool:
        """No match is being played."""
        return not self._tables

    def void_all(self, message: str) -> None:
        """Ends every match that is still played; they are played again elsewhere."""
        for table in list(self._tables.values()):
            table.end_early(Ending.VOID, (), message)

    # ---- inside

    def _fair(self, now: float) -> float:
        """The time as bots have it: without what the loop was late. Nobody is absent, or not ready, because of that."""
        return now - self._lag.total

    def _free_tables(self, bot_id: str) -> int:
        session = self.sessions.get(bot_id)
        if session is None:
            return ABSENT
        # A stream that is being closed is told of no match any more.
        return session.free_tables if session.farewell is None else 0

    def _forget_absent(self, now: float) -> None:
        for bot_id in [bot_id for bot_id, since in self._absent_since.items() if now - since > FORGOTTEN_AFTER]:
            if not self._seats.get(bot_id):
                del self._absent_since[bot_id]
                self._seats.pop(bot_id, None)

    def _look(self, table: Table, seat: Seat, now: float) -> None:
        again = table.overdue(seat, now)
        if again is not None and not seat.watched:
            self.watch(table, seat, again)

    def _drop_stale(self) -> None:
        self._deadlines[:] = [entry for entry in self._deadlines if entry[2] in self._tables]
        heapq.heapify(self._deadlines)
        self._stale = 0

    def _guard(self, table: Table, call: Callable[[], object]) -> None:
        try:
            call()
        except Exception:
            self._give_up(table)

    def _give_up(self, table: Table) -> None:
        """A fault of ours at one table must not touch the others: the match is void and played again."""
        _log.exception("table given up", extra={"attempt": table.order.attempt})
        try:
            if table.number in self._tables:
                table.end_early(Ending.VOID, (), OUR_FAULT)
        except Exception:  # what made it fail may still be so; its director must hear of it all the same
            _log.exception("nor can it be ended in order", extra={"attempt": table.order.attempt})
            self.ended(table, self._outcome(table.order, Ending.VOID, (), OUR_FAULT))

    def _void(self, order: MatchOrder, message: str) -> None:
        self._deliver(self._outcome(order, Ending.VOID, (), message))

    def _deliver(self, outcome: MatchOutcome) -> None:
        self._metrics.match_ended(outcome.ending)
        self.inboxes.put(outcome, self._name)

    def _outcome(self, order: MatchOrder, ending: Ending, blamed: tuple[int, ...], message: str) -> MatchOutcome:
        now = self._clock.now()
        none = SeatFaults()
        return MatchOutcome(
            tournament=order.tournament,
            number=order.number,
            attempt=order.attempt,
            ending=ending,
            blamed=blamed,
            message=message,
            deals=(),
            faults=(none, none, none, none, none),
            decisions=0,
            started_at=now,
            ended_at=now,
        )

    def _count_waiting(self) -> None:
        self._metrics.matches_waiting = len(self._waiting)


def _describe_unready(table: Table) -> str:
    """Who keeps the match from beginning: a bot that hangs is not one that has gone."""
    ready = table.order.clock.ready.total_seconds()
    hanging = ", ".join(seat.entrant.name for seat in table.unready if seat.wire is not None)
    gone = ", ".join(seat.entrant.name for seat in table.unready if seat.wire is None)
    told = [f"connected, but not ready within {ready:g} s: {hanging}"] if hanging else []
    return "; ".join(told + ([f"not connected any more: {gone}"] if gone else []))


def remote_bots(table: Table) -> set[str]:
    """The remote bots at a table."""
    return {seat.entrant.bot_id for seat in table.seats if not seat.entrant.is_house}
