"""The table: mean points, and beans, per deal with a 95 % interval over deal blocks, in the whole and by role. Pure.

What counts for whom is in `accounts.py`, what a block is and how sure a mean is in `intervals.py`. By role it is all
the same: the blocks in which an entrant was emperor, what it made as one, in how many deals.

All sums are sums of whole numbers, and blocks are taken in their own order, so the order of the results changes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from bots_sdk.rules.titles import title_of
from services.common.matches import FaultRules, SeatFaults
from services.tournament.standings.accounts import Account, Accounts, Price
from services.tournament.standings.datum import Datum, DatumKind
from services.tournament.standings.deals import PlayedDeals
from services.tournament.standings.intervals import by_block, mean_and_ends
from services.tournament.standings.match_numbers import MatchNumbers
from services.tournament.standings.rating import Rating, rate
from services.tournament.standings.roles import AGAINST_SOLO, Role, RoleStanding
from services.tournament.standings.skills import Game
from services.tournament.standings.stopping import Blocks
from services.tournament.standings.values import Order, PlayedMatch, Standing


class StandingsTable:
    """Takes in matches in any order and has the table ready at any time.

    Memory grows with the deals alone: a byte for most of their numbers, some thirty a deal and some sixty with beans.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        beans: bool = False,
        titles: bool = False,
        faults: FaultRules | None = None,
        bean_unit: int = 1,
        datum: Datum | None = None,
    ) -> None:
        """The entrants' names, by index; whether deals are settled in beans, and whether points carry titles.

        `faults` says what spoiled deals are worth, `bean_unit` how many beans go with a point. With a `datum` deals are
        compared; who has a number behind the entrants is then at a control table.
        """
        self._names = tuple(names)
        self._has_beans = beans
        self._has_titles = titles
        self._price = Price(faults or FaultRules(), bean_unit, datum)
        self._deals = PlayedDeals()
        self.numbers = MatchNumbers()
        # By entrant: matches, timeouts, illegal answers, disconnects, takeovers.
        self._counts = [[0, 0, 0, 0, 0] for _ in names]

    def add(self, match: PlayedMatch) -> None:
        """Takes in one match that counts.

        Raises:
            ValueError: its number was there before, or it names an entrant that does not exist; nothing is taken in.
        """
        if match.number in self.numbers:
            raise ValueError(f"Match {match.number} has two results; every scheduled match has one.")
        control = self._is_control(match)
        if not control and not all(0 <= entrant < len(self._names) for entrant in match.entrants):
            raise ValueError(f"Match {match.number} names entrants {match.entrants}; there are {len(self._names)}.")
        self.numbers.add(match.number)
        self._deals.add(match)
        if not control:
            for entrant, faults in zip(match.entrants, match.faults, strict=True):
                for place, count in enumerate((1, *_counts(faults))):
                    self._counts[entrant][place] += count

    def _is_control(self, match: PlayedMatch) -> bool:
        by_par = self._price.datum is not None and self._price.datum.kind is DatumKind.CONTROL
        return by_par and min(match.entrants) >= len(self._names)

    def standings(self, order: Order = Order.POINTS) -> list[Standing]:
        """The table as it is now, best first; entrants with the very same mean share a rank and are listed by name."""
        accounts = self._accounts(beans=self._has_beans)
        lines = []
        for entrant in range(len(self._names)):
            account = accounts.of(entrant)
            lines.append((self._mean(account, order), self._standing(entrant, account)))
        lines.sort(key=lambda one: _place(one[0], one[1].name))
        table: list[Standing] = []
        for position, (mean, line) in enumerate(lines):
            tied = position > 0 and mean == lines[position - 1][0]
            table.append(replace(line, rank=table[-1].rank if tied else position + 1))
        return table

    def means(self) -> list[Fraction | None]:
        """By entrant: mean points per deal as the table has them, exactly; None without a deal."""
        accounts = self._accounts(beans=False)
        return [self._mean(accounts.of(entrant), Order.POINTS) for entrant in range(len(self._names))]

    def blocks(self) -> list[Blocks]:
        """By entrant: the points of each deal block that counts, as the mean has them, and in how many deals."""
        accounts, found = self._accounts(beans=False), []
        for entrant in range(len(self._names)):
            account = accounts.of(entrant)
            blocks, won, deals = by_block(account.blocks, account.points.won, account.points.deals)
            points = np.array([one / self._price.scale for one in won.tolist()], dtype=np.float64)
            found.append(Blocks(blocks, points, deals))
        return found

    def ratings(self) -> list[Rating | None]:
        """The least-squares ratings, by entrant; None for those without a deal that can be rated."""
        return rate(self._accounts(beans=False).rated(), len(self._names))

    def games(self, numbers: range) -> Iterator[tuple[int, Game]]:
        """The matches with these numbers, in their order: who played, and what each made in all deals together."""
        deals = self._deals.columns()
        rows = np.flatnonzero((deals.match >= numbers.start) & (deals.match < numbers.stop))
        rows = rows[np.argsort(deals.match[rows], kind="stable")]
        numbers_of = deals.match[rows]
        starts = np.flatnonzero(np.diff(numbers_of, prepend=-1))
        for start, stop in pairwise([*starts.tolist(), len(rows)]):
            own = rows[start:stop]
            entrants = tuple(deals.entrants[own[0]].tolist())
            if min(entrants) < len(self._names):
                points = tuple(deals.points[own].sum(axis=0, dtype=np.int64).tolist())
                yield int(numbers_of[start]), (entrants, points)

    def _accounts(self, *, beans: bool) -> Accounts:
        return Accounts(self._deals.columns(), len(self._names), self._price, beans=beans)

    def _mean(self, account: Account, order: Order) -> Fraction | None:
        """None without a deal. Whose deals were all spoiled by others has gained and lost nothing: 0."""
        amounts = account.points if order is Order.POINTS else account.beans
        if amounts is None or not (account.played if order is Order.POINTS else account.played_in_beans):
            return None
        deals = max(1, int(amounts.deals.sum()))
        return Fraction(int(amounts.won.sum()), deals * self._price.scale)

    def _standing(self, entrant: int, account: Account) -> Standing:
        """The line of an entrant, without its rank."""
        scale, beans = self._price.scale, account.beans
        _, won, deals = by_block(account.blocks, account.points.won, account.points.deals)
        points, low, high = mean_and_ends(won, deals, scale)
        beans_per_deal, beans_low, beans_high = _beans_and_ends(account, scale)
        matches, timeouts, illegal_answers, disconnects, takeovers = self._counts[entrant]
        return Standing(
            rank=0,
            name=self._names[entrant],
            points_per_deal=points,
            low=low,
            high=high,
            matches=matches,
            deals=account.played,
            blocks=int(np.count_nonzero(deals)),
            timeouts=timeouts,
            illegal_answers=illegal_answers,
            disconnects=disconnects,
            takeovers=takeovers,
            points=account.points.raw,
            title=title_of(account.points.raw) if self._has_titles else "",
            beans=beans.raw if beans else None,
            beans_per_deal=beans_per_deal,
            beans_low=beans_low,
            beans_high=beans_high,
            counted=int(deals.sum()),
            spoiled=account.spoiled,
            points_paid=account.points.paid,
            beans_paid=beans.paid if beans else None,
            roles=tuple(one for role in Role if (one := _of_role(role, account, scale)) is not None),
        )


def compute_standings(
    names: Sequence[str], matches: Iterable[PlayedMatch], faults: FaultRules | None = None
) -> list[Standing]:
    """The table of a tournament, by points, from its matches that count, in any order, best first.

    Raises:
        ValueError: a match is there twice, or names an entrant that does not exist.
    """
    table = StandingsTable(names, faults=faults)
    for match in matches:
        table.add(match)
    return table.standings()


def _beans_and_ends(account: Account, scale: int) -> tuple[float | None, float | None, float | None]:
    if account.beans is None:
        return None, None, None
    _, won, deals = by_block(account.blocks, account.beans.won, account.beans.deals)
    return mean_and_ends(won, deals, scale)


def _of_role(role: Role, account: Account, scale: int) -> RoleStanding | None:
    """None for a role in which no deal counts."""
    had = account.kinds == role
    if role is Role.REBEL:
        had |= account.kinds == AGAINST_SOLO
    _, won, deals = by_block(account.blocks[had], account.points.won[had], account.points.deals[had])
    if not deals.any():
        return None
    mean, low, high = mean_and_ends(won, deals, scale)
    return RoleStanding(role, int(deals.sum()), int(np.count_nonzero(deals)), mean, low, high)


def _place(mean: Fraction | None, name: str) -> tuple[bool, Fraction, str]:
    """Best mean first, whoever has none last, equal ones by name."""
    return mean is None, -mean if mean is not None else Fraction(0), name


def _counts(faults: SeatFaults) -> tuple[int, int, int, int]:
    return faults.timeouts, faults.illegal_answers, faults.disconnects, int(faults.taken_over)
