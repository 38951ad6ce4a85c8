"""Whether a deal can be played to its end with these hands: always with the whole pack, not with any cards at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bots_sdk.rules.cards import EMPEROR_CARD, GUARD_JOKER, PACKS, SEATS, format_card
from bots_sdk.rules.errors import DealError
from bots_sdk.rules.events import Tribute
from bots_sdk.rules.hands import face_counts
from bots_sdk.rules.options import GuardBy, Options
from bots_sdk.rules.shuffle import pack


def verify_dealt(options: Options, hands: Sequence[bytes], tribute: Tribute | None) -> None:
    """Let through hands, and a tribute owed, that can be played (rules 10.5).

    Args:
        options: the rules.
        hands: card codes by seat. Together they may be less than the pack, as in an exercise or a test.
        tribute: what is owed from the deal before, if anything.

    Raises:
        DealError: the message says what is wrong.
    """
    if len(hands) != SEATS or sum(hand.count(EMPEROR_CARD) for hand in hands) != 1:
        raise DealError("a deal has five hands, and one of them has the emperor card")
    cards = bytes(sorted(b"".join(hands)))
    whole = pack(options)
    if cards != whole:
        _verify_part(options, cards, whole)
    if tribute is not None:
        _verify_tribute(hands, tribute)


def _verify_part(options: Options, cards: bytes, whole: bytes) -> None:
    if surplus := Counter(cards) - Counter(whole):
        card = min(surplus)
        # A byte may be no card at all.
        name = format_card(card) if card <= EMPEROR_CARD else f"card {card}"
        raise DealError(f"the hands hold {cards.count(card)} of {name}, and the pack has {whole.count(card)}")
    if options.guard_by is GuardBy.MARKED_JOKER:
        if GUARD_JOKER not in cards:
            raise DealError("GJ is missing, and with guard_by: marked_joker its holder is the guard")
        return
    for face, count in face_counts(cards, options.call_jokers):
        if count == PACKS - 1:  # somebody might call it
            name = format_card(face)
            raise DealError(f"the hands hold 3 of {name}, and the fourth is missing: its holder would be the guard")


def _verify_tribute(hands: Sequence[bytes], tribute: Tribute) -> None:
    if sum(cards for _, cards in tribute.pay) != sum(cards for _, cards in tribute.take):
        raise DealError("tribute: as many cards are taken as are paid")
    owed: Counter[int] = Counter()
    for seat, cards in tribute.pay:
        owed[seat] += cards
    for seat, number in owed.items():
        payable = sum(card not in (GUARD_JOKER, EMPEROR_CARD) for card in hands[seat])
        if number > payable:
            raise DealError(f"tribute: seat {seat} owes {number} cards and can pay {payable}")
