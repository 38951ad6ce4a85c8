"""Tables of stored tournaments, computed from the ledger and remembered until there are more results."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile
from threading import Lock

from services.common.errors import PlatformError, Reason
from services.ledger.ledger import Ledger
from services.ledger.values import Exclusion, Result, Tournament, TournamentState
from services.tournament.servicer.counting import Counting
from services.tournament.servicer.plans import Plan
from services.tournament.servicer.releases import without_open_rounds
from services.tournament.servicer.scopes import Place, Scope, scopes_of, verify_stage, whole
from services.tournament.standings import Order, PlayedMatch, Standing, StandingsFold

_KEPT = 8
"""Tournaments whose tables are remembered; one that is asked for again after that is read again."""


class Tables:
    """Tables by tournament. What was read once is not read again: only new results are taken in. Thread-safe."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = Lock()
        # By name and stage, those asked for last at the end.
        self._kept: OrderedDict[tuple[str, int], _Kept] = OrderedDict()

    def of(self, plan: Plan, order: Order, stage: int = 0) -> list[Standing]:
        """The table of a tournament, best first, or of one of its stages: of pools one after another. Blocks while it
        is computed. `stage` counts from 1, 0 is the latest.

        Raises PlatformError STATE_CONFLICT for an order that this tournament does not have, or a stage whose line-up is
        not decided; MALFORMED for a stage that is not there.
        """
        name = plan.spec.name
        if order is Order.BEANS and not plan.spec.options.beans:
            raise PlatformError(
                Reason.STATE_CONFLICT,
                f"The tournament {name!r} has no table by beans: the option `beans` is off in it.",
                tournament=name,
            )
        stage = verify_stage(name, plan.schedule, stage)
        with self._lock:
            kept = self._kept.setdefault((name, stage), _Kept())
            self._kept.move_to_end((name, stage))
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        with kept.lock:
            return self._read(kept, plan, order, stage)

    def _read(self, kept: _Kept, plan: Plan, order: Order, stage: int) -> list[Standing]:
        """The table, with what is new in the ledger."""
        tournament = self._ledger.tournament(plan.spec.name)
        done = self._ledger.totals(plan.spec.name).matches
        retracted = self._ledger.retracted_count(plan.spec.name)
        exclusions = self._ledger.rulings(plan.spec.name).exclusions
        is_other = (kept.retracted, kept.exclusions) != (retracted, exclusions) or len(kept) > done
        if kept.is_new or is_other:
            kept.begin(scopes_of(plan.spec, plan.schedule, stage))
            kept.retracted, kept.exclusions = retracted, exclusions
        if kept.seen != (done, tournament.state):
            self._take_in(kept, plan, tournament)
            kept.seen, kept.lines = (done, tournament.state), {}
        if order not in kept.lines:
            is_moving = tournament.state in _MOVING
            vacant = frozenset(one.name for one in tournament.qualified if not one.plays)
            kept.lines[order] = [
                line
                for scope, fold in kept.folds.values()
                for line in _shown(scope, fold.standings(order, moving=is_moving and len(fold) < len(scope.schedule)))
                if not (scope.is_final and line.name in vacant)
            ]
        return kept.lines[order]

    def _take_in(self, kept: _Kept, plan: Plan, tournament: Tournament) -> None:
        """What has come since, as far as it may be seen and counts."""
        span = kept.span
        if not span:
            return
        name, exclusions = plan.spec.name, kept.exclusions
        counting = Counting(plan.spec, plan.schedule, exclusions, self._ledger.done_numbers(name) if exclusions else ())
        results = takewhile(lambda result: result.number in span, self._ledger.results(name, after=span.start - 1))
        for result in without_open_rounds(self._ledger, tournament, plan.schedule, results):
            found = kept.folds.get(None) or kept.folds.get(plan.schedule.locate(result.number)[:2])
            if found is None:
                continue
            scope, fold = found
            if scope.inner(result.number) not in fold and counting.counts(plan.schedule.match(result.number)):
                fold.add(scope.played(result))


class _Kept:
    """What is remembered of one table: `seen` is how far the ledger was, `lines` the tables made since."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.folds: dict[Place, tuple[Scope, StandingsFold]] = {}
        self.retracted = 0
        self.exclusions: tuple[Exclusion, ...] = ()
        self.seen: tuple[int, TournamentState] | None = None
        self.lines: dict[Order, list[Standing]] = {}

    def __len__(self) -> int:
        """How many matches are in it."""
        return sum(len(fold) for _, fold in self.folds.values())

    @property
    def is_new(self) -> bool:
        """Whether nothing has been begun yet."""
        return not self.folds

    def begin(self, scopes: Iterable[Scope]) -> None:
        """Forget everything, and begin anew with these."""
        self.folds = {scope.place: (scope, scope.fold()) for scope in scopes}
        self.seen = None

    @property
    def span(self) -> range:
        """The numbers of the matches that may be missing in it, and of others between."""
        missing = [
            scope.outer(fold.missing) for scope, fold in self.folds.values() if fold.missing < len(scope.schedule)
        ]
        stop = max(scope.outer(len(scope.schedule) - 1) + 1 for scope, _ in self.folds.values())
        return range(min(missing, default=stop), stop)


def _shown(scope: Scope, lines: list[Standing]) -> list[Standing]:
    """Those of the lines that are in the table, ranked among themselves."""
    shown: list[Standing] = []
    before: int | None = None
    for line in lines:
        if line.name in scope.shown:
            rank = shown[-1].rank if line.rank == before else len(shown) + 1
            before = line.rank
            shown.append(replace(line, rank=rank, pool=scope.pool))
    return shown


_MOVING = (TournamentState.RUNNING,)
"""States in which the next results are near."""


def fold_of(plan: Plan) -> StandingsFold:
    """The table of all of a tournament, without a match."""
    return whole(plan.spec, plan.schedule).fold()


def played_match(plan: Plan, result: Result) -> PlayedMatch:
    """A result as standings of all of a tournament take it in: with what the schedule says of it."""
    return whole(plan.spec, plan.schedule).played(result)
