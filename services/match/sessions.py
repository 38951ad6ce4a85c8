"""A session: one bot's stream, as a queue of records with credit. No gRPC in here.

Records gather in the outbox while a message is on its way unconfirmed: full batches are what makes thousands of tables
possible, since a message costs a hundred times what a record costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from services.common.errors import PlatformError, Reason
from services.match.clocks import Departure
from services.match.seat import Seat

MESSAGE_BYTES = 1 << 20
"""A message is closed once it is this large: clients read 4 MiB at most by default."""
OUTBOX_BYTES = 16 << 20
"""More than this unread, besides what it is told anew, and the bot is sent away; it may come back."""


@dataclass(frozen=True, slots=True)
class SessionTerms:
    """What a bot said of itself, and what it got."""

    bot_id: str
    name: str
    tables: int
    list_legal: bool
    window: int
    token_since: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    """Since when the bot has the token that its ticket rests on."""


@dataclass(frozen=True, slots=True)
class Farewell:
    """Why the service closes a stream, and after how many seconds the bot may come back."""

    reason: Reason
    message: str
    retry_after: float = 0.0

    @property
    def error(self) -> PlatformError:
        """The error that ends the stream."""
        if not self.retry_after:
            return PlatformError(self.reason, self.message)
        return PlatformError(self.reason, self.message, retry_after_ms=str(int(self.retry_after * 1000)))


class Session:
    """One stream. `wake` tells its writer that something is to be sent; `wait` that something waits for company.

    `seats` are the bot's seats by table number; they belong to the bot and outlive the session. `push` queues a record
    that may wait for company: four of them for every decision, so it is the bare `append` of the outbox while something
    is in it already.
    """

    __slots__ = (
        "_append",
        "_confirmed",
        "_departure",
        "_forgiven",
        "_outbox",
        "_urgent",
        "_wait",
        "_wake",
        "farewell",
        "heard_at",
        "list_legal",
        "push",
        "seats",
        "sent",
        "sent_at",
        "terms",
    )

    def __init__(
        self,
        terms: SessionTerms,
        seats: dict[int, Seat],
        now: float,
        wake: Callable[[], None],
        wait: Callable[[Session], None],
    ) -> None:
        self.terms = terms
        self.seats = seats
        self.list_legal = terms.list_legal
        self.heard_at = now
        self.sent = 0
        self.sent_at = now
        self.farewell: Farewell | None = None
        self._wake = wake
        self._wait = wait
        self._urgent = False
        self._outbox: list[bytes] = []
        self._append = self._outbox.append
        self.push: Callable[[bytes], None] = self._push_first
        self._departure = Departure()
        self._confirmed = 0
        self._forgiven = 0

    @property
    def free_tables(self) -> int:
        """How many more tables the bot takes."""
        return self.terms.tables - len(self.seats)

    def _push_first(self, record: bytes) -> None:
        self._append(record)
        self.push = self._append
        self._wait(self)

    def push_now(self, record: bytes) -> None:
        """Queues a record and wakes the writer."""
        self._append(record)
        if not self._urgent:
            self.hurry()

    def push_request(self, record: bytes, seat: Seat) -> None:
        """Queues a request and wakes the writer; the seat's clock starts when it is taken."""
        clock = seat.clock
        if clock.departure is not None:
            clock.look_back()
        clock.departure = self._departure
        outbox = self._outbox
        clock.place = len(outbox)
        outbox.append(record)
        if not self._urgent:
            self.hurry()

    def hurry(self) -> None:
        """What is queued shall wait no longer."""
        self.push = self._append
        self._urgent = True
        self._wake()

    def end(self) -> None:
        """The stream has ended: lets go of what was not sent, and of itself."""
        self._outbox.clear()
        self.push = self._append

    def heard(self, now: float, confirmed: int) -> bool:
        """A message of the client was read; True if it confirmed anything."""
        self.heard_at = now
        confirmed = min(confirmed, self.sent)
        if confirmed <= self._confirmed:
            return False
        self._confirmed = confirmed
        if self._urgent:
            self._wake()
        elif self._outbox:
            self._wait(self)
        return True

    def take(self, now: float, lag: float) -> bytes | None:
        """The next message, if there is something to send and credit for it; starts the clocks of its requests."""
        if not self.can_send:
            return None
        message = b"".join(self._outbox)
        self._forgiven = max(0, self._forgiven - MESSAGE_BYTES)
        departure, self._departure = self._departure, Departure()
        if len(message) > MESSAGE_BYTES:
            message = self._split(departure)
        else:
            self._outbox.clear()
        departure.written(now, lag)
        self.sent += 1
        self.sent_at = now
        if self._outbox:  # the rest of what was too much for one message waits for nobody while there is credit
            self.hurry()
        else:
            self._urgent = False
            self.push = self._push_first
        return message

    def close(self, farewell: Farewell) -> None:
        """The service wants the stream to end; the writer says why and ends it."""
        if self.farewell is None:
            self.farewell = farewell
            self._wake()

    @property
    def can_send(self) -> bool:
        """Something is queued, and there is credit to send it."""
        return bool(self._outbox) and self.sent - self._confirmed < self.terms.window

    def forgive(self) -> None:
        """What is queued now is what the bot is told anew: at some thousand tables that alone is more than is borne."""
        self._forgiven = sum(map(len, self._outbox))

    @property
    def is_flooded(self) -> bool:
        """The client reads so little that no more is kept for it."""
        return sum(map(len, self._outbox)) > OUTBOX_BYTES + self._forgiven

    def _split(self, departure: Departure) -> bytes:
        """As much of the outbox as a message holds. Requests in the rest leave with the next one."""
        size = taken = 0
        for record in self._outbox:
            if taken and size + len(record) > MESSAGE_BYTES:
                break
            size += len(record)
            taken += 1
        for seat in self.seats.values():
            clock = seat.clock
            if clock.departure is departure and clock.place >= taken:
                clock.departure = self._departure
                clock.place -= taken
        message = b"".join(self._outbox[:taken])
        del self._outbox[:taken]
        return message
