"""Tables of stored tournaments, computed from the ledger and remembered until there are more results."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from threading import Lock

from services.common.errors import PlatformError, Reason
from services.ledger.ledger import Ledger
from services.ledger.values import Exclusion, Result, Tournament, TournamentState
from services.tournament.schedule import Timetable
from services.tournament.servicer.arrivals import Arrivals
from services.tournament.servicer.counting import Counting
from services.tournament.servicer.plans import Plan
from services.tournament.servicer.releases import holds_back_rounds
from services.tournament.servicer.scopes import Place, Scope, scopes_of, verify_stage, whole
from services.tournament.standings import MatchNumbers, Order, PlayedMatch, Standing, StandingsFold

_KEPT = 8
"""Tournaments whose tables are remembered; one that is asked for again after that is read again."""
_READ = 500
"""Results that are read at once."""


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
            try:
                self._take_in(kept, plan, tournament)
            except BaseException:
                kept.forget()  # what was found to be new, and is in no table yet, would not be found again
                raise
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
        name, schedule = plan.spec.name, plan.schedule
        new = kept.arrivals.find(self._ledger, name)
        counting = Counting(plan.spec, schedule, kept.exclusions, kept.arrivals)
        groups: Iterable[int] = (schedule.place(number)[0] for number in new)
        holds_back = holds_back_rounds(tournament, schedule)
        if not holds_back:
            groups, kept.held = chain(kept.held, groups), set()
        due = _due(kept, schedule, counting, _distinct(groups), holds_back=holds_back)
        while numbers := sorted(islice(due, _READ)):
            for result in self._ledger.results_of(name, numbers):
                scope, fold = kept.table_of(schedule, result.number)
                fold.add(scope.played(result))


def _due(
    kept: _Kept, schedule: Timetable, counting: Counting, groups: Iterable[int], *, holds_back: bool
) -> Iterator[int]:
    """Of matches that share their deals, group by group: those that count, may be seen, and are in no table yet.

    A result that is new may be what lets older ones of its group count (`counting.py`), or be seen (`releases.py`).
    """
    for group in groups:
        numbers = schedule.numbers(group)
        done = [number for number in numbers if number in kept.arrivals]
        if holds_back and len(done) < len(numbers):
            kept.held.add(group)
            continue
        kept.held.discard(group)
        for number in done:
            scope, fold = kept.table_of(schedule, number)
            if scope.inner(number) not in fold and counting.counts(schedule.match(number)):
                yield number


def _distinct(groups: Iterable[int]) -> Iterator[int]:
    """Each once."""
    before = MatchNumbers()
    for group in groups:
        if group not in before:
            before.add(group)
            yield group


class _Kept:
    """What is remembered of one table: `seen` is how far the ledger was, `lines` the tables made since.

    `arrivals` have results, and are in the `folds` but for those that do not count, and for the groups that are `held`
    back.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.folds: dict[Place, tuple[Scope, StandingsFold]] = {}
        self.arrivals = Arrivals(range(0))
        self.held: set[int] = set()
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
        spans = [(scope.outer(0), scope.outer(len(scope.schedule) - 1) + 1) for scope, _ in self.folds.values()]
        self.arrivals = Arrivals(range(min(start for start, _ in spans), max(stop for _, stop in spans)))
        self.held = set()
        self.seen = None

    def forget(self) -> None:
        """Begin anew when it is asked for again."""
        self.folds = {}

    def table_of(self, schedule: Timetable, number: int) -> tuple[Scope, StandingsFold]:
        """The table in which the match of this number is: one of the span of `arrivals`."""
        return self.folds.get(None) or self.folds[schedule.locate(number)[:2]]


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
