"""Answers and hands as text and back: `play 9c 9d SJ`, `pass 2h`, `call 9c`, `stake 2` (docs/rules.md, part 10)."""

from __future__ import annotations

from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.cards import format_cards, parse_cards
from bots_sdk.rules.errors import NotationError
from bots_sdk.rules.hands import sorted_cards

SPECIAL_MARK = "!"
_WORDS = {word.name.lower(): word for word in Word}
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
    """The answer of a text; cards are sorted.

    Raises:
        NotationError: it is not in the notation.
    """
    name, *rest = text.split() or [""]
    word = _WORDS.get(name)
    if word is None:
        raise NotationError(f"{text!r}: an answer begins with one of {', '.join(_WORDS)}")
    if word is Word.STAKE:
        if len(rest) != 1 or not rest[0].isascii() or not rest[0].isdigit():
            raise NotationError(f"{text!r}: `stake` and one number, as in `stake 2`")
        return Answer(word, b"", int(rest[0]))
    special = word is Word.PLAY and rest[:1] == [SPECIAL_MARK]
    cards = sorted_cards(parse_cards(" ".join(rest[1:] if special else rest)))
    least, most = _CARDS_WANTED.get(word, (0, 0))
    if not least <= len(cards) <= most:
        raise NotationError(f"{text!r}: `{name}` takes {least} to {most} cards, not {len(cards)}")
    return Answer(word, cards, 0, special)


def parse_hand(text: str) -> bytes:
    """A hand as sorted card codes.

    Raises:
        NotationError: a text in it names no card.
    """
    return sorted_cards(parse_cards(text))
