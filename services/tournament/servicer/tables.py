"""Tables of stored tournaments, computed from the ledger and remembered until there are more results."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from services.common.errors import PlatformError, Reason
from services.ledger.ledger import Ledger
from services.ledger.values import Exclusion, Result, TournamentState
from services.tournament.schedule import Schedule
from services.tournament.servicer.counting import Counting
from services.tournament.servicer.plans import Plan
from services.tournament.servicer.releases import without_open_rounds
from services.tournament.spec import Duplicate, TournamentSpec
from services.tournament.standings import Datum, DatumKind, Order, PlayedMatch, Standing, StandingsFold, bean_unit

_KEPT = 8
"""Tournaments whose tables are remembered; one that is asked for again after that is read again."""


class Tables:
    """Tables by tournament. What was read once is not read again: only new results are taken in. Thread-safe."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = Lock()
        # By name, those asked for last at the end.
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def of(self, plan: Plan, order: Order) -> list[Standing]:
        """The table of a tournament, best first. Blocks while it is computed.

        Raises PlatformError STATE_CONFLICT for an order that this tournament does not have.
        """
        name = plan.spec.name
        if order is Order.BEANS and not plan.spec.options.beans:
            raise PlatformError(
                Reason.STATE_CONFLICT,
                f"The tournament {name!r} has no table by beans: the option `beans` is off in it.",
                tournament=name,
            )
        with self._lock:
            kept = self._kept.setdefault(name, _Kept())
            self._kept.move_to_end(name)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        with kept.lock:
            return self._read(kept, plan, order)

    def _read(self, kept: _Kept, plan: Plan, order: Order) -> list[Standing]:
        """The table, with what is new in the ledger."""
        tournament = self._ledger.tournament(plan.spec.name)
        done = self._ledger.totals(plan.spec.name).matches
        retracted = self._ledger.retracted_count(plan.spec.name)
        fold = kept.fold
        exclusions = self._ledger.rulings(plan.spec.name).exclusions
        if fold is None or (kept.retracted, kept.exclusions) != (retracted, exclusions) or len(fold) > done:
            fold = kept.fold = fold_of(plan)
            kept.retracted, kept.exclusions, kept.seen = retracted, exclusions, None
        if kept.seen != (done, tournament.state):
            results = self._ledger.results(plan.spec.name, after=fold.missing - 1)
            counting = Counting(plan, exclusions, self._ledger.done_numbers(plan.spec.name) if exclusions else ())
            for result in without_open_rounds(self._ledger, tournament, plan.schedule, results):
                if result.number not in fold and counting.counts(plan.schedule.match(result.number)):
                    fold.add(played_match(plan, result))
            kept.seen, kept.lines = (done, tournament.state), {}
        if order not in kept.lines:
            moving = tournament.state in _MOVING and len(fold) < plan.report.matches
            kept.lines[order] = fold.standings(order, moving=moving)
        return kept.lines[order]


class _Kept:
    """What is remembered of one tournament: `seen` is how far the ledger was, `lines` the tables made since."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.fold: StandingsFold | None = None
        self.retracted = 0
        self.exclusions: tuple[Exclusion, ...] = ()
        self.seen: tuple[int, TournamentState] | None = None
        self.lines: dict[Order, list[Standing]] = {}


_MOVING = (TournamentState.RUNNING,)
"""States in which the next results are near."""


def fold_of(plan: Plan) -> StandingsFold:
    """The table of a tournament without a match."""
    options = plan.spec.options
    return StandingsFold(
        plan.spec.entrants,
        beans=options.beans,
        titles=options.titles,
        faults=plan.spec.faults,
        bean_unit=bean_unit(options),
        datum=datum_of(plan),
    )


def played_match(plan: Plan, result: Result) -> PlayedMatch:
    """A result as standings take it in: with what the schedule says of it."""
    match = plan.schedule.match(result.number)
    return PlayedMatch(result.number, match.group, match.entrants, result.deals, result.faults)


def datum_of(plan: Plan) -> Datum | None:
    """What the deals of this tournament are compared with, if with anything."""
    return datum_for(plan.spec, plan.schedule)


def datum_for(spec: TournamentSpec, schedule: Schedule) -> Datum | None:
    """The same without counts over the schedule."""
    if spec.duplicate is Duplicate.FIELD:
        return Datum(DatumKind.FIELD, schedule.field - 1)
    if spec.duplicate is Duplicate.PAR:
        return Datum(DatumKind.CONTROL, schedule.controls)
    return None
