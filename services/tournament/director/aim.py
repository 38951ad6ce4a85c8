"""What a running tournament aims at: to be played to its end, to pause, or to stop for good; and when it is there."""

from __future__ import annotations

import asyncio

from services.ledger.values import TournamentState

STOPPING = "The platform is stopping; the tournament goes on by itself when it is started again."


class Aim:
    """Where it will end as things are, and why; `ended` is set when it is there, after which no verb changes anything.

    With `is_suspended` the platform is stopping, and the ledger goes on saying that the tournament runs.
    """

    def __init__(self, reason: str = "") -> None:
        self.state = TournamentState.FINISHED
        self.reason = reason
        self.is_suspended = False
        self.ended = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.ended.is_set()

    def stop(self, state: TournamentState, reason: str, grace: float) -> bool:
        """Come to an end in another state within `grace` seconds; False if it has ended, or stops for good already."""
        if self.is_over or self.state is TournamentState.CANCELLED:
            return False
        self.state, self.reason = state, reason
        self._arm(grace)
        return True

    def suspend(self, grace: float) -> bool:
        """The same because the platform stops."""
        self.is_suspended = True
        return self.stop(TournamentState.PAUSED, STOPPING, grace)

    def outlast(self, reason: str) -> bool:
        """Pause for this reason instead of because the platform stops, if that is why."""
        if not self.is_suspended or self.is_over or self.state is not TournamentState.PAUSED:
            return False
        self.is_suspended, self.reason = False, reason
        return True

    def resume(self) -> bool:
        """Take a pause back that has not come to its end; False if there is none any more to be taken back."""
        if self.is_over or self.state is TournamentState.CANCELLED or self.is_suspended:
            return False
        if self.state is TournamentState.PAUSED:
            self.state, self.reason = TournamentState.FINISHED, ""
            self._arm(None)
        return True

    def finish(self, reason: str) -> None:
        """All is played, or has been said: whatever was aimed at, this is the end."""
        self.state, self.reason, self.is_suspended = TournamentState.FINISHED, reason, False
        self.ended.set()

    def end(self) -> None:
        """It is there, and waits for nothing any more."""
        self.ended.set()
        self._arm(None)

    def _arm(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = None if seconds is None else loop.call_later(seconds, self.ended.set)
