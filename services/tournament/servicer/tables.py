"""Tables of stored tournaments, computed from the ledger and remembered until there are more results."""

from __future__ import annotations

from collections.abc import Iterator

from services.common.errors import PlatformError, Reason
from services.ledger.ledger import Ledger
from services.tournament.servicer.plans import Plan
from services.tournament.servicer.releases import without_open_rounds
from services.tournament.spec import Duplicate
from services.tournament.standings import Datum, DatumKind, Order, PlayedMatch, Standing, StandingsTable, bean_unit


class Tables:
    """Tables by tournament. Thread-safe enough: at worst one is computed twice."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        # By name: how many matches there were, whether that was all, and the table in each order it can be had.
        self._tables: dict[str, tuple[tuple[int, bool], dict[Order, list[Standing]]]] = {}

    def of(self, plan: Plan, order: Order) -> list[Standing]:
        """The table of a tournament, best first. Blocks while it is computed.

        Raises PlatformError STATE_CONFLICT for an order that this tournament does not have.
        """
        name, beans = plan.spec.name, plan.spec.options.beans
        if order is Order.BEANS and not beans:
            raise PlatformError(
                Reason.STATE_CONFLICT,
                f"The tournament {name!r} has no table by beans: the option `beans` is off in it.",
                tournament=name,
            )
        done = self._ledger.totals(name).matches, self._ledger.tournament(name).state.is_final
        known = self._tables.get(name)
        if known is None or known[0] != done:
            options = plan.spec.options
            table = StandingsTable(
                plan.spec.entrants,
                beans=beans,
                titles=options.titles,
                faults=plan.spec.faults,
                bean_unit=bean_unit(options),
                datum=datum_of(plan),
            )
            for match in self._played(plan):
                table.add(match)
            orders = list(Order) if beans else [Order.POINTS]
            known = self._tables[name] = (done, {one: table.standings(one) for one in orders})
        return known[1][order]

    def _played(self, plan: Plan) -> Iterator[PlayedMatch]:
        tournament = self._ledger.tournament(plan.spec.name)
        results = self._ledger.results(plan.spec.name)
        for result in without_open_rounds(self._ledger, tournament, plan.schedule, results):
            match = plan.schedule.match(result.number)
            yield PlayedMatch(result.number, match.group, match.entrants, result.deals, result.faults)


def datum_of(plan: Plan) -> Datum | None:
    """What the deals of this tournament are compared with, if with anything."""
    if plan.spec.duplicate is Duplicate.FIELD:
        return Datum(DatumKind.FIELD, plan.schedule.field - 1)
    if plan.spec.duplicate is Duplicate.PAR:
        return Datum(DatumKind.CONTROL, plan.schedule.controls)
    return None
