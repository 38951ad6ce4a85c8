"""The platform as the pages show it, put together from desk, lobby and ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from services.common.targets import Target
from services.ledger.ledger import Ledger
from services.ledger.values import TournamentState
from services.tournament.servicer import Desk
from services.tournament.servicer.views import TournamentView
from services.tournament.standings import Standing
from services.web.watching import BotCard, TournamentCard

SHOWN = 100
"""So many tournaments, and so many bots, are on the page."""


class PlatformView:
    """A `Watchable`: reads, changes nothing."""

    def __init__(
        self, desk: Desk, ledger: Ledger, is_attending: Callable[[str], bool], targets: Callable[[], list[Target]]
    ) -> None:
        self._desk = desk
        self._ledger = ledger
        self._is_attending = is_attending
        self._targets = targets

    async def tournaments(self) -> Sequence[TournamentCard]:
        """The newest tournaments, without drafts: whoever looks at the page is nobody in particular."""
        page = await self._desk.page("", SHOWN, hidden=(TournamentState.DRAFT,))
        return [_card(view) for view in page.items]

    async def standings(self, tournament: str) -> Sequence[Standing]:
        """The table of one."""
        return await self._desk.standings(tournament)

    async def bots(self) -> Sequence[BotCard]:
        """The registered bots, and who is in."""
        page = await asyncio.to_thread(self._ledger.bots, limit=SHOWN)
        return [BotCard(bot.name, bot.owner, bot.version, self._is_attending(bot.bot_id)) for bot in page.items]

    async def targets(self) -> Sequence[Target]:
        """Every process with metrics."""
        return self._targets()


def _card(view: TournamentView) -> TournamentCard:
    return TournamentCard(
        name=view.tournament.name,
        state=view.state,
        created_at=view.tournament.created_at,
        matches=view.plan.report.matches if view.plan else 0,
        matches_done=view.totals.matches,
        matches_running=view.status.matches_running if view.status else 0,
        deals_done=view.totals.deals,
        attempts_void=view.totals.attempts_void,
        faults=view.totals.faults,
        message=view.message,
        missing_bots=view.status.missing if view.status else (),
        entrants=tuple(entry.name for entry in view.entries),
        least=view.rules.min if view.rules else 0,
        most=view.rules.max if view.rules else 0,
        qualified=tuple(
            f"{one.name} ({one.rank}. of pool {one.pool})" for one in view.tournament.qualified if one.plays
        ),
    )
