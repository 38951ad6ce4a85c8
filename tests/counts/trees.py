"""Counts the whole tree of a deal: every legal answer of every seat, to the end. Equal positions are counted once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from bots_sdk.rules.answers import Answer
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.public import PublicState

Said = tuple[Answer, ...]
_PUBLIC = tuple(name for name in PublicState.__slots__ if name not in ("options", "history", "trick_start", "sizes"))


class Tree(NamedTuple):
    """Nodes in which a seat is asked (of several the lowest first), ends, void deals, openings counted as leaves."""

    decisions: int
    ended: int = 0
    voided: int = 0
    opened: int = 0

    @property
    def nodes(self) -> int:
        return sum(self)


def count_tree(deal: Deal, *, to_lead: bool = False, merge: bool = True) -> Tree:
    """The tree below a position.

    Args:
        deal: the position; it is left as it is.
        to_lead: go no further than to the first lead.
        merge: look up positions that were counted; without it every node is visited.
    """
    known: dict[Hashable, Tree] = {}

    def count(deal: Deal, said: Said) -> Tree:
        if deal.result is not None:
            return Tree(0, voided=1) if deal.result.voided else Tree(0, ended=1)
        if to_lead and deal.phase is Phase.PLAY:
            return Tree(0, opened=1)
        place = position(deal, said)
        found = known.get(place) if merge else None
        if found is None:
            found = known[place] = below(deal, said)
        return found

    def below(deal: Deal, said: Said) -> Tree:
        seat = deal.asked[0]
        trees = [Tree(1)]
        for answer in deal.legal(seat):
            after = deal.copy()
            sealed = not after.answer(seat, answer)
            trees.append(count(after, (*said, answer) if sealed else ()))
        return Tree(*map(sum, zip(*trees, strict=True)))

    return count(deal, ())


def position(deal: Deal, said: Said) -> Hashable:
    """All that bears on what may follow; the history does not."""
    views = [deal.view(seat) for seat in range(SEATS)]
    return (
        *(getattr(deal.public, name) for name in _PUBLIC),
        *((view.hand, view.answered, view.dark) for view in views),
        deal.hidden_guard,
        said,
    )
