"""The gate: from a token to whoever owns it, how often one may err, and what ends when a token ends.

A plain class for one event loop. Tokens are looked up by hash in the ledger and nowhere else, so one that is replaced
or revoked opens nothing from that moment on; what it has opened is told by `end`.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from services.access.callers import NOBODY, Caller
from services.access.needs import AccessRules
from services.access.tokens import hash_token
from services.common.buckets import Buckets, Rate
from services.common.clock import Clock
from services.common.errors import PlatformError, Reason, rate_limited
from services.common.metrics import LobbyMetrics
from services.common.scopes import Scope
from services.ledger.ledger import Ledger

FAILURES = Rate(per_second=1.0, burst=30)
"""Tokens that are nobody's, from one peer. A bot or a person errs a few times; who guesses needs 2^255 attempts."""

FAMILIAR_LIMIT = 10_000
"""So many tokens are remembered as having held; theirs are not among the guesses of a peer that guesses."""


class Gate:
    """Lets in whom the ledger knows."""

    def __init__(self, ledger: Ledger, rules: AccessRules, clock: Clock, metrics: LobbyMetrics) -> None:
        self.rules = rules
        self._ledger = ledger
        self._clock = clock
        self._metrics = metrics
        self._failures: Buckets[str] = Buckets(FAILURES)
        self._familiar: OrderedDict[bytes, None] = OrderedDict()
        self._open: dict[str, set[asyncio.Event]] = {}
        self._ends = 0

    async def identify(self, token: str, peer: str) -> Caller:
        """Whose token it is; `NOBODY` without one. What is returned holds at the moment of returning.

        Raises PlatformError TOKEN_UNKNOWN if it is nobody's, RATE_LIMITED if the peer has shown too many of these.
        """
        if not token:
            return NOBODY
        shown = hash_token(token)
        if shown not in self._familiar:
            self._verify_pace(peer)
        while True:
            ends = self._ends
            caller = await asyncio.to_thread(self._look_up, shown)
            if ends == self._ends:
                break
            # A token has ended meanwhile, maybe this one, and whatever hangs on it was told before we were among it.
        if caller is None:
            self._familiar.pop(shown, None)
            self._metrics.failed_authentications += 1
            self._failures.try_take(peer, self._clock.monotonic())
            raise token_unknown()
        self._remember(shown)
        return caller

    def _look_up(self, shown: bytes) -> Caller | None:
        if bot := self._ledger.bot_with_token(shown):
            return Caller(bot.name, frozenset({Scope.PLAY}), bot, shown)
        if token := self._ledger.access_token_with(shown):
            return Caller(token.name, token.scopes, None, shown)
        return None

    def _verify_pace(self, peer: str) -> None:
        """A peer that guesses is not even listened to; bots behind the same address that were in before are."""
        wait = self._failures.wait(peer, self._clock.monotonic())
        if wait > 0.0:
            raise rate_limited("Too many tokens that are nobody's came from this address.", wait)

    def _remember(self, shown: bytes) -> None:
        self._familiar[shown] = None
        self._familiar.move_to_end(shown)
        if len(self._familiar) > FAMILIAR_LIMIT:
            self._familiar.popitem(last=False)

    @contextmanager
    def watch(self, caller: Caller) -> Iterator[asyncio.Event]:
        """What is set when the caller's token ends while the context lasts."""
        ended = asyncio.Event()
        if not caller.is_known:
            yield ended
            return
        watching = self._open.setdefault(caller.key, set())
        watching.add(ended)
        try:
            yield ended
        finally:
            watching.discard(ended)
            if not watching and self._open.get(caller.key) is watching:
                del self._open[caller.key]

    def end(self, key: str) -> None:
        """The token of the caller with this key has ended; the ledger does not know it any more."""
        self._ends += 1
        for ended in self._open.get(key, ()):
            ended.set()


def token_unknown() -> PlatformError:
    """What is said of a token that does not hold, whatever the reason."""
    return PlatformError(Reason.TOKEN_UNKNOWN, "The token is nobody's: it is mistyped, or it was replaced or revoked.")
