"""A match: deals between the same five seats, their shuffles, dealers, tributes and points (docs/rules.md, part 3)."""

from __future__ import annotations

from collections.abc import Callable

from bots_sdk.rules.answers import Answer
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.events import Event, Tribute
from bots_sdk.rules.options import Options
from bots_sdk.rules.result import DealResult
from bots_sdk.rules.shuffle import deal_out

MAX_VOIDS = 100
"""So many void shuffles of one deal, and the deal counts as void with 0 points: a match of five seats that never accept
must end too (rules 3.4). Among players who accept now and then it is out of reach."""


class Match:
    """A series of deals.

    Args:
        options: the rules.
        deals: how many deals are played.
        deck_for: the deck order of shuffle n of this match, as `shuffle.deck_order` gives it. Deal d begins with
            shuffle `100 * d`, and each void takes the next: what a void costs at one table does not shift the decks of
            later deals, so tables with the same secret stay comparable.

    Attributes:
        deal: the deal that is being played, or was the last.
        results: one result for each finished deal.
        shuffle: the number of the shuffle that `deal` was dealt from.
        shuffles: how many shuffles have been dealt.
    """

    __slots__ = ("_deck_for", "_voids", "deal", "deals", "options", "results", "shuffle", "shuffles")

    def __init__(self, options: Options, deals: int, deck_for: Callable[[int], bytes]) -> None:
        if deals < 1:
            raise ValueError("a match has at least one deal")
        self.options = options
        self.deals = deals
        self.deal = Deal(options)
        self.results: list[DealResult] = []
        self.shuffle = 0
        self.shuffles = 0
        self._voids = 0
        self._deck_for = deck_for

    @property
    def over(self) -> bool:
        """All deals are played."""
        return len(self.results) == self.deals

    @property
    def points(self) -> tuple[int, ...]:
        """The points so far, by seat; they add up to 0."""
        return tuple(sum(result.points[seat] for result in self.results) for seat in range(SEATS))

    def start(self) -> list[Event]:
        """Deal the first deal; see `Deal.start` for the events."""
        return self._deal_out(0, None)

    def answer(self, seat: int, answer: Answer) -> list[Event]:
        """See `Deal.answer`. When the deal is over afterwards and the match is not, go on with `next_deal`."""
        events = self.deal.answer(seat, answer)
        result = self.deal.result
        if result is not None:
            self._voids = self._voids + 1 if result.voided else 0
            if not result.voided or self._voids >= MAX_VOIDS:
                self._voids = 0
                self.results.append(result)
        return events

    def next_deal(self) -> list[Event]:
        """Deal the next deal, or deal a void one again: same dealer, same tribute owed, next shuffle.

        Raises:
            ValueError: a deal is still being played, or the match is over.
        """
        result = self.deal.result
        if result is None or self.over:
            raise ValueError("the match is over" if self.over else "the deal is not over")
        dealer = self.deal.public.dealer if result.emperor is None else result.emperor
        return self._deal_out(dealer, result.tribute)

    def _deal_out(self, dealer: int, tribute: Tribute | None) -> list[Event]:
        self.shuffle = len(self.results) * MAX_VOIDS + self._voids
        hands = deal_out(self.options, self._deck_for(self.shuffle), dealer)
        self.shuffles += 1
        self.deal, events = Deal.start(self.options, len(self.results), dealer, hands, tribute)
        return events
