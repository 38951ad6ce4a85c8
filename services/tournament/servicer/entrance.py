"""The entrance: what is done with a tournament before it is started, and the start itself. No gRPC, no Ray."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from weakref import WeakValueDictionary

from services.common.buckets import Buckets, Rate
from services.common.clock import Clock
from services.common.errors import PlatformError, Reason, rate_limited
from services.ledger import tournaments
from services.ledger.ledger import Ledger
from services.ledger.values import Side, Tournament, TournamentState
from services.tournament.servicer.planner import Planner
from services.tournament.servicer.plans import Plan, Plans, make_plan, sketch, spec_of
from services.tournament.servicer.verbs import Verb, verify_allowed
from services.tournament.spec import (
    EntryRules,
    SpecError,
    TournamentSpec,
    format_spec,
    house_bot_id,
    line_up_of,
    may_enter,
    parse_spec,
    with_line_up,
    wrong_bot,
)

_log = logging.getLogger(__name__)

CHANGES = Rate(per_second=0.2, burst=20)
"""How often one bot may enter and leave: each is a write to the ledger, and a change of mind or two is enough."""


class Entrance:
    """What comes before the start. `new_seed` draws a seed.

    Who plays changes for one tournament in one place at a time, so that a start, which takes seconds to plan, settles
    what it has looked at; the ledger makes sure of it as well.
    """

    def __init__(
        self, ledger: Ledger, planner: Planner, plans: Plans, new_seed: Callable[[], str], clock: Clock
    ) -> None:
        self._ledger = ledger
        self._planner = planner
        self._plans = plans
        self._new_seed = new_seed
        self._clock = clock
        self._changes: Buckets[str] = Buckets(CHANGES)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._news: WeakValueDictionary[str, asyncio.Event] = WeakValueDictionary()  # held by who waits for it

    async def read(self, spec_yaml: str) -> TournamentSpec:
        """The specification of a text. Raises PlatformError SPEC_INVALID or RATE_LIMITED."""
        spec = await self._planner.do(lambda: read_spec(spec_yaml))
        return spec if spec.seed is not None else replace(spec, seed=self._new_seed())

    async def plan(self, spec_yaml: str) -> Plan:
        """What a specification would come to, where bots may enter with the fewest. Raises as `read`."""
        spec = await self.read(spec_yaml)
        return await self._planner.do(lambda: sketch(spec))

    async def create(self, spec_yaml: str, state: TournamentState) -> str:
        """Stores a tournament, and settles at once who plays if it is to be running; its name.

        Raises PlatformError SPEC_INVALID, RATE_LIMITED, TOURNAMENT_EXISTS, BOT_UNKNOWN, STATE_CONFLICT with too few.
        """
        spec = await self.read(spec_yaml)
        await asyncio.to_thread(self._verify_registered, spec.bots)
        plan = None
        if state.has_begun:
            await asyncio.to_thread(self._verify_new, spec.name)
            spec = settle(spec, spec.bots, "; to let others enter first: `baohuang tournament create --open`")
            plan = await self._planner.do(lambda: make_plan(spec))
        else:
            spec = replace(spec, entries=spec.entries or EntryRules())
        text, secret = _parted(spec)
        await asyncio.to_thread(
            self._ledger.create_tournament, spec.name, text, secret, state=state, entrants=spec.bots
        )
        if plan is not None:
            self._plans.remember(plan)
        _log.info("tournament %s created", spec.name, extra={"state": str(state), "bots": len(spec.bots)})
        return spec.name

    async def edit(self, spec_yaml: str) -> str:
        """Puts another specification in the place of the draft of its name; that name.

        Raises PlatformError SPEC_INVALID, RATE_LIMITED, BOT_UNKNOWN, TOURNAMENT_UNKNOWN or STATE_CONFLICT.
        """
        spec = await self._planner.do(lambda: read_spec(spec_yaml))
        async with self.holding(spec.name):
            stored = await self._verified(spec.name, Verb.EDIT)
            await asyncio.to_thread(self._verify_registered, spec.bots)
            seed = stored.secret.decode() if spec.seed is None else spec.seed
            text, secret = _parted(replace(spec, seed=seed, entries=spec.entries or EntryRules()))
            await asyncio.to_thread(self._ledger.replace_draft, spec.name, text, secret, spec.bots)
            self._tell(spec.name)
        return spec.name

    async def open(self, name: str) -> None:
        """Lets bots enter. Raises PlatformError TOURNAMENT_UNKNOWN or STATE_CONFLICT."""
        async with self.holding(name):
            stored = await self._verified(name, Verb.OPEN)
            if stored.state is not TournamentState.OPEN:
                await asyncio.to_thread(
                    self._ledger.transition, name, [TournamentState.DRAFT], TournamentState.OPEN, stored.message
                )
                self._tell(name)

    async def enter(self, name: str, bot: str, by: Side) -> None:
        """A bot will play. Raises PlatformError TOURNAMENT_UNKNOWN, BOT_UNKNOWN, STATE_CONFLICT or RATE_LIMITED."""
        if by is Side.OPERATOR:
            await asyncio.to_thread(self._verify_registered, [bot])
        else:
            self._verify_pace(bot)
        async with self.holding(name):
            stored = await self._verified(name, Verb.ENTER, by)
            rules = spec_of(stored).entries or EntryRules()
            if by is Side.BOT and not may_enter(rules, bot):
                message = f"{bot!r} is not among those who may enter {name!r}: {', '.join(rules.names)}."
                raise PlatformError(Reason.STATE_CONFLICT, message, tournament=name, bot=bot)
            await asyncio.to_thread(self._ledger.enter, name, bot, by, rules.max)
            self._tell(name)
        _log.info("%s entered %s", bot, name, extra={"by": str(by)})

    async def withdraw(self, name: str, bot: str, by: Side) -> None:
        """A bot will not play after all; by an operator it cannot come back by itself. Raises as `enter`."""
        if by is Side.BOT:
            self._verify_pace(bot)
        async with self.holding(name):
            await self._verified(name, Verb.WITHDRAW, by)
            await asyncio.to_thread(self._ledger.withdraw, name, bot, by)
            self._tell(name)
        _log.info("%s withdrawn from %s", bot, name, extra={"by": str(by)})

    async def start(self, name: str) -> None:
        """Settles who plays; whoever holds the tournament meanwhile then has it played.

        Raises PlatformError TOURNAMENT_UNKNOWN; RATE_LIMITED; STATE_CONFLICT if it is over, or there cannot be a
        schedule for those who have entered.
        """
        stored = await self._verified(name, Verb.START)
        if stored.state.has_begun:
            return
        entered = [one.name for one in await asyncio.to_thread(self._ledger.entries, name) if one.is_in]
        spec = await self._planner.do(lambda: settle(spec_of(stored), entered))
        plan = await self._planner.do(lambda: make_plan(spec))
        text, _ = _parted(spec)
        await asyncio.to_thread(self._ledger.start_tournament, name, stored, entered, text)
        self._plans.remember(plan)
        self._tell(name)
        _log.info("tournament %s started", name, extra={"matches": len(plan.schedule), "bots": len(spec.bots)})

    @asynccontextmanager
    async def holding(self, name: str) -> AsyncIterator[None]:
        """Nobody else changes who plays in it."""
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock:
            yield

    async def wait_for_news(self, name: str) -> None:
        """Until something of it has changed."""
        event = self._news.setdefault(name, asyncio.Event())
        await event.wait()

    def tell_cancelled(self, name: str) -> None:
        """It comes to nothing: who waits for news hears of it."""
        self._tell(name)

    def _tell(self, name: str) -> None:
        if (news := self._news.pop(name, None)) is not None:
            news.set()

    async def _verified(self, name: str, verb: Verb, by: Side = Side.OPERATOR) -> Tournament:
        stored = await asyncio.to_thread(self._ledger.tournament, name)
        if by is Side.BOT and stored.state is TournamentState.DRAFT:  # which is nobody's business yet
            raise tournaments.unknown(name)
        verify_allowed(name, stored.state, verb)
        return stored

    def _verify_pace(self, bot: str) -> None:
        if (wait := self._changes.try_take(bot, self._clock.monotonic())) > 0.0:
            raise rate_limited(f"{bot!r} enters and leaves too often.", wait)

    def _verify_new(self, name: str) -> None:
        """Before anything else is said of a tournament that is there already, and before it is planned again."""
        try:
            self._ledger.tournament(name)
        except PlatformError as error:
            if error.reason is Reason.TOURNAMENT_UNKNOWN:
                return
            raise
        raise tournaments.exists(name)

    def _verify_registered(self, names: Collection[str]) -> None:
        remote = [name for name in names if house_bot_id(name) is None]
        known = self._ledger.bots_named(remote)
        unknown = [name for name in remote if name not in known]
        if unknown:
            shown = ", ".join(map(repr, unknown))
            message = f"No bot is registered under the name {shown}."
            raise PlatformError(Reason.BOT_UNKNOWN, message, bots=", ".join(unknown))
        for name in names:
            if wrong := wrong_bot(name):
                raise PlatformError(Reason.BOT_UNKNOWN, f"There is no such bot: {wrong}", bots=name)


def read_spec(spec_yaml: str) -> TournamentSpec:
    """The specification; raises PlatformError SPEC_INVALID with every problem, each with its key and line."""
    try:
        return parse_spec(spec_yaml)
    except SpecError as error:
        first = error.problems[0]
        problems = " ".join(str(problem) for problem in error.problems)
        raise PlatformError(
            Reason.SPEC_INVALID, f"The specification is wrong: {problems}", key=first.path, line=str(first.line)
        ) from None


def settle(spec: TournamentSpec, entered: Collection[str], advice: str = "") -> TournamentSpec:
    """The specification with those who play in it.

    Raises PlatformError STATE_CONFLICT if they cannot be all; where they are too few it ends with `advice`.
    """
    if spec.entries is None:
        return spec
    line_up, name = line_up_of(spec, entered), spec.name
    entrants = "1 entrant" if len(line_up) == 1 else f"{len(line_up)} entrants"
    if len(line_up) < spec.entries.min:
        raise PlatformError(
            Reason.STATE_CONFLICT,
            f"The tournament {name!r} cannot start: it has {entrants} and needs {spec.entries.min} at least{advice}.",
            tournament=name,
            entrants=str(len(line_up)),
            needs=str(spec.entries.min),
        )
    settled = with_line_up(spec, line_up)
    try:
        return replace(parse_spec(format_spec(replace(settled, seed=None))), seed=spec.seed)
    except SpecError as error:
        said = " ".join(f"{problem.path}: {problem.message}" for problem in error.problems)
        message = f"The tournament {name!r} cannot start with {entrants}: {said}"
        raise PlatformError(Reason.STATE_CONFLICT, message, tournament=name, entrants=str(len(line_up))) from None


def _parted(spec: TournamentSpec) -> tuple[str, bytes]:
    """Text and secret: whoever knows the seed knows the deals, so it is not in the text that everybody may read."""
    assert spec.seed is not None
    return format_spec(replace(spec, seed=None)), spec.seed.encode()
