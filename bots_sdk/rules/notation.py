"""Answers and hands as text and back: `play 9c 9d SJ`, `pass 2h`, `3ccd 9hhs SJ EJ` (docs/rules.md, part 10)."""

from __future__ import annotations

from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.cards import CARD_TEXTS, SMALL_JOKER, SUITS, format_cards, parse_card
from bots_sdk.rules.errors import NotationError
from bots_sdk.rules.hands import sorted_cards

SPECIAL_MARK = "!"
_WORDS = {word.name.lower(): word for word in Word}
_LONGEST_AMOUNT = 10
"""Digits: an amount on the wire has no more."""
_CARDS_WANTED = {
    Word.PASS: (0, 1),
    Word.CALL: (0, 1),
    Word.DARK: (0, 1),
    Word.BRIGHT: (0, 1),
    Word.PAY: (1, 1),
    Word.TAKE: (1, 1),
    Word.PLAY: (1, 56 * 4),
}


def format_answer(answer: Answer) -> str:
    """An answer as text; `!` before the cards of a play with the special card of a solo emperor."""
    parts = [answer.word.name.lower()]
    if answer.word is Word.STAKE:
        parts.append(str(answer.amount))
    if answer.special:
        parts.append(SPECIAL_MARK)
    if answer.cards:
        parts.append(format_cards(answer.cards))
    return " ".join(parts)


def parse_answer(text: str) -> Answer:
    """The answer of a text; cards are sorted, and may be written as in a hand (`play 9ccd SJ`).

    Raises:
        NotationError: it is not in the notation.
    """
    name, *rest = text.split() or [""]
    word = _WORDS.get(name)
    if word is None:
        raise NotationError(f"{text!r}: an answer begins with one of {', '.join(_WORDS)}")
    if word is Word.STAKE:
        if len(rest) != 1 or not rest[0].isascii() or not rest[0].isdigit() or len(rest[0]) > _LONGEST_AMOUNT:
            raise NotationError(f"{text!r}: `stake` and one number, as in `stake 2`")
        return Answer(word, b"", int(rest[0]))
    special = word is Word.PLAY and rest[:1] == [SPECIAL_MARK]
    cards = parse_hand(" ".join(rest[1:] if special else rest))
    least, most = _CARDS_WANTED.get(word, (0, 0))
    if not least <= len(cards) <= most:
        raise NotationError(f"{text!r}: `{name}` takes {least} to {most} cards, not {len(cards)}")
    return Answer(word, cards, 0, special)


def format_hand(cards: bytes) -> str:
    """A hand as text, cards of one rank together: `3ccd 9hhs SJ EJ`."""
    parts: list[str] = []
    for card in sorted_cards(cards):
        text = CARD_TEXTS[card]
        if card < SMALL_JOKER and parts and parts[-1][0] == text[0]:
            parts[-1] += text[1]
        else:
            parts.append(text)
    return " ".join(parts)


def parse_hand(text: str) -> bytes:
    """A hand as sorted card codes; every card by itself (`3c 3c 3d`) or those of a rank together (`3ccd`).

    >>> format_hand(parse_hand("EJ 3d 9h 3c 9hs 3c SJ"))
    '3ccd 9hhs SJ EJ'

    Raises:
        NotationError: a text in it names no card.
    """
    return sorted_cards(bytes(card for part in text.split() for card in _parse_together(part)))


def _parse_together(part: str) -> list[int]:
    if len(part) > 2 and not part[1:].strip(SUITS):
        return [parse_card(part[0] + suit) for suit in part[1:]]
    return [parse_card(part)]
