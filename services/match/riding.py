"""When events travel alone. With the next request they ride for nothing; a message of their own costs as much as a
decision. Pure; the time comes in.

What waits longer than a moment is sent by itself, so that bots can think ahead and people see what happens, as long as
there is room: for a fixed number of such messages a second, and a few more for every message with requests. Under load
most events wait for the next request, and never crowd out decisions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from services.match.sessions import Session

LOOK_S = 0.003
"""How often the waiting are looked at; what waits is sent alone at the second look at the earliest."""
ALONE_PER_S = 150.0
"""So many messages with events alone a second are always affordable: a few hundredths of a processor."""
ALONE_PER_MESSAGE = 0.02
"""And so many more for each other message."""
BURST = 50.0


class Riding:
    """Picks the sessions whose events shall wait no longer, those that wait longest first."""

    __slots__ = ("_fresh", "_looked", "_room", "_sent", "_waiting")

    def __init__(self, now: float) -> None:
        self._room = BURST
        self._looked = now
        self._sent = 0
        self._fresh: list[tuple[Session, int]] = []
        self._waiting: deque[tuple[Session, int]] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting or self._fresh)

    def wait(self, session: Session) -> None:
        """Something waits in this session, and nothing did before."""
        self._fresh.append((session, session.sent))

    def look(self, sent: int, now: float) -> Iterator[Session]:
        """The sessions that are to be sent what waits; `sent` is how many messages all sessions were sent so far."""
        earned = (now - self._looked) * ALONE_PER_S + (sent - self._sent) * ALONE_PER_MESSAGE
        self._room = min(BURST, self._room + earned)
        self._looked = now
        self._sent = sent
        waiting = self._waiting
        while waiting:
            session, sent_then = waiting[0]
            # Otherwise a message has taken it along, or one is on its way and its confirmation begins a new wait.
            if session.sent == sent_then and session.can_send:
                if self._room < 1.0:
                    break
                self._room -= 1.0
                yield session
            waiting.popleft()
        waiting.extend(self._fresh)
        self._fresh.clear()
