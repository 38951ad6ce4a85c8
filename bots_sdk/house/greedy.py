"""The house bot `greedy`: plays whole groups, low ones first, spares its high cards, and leaves its partners alone."""

from __future__ import annotations

from bots_sdk.bot import Bot
from bots_sdk.rules.answers import PASS, WIND, Answer, Word
from bots_sdk.rules.cards import BIG, BIG_JOKER, SMALL, SMALL_JOKER, STRENGTH_OF
from bots_sdk.rules.hands import STRENGTH_TABLE
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.plays import Shape, size_of
from bots_sdk.rules.view import View

_WORTH = (0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.1, 1.5, 2.1, 3.2, 5.0, 7.0)
"""What a card of each strength is worth keeping, from a three to a big joker."""
_BREAKING = 0.8
"""What it costs to tear a group, on top of the cards themselves."""
_SHEDDING = 0.8
"""What every card gotten rid of is worth."""
_FEW_CARDS = 6
"""A seat with so few cards is about to go out."""

ACCEPT_FROM = 7.5
REVEAL_FROM = 9.0
ALONE_FROM = 19.0
"""How good a hand must be, by `hand_strength`: an average hand of the long pack has 7.2."""


class GreedyBot(Bot):
    """A simple player without memory or search: it decides from the view alone, always the same way.

    Args:
        seed: taken for the sake of a common form; nothing is left to chance.
    """

    def __init__(self, seed: int | str = 0) -> None:
        self.seed = seed

    def answer(self, view: View) -> Answer:
        """One of `view.legal()`."""
        if view.public.table is not None:
            return _follow(view)
        legal = view.legal()
        if len(legal) == 1:
            return legal[0]
        return _lead(view, legal) if view.phase is Phase.PLAY else _before_play(view, legal)


def hand_strength(hand: bytes) -> float:
    """How many tricks a hand may be good for: big jokers count 3, small ones 2, twos 1."""
    strengths = hand.translate(STRENGTH_TABLE)
    return 3.0 * strengths.count(BIG) + 2.0 * strengths.count(SMALL) + strengths.count(SMALL - 1)


def _before_play(view: View, legal: list[Answer]) -> Answer:
    strength = hand_strength(view.hand)
    phase = view.phase
    if phase is Phase.WINDOW:
        wanted = Word.SOLO if strength >= ALONE_FROM else Word.STAY
    elif phase is Phase.THRONE:
        wanted = Word.ACCEPT if strength >= ACCEPT_FROM else Word.PASS
    elif phase in (Phase.DECLARE, Phase.KICK):
        # Silence comes first, what doubles the points second.
        return legal[-1 if strength >= REVEAL_FROM else 0]
    elif phase is Phase.STAKE:
        return legal[-1 if strength >= REVEAL_FROM else 0]
    elif phase is Phase.CALL:
        return _call(legal, strength)
    else:
        return max(legal, key=_first_strength) if phase is Phase.TAKE else legal[0]
    return next((answer for answer in legal if answer.word is wanted), legal[0])


def _call(legal: list[Answer], strength: float) -> Answer:
    """A partner is worth more than a secret, unless the hand is strong; of the faces the highest one."""
    order = (Word.BRIGHT, Word.DARK, Word.CALL) if strength >= ALONE_FROM else (Word.CALL, Word.DARK, Word.BRIGHT)
    for word in order:
        answers = [answer for answer in legal if answer.word is word]
        if answers:
            return answers[-1]
    return legal[0]


def _first_strength(answer: Answer) -> int:
    return STRENGTH_OF[answer.cards[0]]


def _lead(view: View, legal: list[Answer]) -> Answer:
    """The whole group that is cheapest to lose for the cards it gets rid of."""
    hand = view.hand
    size = len(hand)
    strengths = hand.translate(STRENGTH_TABLE)
    sizes = view.public.sizes
    # Who is about to go out should not be handed the play to do it with.
    least = min((sizes[seat] for seat in range(5) if sizes[seat] and not view.on_my_side(seat)), default=len(hand))
    best, best_score = legal[0], -99.0
    for answer in legal:
        cards = answer.cards
        count = len(cards)
        if count == size:
            return answer
        first = cards[0]
        if cards[-1] >= SMALL_JOKER:
            # Jokers are led alone, one by one, when little else is left.
            if first < SMALL_JOKER or count > 1:
                continue
            strength = SMALL if first < BIG_JOKER else BIG
        else:
            strength = first >> 2
            if strengths.count(strength) != count:
                continue
        score = _SHEDDING * count - _WORTH[strength] * count
        if count <= least <= _FEW_CARDS:
            score -= 3.0 - strength * 0.3
        if score > best_score:
            best, best_score = answer, score
    return best


def _follow(view: View) -> Answer:
    """The cheapest play that beats the table, if it is worth its cards; else pass, and claim the lead where one can."""
    public = view.public
    hand = view.hand
    partner = view.on_my_side(public.owner)
    budget = _budget(view, partner)
    # Most answers are passes: see whether anything could be cheap enough before listing what there is.
    table = public.table
    if table is None or size_of(table) == len(hand) or not public.sizes[public.owner]:
        pass
    elif partner or _least_cost(table) >= budget:
        return PASS
    legal = view.legal()
    best = WIND if WIND in legal else PASS
    strengths = hand.translate(STRENGTH_TABLE)
    for answer in legal:
        if answer.word is not Word.PLAY:
            continue
        cards = answer.cards
        if len(cards) == len(hand):
            return answer
        cost = _cost(cards, strengths)
        if cost < budget and not partner:
            best, budget = answer, cost
    return best


def _least_cost(table: Shape) -> float:
    """What beating the table costs at the least: every card must be stronger than its counterpart."""
    cost = table.number * (_WORTH[table.rank + 1] - _SHEDDING) if table.number else 0.0
    cost += table.small * (_WORTH[BIG] - _SHEDDING)
    return cost + (table.big + table.special) * _WORTH[BIG]


def _budget(view: View, partner: bool | None) -> float:
    """What beating the table is worth."""
    budget = 5.0
    if partner is None and not view.is_emperor:
        # A rebel's unknown neighbour is more likely a rebel too; an emperor's is not.
        budget -= 0.8
    if view.public.sizes[view.public.owner] <= _FEW_CARDS:
        budget += 6.0 if partner is False else 3.0
    if len(view.hand) <= 2 * _FEW_CARDS:
        budget += 3.0
    return budget


def _cost(cards: bytes, strengths: bytes) -> float:
    cost = -_SHEDDING * len(cards)
    used = cards.translate(STRENGTH_TABLE)
    for strength in used:
        cost += _WORTH[strength]
    rank = used[0]
    if rank < SMALL and used.count(rank) != strengths.count(rank):
        cost += _BREAKING
    return cost
