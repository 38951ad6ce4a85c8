"""A tournament as people see it: what the ledger says of it, and what its director says if it has one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from services.ledger.ledger import Ledger
from services.ledger.values import Entry, Page, Rulings, Totals, Tournament, TournamentState
from services.tournament.director import DirectorStatus
from services.tournament.servicer.plans import Plan, Plans, spec_of
from services.tournament.servicer.running import RunningTournament
from services.tournament.spec import EntryRules


@dataclass(frozen=True, slots=True)
class TournamentView:
    """One tournament. Before it was started nobody knows who plays: then `plan` is None, and `rules` say who may enter.

    `entries` are those who are in by then; afterwards the plan has them all.
    """

    tournament: Tournament
    plan: Plan | None
    totals: Totals
    status: DirectorStatus | None
    rulings: Rulings
    entries: tuple[Entry, ...] = ()
    rules: EntryRules | None = None

    @property
    def state(self) -> TournamentState:
        """Where it stands."""
        return self.status.state if self.status else self.tournament.state

    @property
    def message(self) -> str:
        """Why it stands there."""
        return self.status.message if self.status else self.tournament.message

    @property
    def left_out(self) -> int:
        """How many matches were found not to be played, since a bot in them is excluded."""
        if self.status is not None:
            return self.status.matches_left_out
        finished = self.tournament.state is TournamentState.FINISHED and self.rulings.exclusions
        return max(0, self.plan.report.matches - self.totals.matches) if finished and self.plan else 0


class Views:
    """Looks at tournaments; `running` are those that have directors. Every call blocks."""

    def __init__(self, ledger: Ledger, plans: Plans, running: Mapping[str, RunningTournament]) -> None:
        self._ledger = ledger
        self._plans = plans
        self._running = running

    def look(self, name: str) -> TournamentView:
        """One tournament. Raises PlatformError TOURNAMENT_UNKNOWN."""
        one = self._running.get(name)
        tournament = self._ledger.tournament(name)
        status = one.status if one else None
        totals, rulings = self._ledger.totals(name), self._ledger.rulings(name)
        plan = self.plan_of(tournament)
        if plan is not None:
            return TournamentView(tournament, plan, totals, status, rulings)
        entered = tuple(entry for entry in self._ledger.entries(name) if entry.is_in)
        return TournamentView(tournament, None, totals, status, rulings, entered, spec_of(tournament).entries)

    def page(self, after: str, limit: int, hidden: Collection[TournamentState] = ()) -> Page[TournamentView]:
        """Tournaments less those in `hidden` states, the newest first."""
        page = self._ledger.tournaments(after=after, limit=limit, hidden=hidden)
        return Page(tuple(self.look(tournament.name) for tournament in page.items), page.after)

    def plan_of(self, tournament: Tournament) -> Plan | None:
        """What is played, as soon as it is settled who plays: at the start, so never in one cancelled before."""
        if not tournament.state.has_begun:
            return None
        if tournament.state is TournamentState.CANCELLED and spec_of(tournament).entries is not None:
            return None
        return self._plans.of(tournament)
