"""The table: mean points, and beans, per deal with a 95 % interval over deal blocks.

A deal block is one deal with all its rotations: its matches share their luck, so they are one observation of each
entrant and not five. Where a block has only some of its rotations yet, it weighs as many deals as it has.

The interval is Student's, on block means: mean ± t · s / √blocks. A bootstrap over blocks was the other candidate:
its percentile interval is too short with few blocks (89 % instead of 95 % at eight), and a mean over five hands is
close enough to normal for t to hold what it promises. The standard error is that of such a bootstrap, in closed form
instead of by drawing (`test_standings_by_role.py` draws, and compares). With blocks of unequal weight it is the
interval of a ratio of two sums, points over deals (Cochran, Sampling Techniques, 6.3); with equal weights the two are
the same.

A deal in which the platform decided for a seat is *spoiled* by it. For that seat it counts, by the rule of `paying`;
for the others it is left out, so that they neither gain nor lose by it. With rotation it is left out in its whole
block: whoever leaves out one of the five matches leaves out good hands or bad ones, and a bot could choose which.

Where deals are compared with a *datum* (`datum.py`) all that is made of it: a block is the deal at all its tables, and
everybody has one observation in it. What somebody spoiled is then left out at that table only: the others are compared
with the same hand, good or bad, so nobody gains by which deals are left out.

By role it is all the same again: the blocks in which an entrant was emperor, what it made as one, in how many deals.

All sums are sums of whole numbers, and blocks are taken in their own order, so the order of the results changes
nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction

import numpy as np

from bots_sdk.rules.titles import title_of
from services.common.matches import DealScore, FaultRules, OthersScore, SeatFaults
from services.tournament.standings.datum import Datum, DatumBlock, DatumKind, dealers
from services.tournament.standings.paying import NOTHING, Paid, paid_by
from services.tournament.standings.rating import RatedDeals, Rating
from services.tournament.standings.roles import Role, RoleStanding, role_of
from services.tournament.standings.student import t_quantile
from services.tournament.standings.values import Order, PlayedMatch, Standing

MIN_BLOCKS = 10
"""With fewer there is no interval: an entrant whose few blocks happen to agree would look far too sure."""
_UPPER = 0.975
_COLUMNS = {Order.POINTS: (0, 1), Order.BEANS: (2, 3)}
"""Where in a block is what was won, and in how many deals; behind them are points and beans as they were played."""
_ROLES = {role: (6 + 2 * role, 7 + 2 * role) for role in Role}
"""The same for points by role."""
_EMPTY = (0,) * 14


_Block = tuple[int, int]
"""Group and deal."""


class StandingsTable:
    """Takes in matches in any order and has the table ready at any time.

    Memory grows with entrants times blocks: some numbers for each block an entrant has played in.
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
        self._rules = faults or FaultRules()
        self._unit = bean_unit
        self._datum = datum
        self._scale = datum.scale if datum else 1
        self._rated = RatedDeals(len(self._names))
        self._held: dict[_Block, DatumBlock] = {}
        self._numbers: set[int] = set()
        # By entrant: block -> what `_COLUMNS` tells; of deals it has not spoiled, and of the others.
        self._blocks: list[dict[_Block, list[int]]] = [{} for _ in names]
        self._faulty: list[dict[_Block, list[int]]] = [{} for _ in names]
        # By block: who has spoiled a deal of it, as far as others are to be spared that.
        self._spoilers: dict[_Block, set[int]] = {}
        # By entrant: matches, deals, deals with beans, spoiled deals, points paid, beans paid.
        self._played = [[0, 0, 0, 0, 0, 0] for _ in names]
        # By entrant: timeouts, illegal answers, disconnects, takeovers.
        self._faults = [[0, 0, 0, 0] for _ in names]

    def add(self, match: PlayedMatch) -> None:
        """Takes in one match that counts.

        Raises:
            ValueError: its number was there before, or it names an entrant that does not exist; nothing is taken in.
        """
        if match.number in self._numbers:
            raise ValueError(f"Match {match.number} has two results; every scheduled match has one.")
        control = self._is_control(match)
        if not control and not all(0 <= entrant < len(self._names) for entrant in match.entrants):
            raise ValueError(f"Match {match.number} names entrants {match.entrants}; there are {len(self._names)}.")
        self._numbers.add(match.number)
        if self._datum is not None:
            for deal, dealer in zip(match.deals, dealers(match), strict=True):
                self._held.setdefault((match.group, deal.number), DatumBlock()).add(match.entrants, deal, dealer)
        if not control:
            self._count(match)

    def _is_control(self, match: PlayedMatch) -> bool:
        by_par = self._datum is not None and self._datum.kind is DatumKind.CONTROL
        return by_par and min(match.entrants) >= len(self._names)

    def _count(self, match: PlayedMatch) -> None:
        for deal in match.deals:
            block = (match.group, deal.number)
            if deal.spoiled and self._rules.others is OthersScore.BLOCK and self._datum is None:
                self._spoilers.setdefault(block, set()).update(match.entrants[seat] for seat in deal.spoiled)
            for seat, entrant in enumerate(match.entrants):
                self._take_in(deal, block, seat, entrant)
            if self._datum is None and self._is_rated(deal):
                self._rated.add(block, match.number, match.entrants, deal, deal.points)
        for seat, entrant in enumerate(match.entrants):
            self._played[entrant][0] += 1
            for kind, faults in enumerate(_counts(match.faults[seat])):
                self._faults[entrant][kind] += faults

    def _take_in(self, deal: DealScore, block: _Block, seat: int, entrant: int) -> None:
        has_beans = self._has_beans and deal.beans is not None
        spoils = seat in deal.spoiled
        played = self._played[entrant]
        played[1] += 1
        played[2] += has_beans
        played[3] += spoils
        if self._datum is not None:
            return  # what it made of the deal is known when the others have played it too
        if spoils or deal.faults[seat]:
            self._pay(entrant, block, paid_by(seat, deal, self._rules, self._unit), role_of(deal, seat), has_beans)
        if deal.spoiled and not spoils and self._rules.others is OthersScore.DEAL:
            return
        sums = (self._faulty if spoils else self._blocks)[entrant].setdefault(block, list(_EMPTY))
        sums[0] += deal.points[seat]
        sums[1] += 1
        sums[4] += deal.points[seat]
        if has_beans and deal.beans is not None:
            sums[2] += deal.beans[seat]
            sums[3] += 1
            sums[5] += deal.beans[seat]
        _add_to_role(sums, role_of(deal, seat), deal.points[seat], 1)

    def _pay(self, entrant: int, block: _Block, paid: Paid, role: Role | None, has_beans: bool) -> None:
        sums = self._faulty[entrant].setdefault(block, list(_EMPTY))
        sums[0] -= paid.points * self._scale
        sums[4] -= paid.points
        _add_to_role(sums, role, -paid.points * self._scale, 0)
        self._played[entrant][4] += paid.points
        if has_beans:
            sums[2] -= paid.beans * self._scale
            sums[5] -= paid.beans
            self._played[entrant][5] += paid.beans

    def _compare(self) -> None:
        """Everything against its datum, as far as the tables of each deal are there by now."""
        for entrant in range(len(self._names)):
            self._blocks[entrant].clear()
            self._faulty[entrant].clear()
            self._played[entrant][4:] = (0, 0)
        assert self._datum is not None
        self._rated = RatedDeals(len(self._names))
        for block, held in self._held.items():
            for deal, everybody in held.compared_tables(self._datum, len(self._names), self._rules, self._unit):
                if self._is_rated(deal) and all(one.deals for one in everybody):
                    entrants = [one.entrant for one in everybody]
                    points = [one.points / self._scale for one in everybody]
                    self._rated.add(block, min(entrants), entrants, deal, points)
            for one in held.compared(self._datum, len(self._names), self._rules, self._unit):
                has_beans = self._has_beans and one.beans is not None
                if one.paid is not NOTHING:
                    self._pay(one.entrant, block, one.paid, one.role, has_beans)
                if not one.deals or (one.spared and self._rules.others is not OthersScore.PLAYED):
                    continue
                sums = (self._faulty if one.spoils else self._blocks)[one.entrant].setdefault(block, list(_EMPTY))
                sums[0] += one.points
                sums[1] += 1
                sums[4] += one.raw
                if has_beans and one.beans is not None:
                    sums[2] += one.beans
                    sums[3] += 1
                    sums[5] += one.raw_beans
                _add_to_role(sums, one.role, one.points, 1)

    def standings(self, order: Order = Order.POINTS) -> list[Standing]:
        """The table as it is now, best first; entrants with the very same mean share a rank and are listed by name."""
        if self._datum is not None:
            self._compare()
        blocks = [list(self._counted(entrant).values()) for entrant in range(len(self._names))]
        means = [self._mean(entrant, blocks[entrant], order) for entrant in range(len(self._names))]
        entrants = sorted(range(len(self._names)), key=lambda entrant: _place(means[entrant], self._names[entrant]))
        table: list[Standing] = []
        for position, entrant in enumerate(entrants):
            tied = position > 0 and means[entrant] == means[entrants[position - 1]]
            table.append(self._standing(entrant, blocks[entrant], table[-1].rank if tied else position + 1))
        return table

    def means(self) -> list[Fraction | None]:
        """By entrant: mean points per deal as the table has them, exactly; None without a deal."""
        if self._datum is not None:
            self._compare()
        return [
            self._mean(entrant, list(self._counted(entrant).values()), Order.POINTS)
            for entrant in range(len(self._names))
        ]

    @property
    def numbers(self) -> Collection[int]:
        """The numbers of the matches that are in it."""
        return self._numbers

    def blocks(self) -> list[dict[_Block, tuple[float, int]]]:
        """By entrant: the points of each deal block that counts, as the mean has them, and in how many deals."""
        if self._datum is not None:
            self._compare()
        found = []
        for entrant in range(len(self._names)):
            counted = self._counted(entrant)
            found.append({block: (own[0] / self._scale, own[1]) for block, own in counted.items()})
        return found

    def ratings(self) -> list[Rating | None]:
        """The least-squares ratings, by entrant; None for those without a deal that can be rated.

        Deals that somebody spoiled tell nothing of how good anybody is, so they are out of it like out of the means of
        the others: with rotation in their whole block. What they cost is in the means alone.
        """
        if self._datum is not None:
            self._compare()
        return self._rated.ratings(self._spoilers)

    def _is_rated(self, deal: DealScore) -> bool:
        return not deal.spoiled or self._rules.others is OthersScore.PLAYED

    def _counted(self, entrant: int) -> dict[_Block, list[int]]:
        """The blocks of an entrant that count, in their order, without what somebody else has spoiled."""
        alone = ({entrant}, None)
        sums = {block: own for block, own in self._blocks[entrant].items() if self._spoilers.get(block) in alone}
        for block, own in self._faulty[entrant].items():
            sums[block] = [one + other for one, other in zip(own, sums.get(block, _EMPTY), strict=True)]
        return {block: own for block, own in sorted(sums.items()) if any(own)}

    def _mean(self, entrant: int, blocks: Sequence[Sequence[int]], order: Order) -> Fraction | None:
        """None without a deal. Whose deals were all spoiled by others has gained and lost nothing: 0."""
        won, counted = _COLUMNS[order]
        if not self._played[entrant][1 if order is Order.POINTS else 2]:
            return None
        deals = max(1, sum(block[counted] for block in blocks))
        return Fraction(sum(block[won] for block in blocks), deals * self._scale)

    def _standing(self, entrant: int, blocks: Sequence[Sequence[int]], rank: int) -> Standing:
        points, low, high = _mean_and_ends(blocks, _COLUMNS[Order.POINTS], self._scale)
        beans, beans_low, beans_high = (
            _mean_and_ends(blocks, _COLUMNS[Order.BEANS], self._scale) if self._has_beans else (None, None, None)
        )
        total = sum(block[4] for block in blocks)
        timeouts, illegal_answers, disconnects, takeovers = self._faults[entrant]
        matches, deals, _, spoiled, points_paid, beans_paid = self._played[entrant]
        return Standing(
            rank=rank,
            name=self._names[entrant],
            points_per_deal=points,
            low=low,
            high=high,
            matches=matches,
            deals=deals,
            blocks=sum(block[1] > 0 for block in blocks),
            timeouts=timeouts,
            illegal_answers=illegal_answers,
            disconnects=disconnects,
            takeovers=takeovers,
            points=total,
            title=title_of(total) if self._has_titles else "",
            beans=sum(block[5] for block in blocks) if self._has_beans else None,
            beans_per_deal=beans,
            beans_low=beans_low,
            beans_high=beans_high,
            counted=sum(block[1] for block in blocks),
            spoiled=spoiled,
            points_paid=points_paid,
            beans_paid=beans_paid if self._has_beans else None,
            roles=tuple(one for role in Role if (one := _of_role(role, blocks, self._scale)) is not None),
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


def interval(won: Sequence[int], deals: Sequence[int]) -> tuple[float, float | None]:
    """Mean per deal, and half the width of its 95 % interval (None with fewer than `MIN_BLOCKS` blocks).

    Args:
        won: an entrant's points (or beans) in each block, summed over its deals. The sum over all blocks is taken with
            Python's numbers: that of beans may be beyond 64 bits.
        deals: how many deals those are; none in a block of which only a penalty is left.
    """
    count, total = sum(number > 0 for number in deals), sum(deals)
    if total == 0:
        return float(sum(won)), None
    mean = sum(won) / total
    if count < MIN_BLOCKS:
        return mean, None
    residuals = np.array(won, dtype=np.float64) - mean * np.array(deals, dtype=np.float64)
    error = float(np.sqrt(count / (count - 1) * np.dot(residuals, residuals))) / total
    return mean, t_quantile(_UPPER, count - 1) * error


def _mean_and_ends(
    blocks: Sequence[Sequence[int]], columns: tuple[int, int], scale: int
) -> tuple[float, float | None, float | None]:
    """Mean per deal, and the two ends of its interval; what was won is `scale` times what it is."""
    won, counted = columns
    with_deals = [block for block in blocks if block[counted] or block[won]]
    mean, margin = interval([block[won] for block in with_deals], [block[counted] for block in with_deals])
    if margin is None:
        return mean / scale, None, None
    return mean / scale, (mean - margin) / scale, (mean + margin) / scale


def _add_to_role(sums: list[int], role: Role | None, won: int, deals: int) -> None:
    if role is not None:
        at, counted = _ROLES[role]
        sums[at] += won
        sums[counted] += deals


def _of_role(role: Role, blocks: Sequence[Sequence[int]], scale: int) -> RoleStanding | None:
    """None for a role in which no deal counts."""
    _, counted = _ROLES[role]
    deals = sum(block[counted] for block in blocks)
    if not deals:
        return None
    mean, low, high = _mean_and_ends(blocks, _ROLES[role], scale)
    return RoleStanding(role, deals, sum(block[counted] > 0 for block in blocks), mean, low, high)


def _place(mean: Fraction | None, name: str) -> tuple[bool, Fraction, str]:
    """Best mean first, whoever has none last, equal ones by name."""
    return mean is None, -mean if mean is not None else Fraction(0), name


def _counts(faults: SeatFaults) -> tuple[int, int, int, int]:
    return faults.timeouts, faults.illegal_answers, faults.disconnects, int(faults.taken_over)
