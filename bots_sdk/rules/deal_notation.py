"""A whole deal as text that a person can read and type (docs/rules.md, part 10)."""

from __future__ import annotations

from dataclasses import dataclass

from bots_sdk.rules.answers import Answer
from bots_sdk.rules.cards import EMPEROR_CARD, SEATS
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.errors import NotationError, OptionsError
from bots_sdk.rules.events import Event, Tribute
from bots_sdk.rules.notation import format_answer, format_hand, parse_answer, parse_hand
from bots_sdk.rules.options import Options
from bots_sdk.rules.profiles import PROFILES, format_options, make_options

Shares = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class WrittenDeal:
    """A deal as it is written down; nothing says yet that its answers are legal.

    Attributes:
        options: the rules.
        dealer: the seat dealt the first card.
        hands: five hands as dealt, sorted card codes.
        tribute: what is owed from the deal before; None without tribute.
        answers: seat and answer, in order. They may stop anywhere.
    """

    options: Options
    dealer: int
    hands: tuple[bytes, ...]
    tribute: Tribute | None = None
    answers: tuple[tuple[int, Answer], ...] = ()

    def start(self) -> tuple[Deal, list[Event]]:
        """The deal before the first answer, and its first events.

        Raises:
            DealError: with these hands, or this tribute, it could not be played to its end.
        """
        return Deal.start(self.options, 0, self.dealer, self.hands, self.tribute)

    def play(self) -> Deal:
        """The deal after the last answer.

        Raises:
            DealError: see `start`.
            IllegalAnswer: the rules do not allow an answer.
        """
        deal, _ = self.start()
        for seat, answer in self.answers:
            deal.answer(seat, answer)
        return deal


# -------------------------------------------------------------------------------------------------------------- rules


def format_rules(options: Options) -> str:
    """The profile that comes nearest, and what is different from it: `qingdao hold_back=3 stakes=1,2`."""
    plain = format_options(options)
    changes = {
        name: {key: value for key, value in plain.items() if value != profile[key]}
        for name, profile in ((name, format_options(profile)) for name, profile in PROFILES.items())
    }
    nearest = min(changes, key=lambda name: len(changes[name]))
    return " ".join([nearest, *(f"{key}={_format_value(value)}" for key, value in changes[nearest].items())])


def parse_rules(text: str) -> Options:
    """The options of a text as `format_rules` gives it.

    Raises:
        NotationError: it names no profile, no option, or a value that is not allowed.
    """
    profile, *changes = text.split() or [""]
    overrides: dict[str, object] = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals:
            raise NotationError(f"{change!r}: a change of an option is KEY=VALUE, as in hold_back=3")
        overrides[key] = _parse_value(value, listed=isinstance(getattr(Options(), key, None), tuple))
    try:
        return make_options(profile, overrides)
    except OptionsError as error:
        raise NotationError(str(error)) from error


def _format_value(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parse_value(text: str, *, listed: bool) -> object:
    if listed:
        return [int(part) if _is_number(part) else part for part in text.split(",")]
    if text in ("true", "false"):
        return text == "true"
    return int(text) if _is_number(text) else text


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


# --------------------------------------------------------------------------------------------------------------- deals


def format_deal(written: WrittenDeal) -> str:
    """The deal as text, a line for each thing."""
    lines = [f"rules {format_rules(written.options)}", f"dealer {written.dealer}"]
    if written.tribute is not None:
        pay, take = (_format_shares(shares) for shares in written.tribute)
        lines.append(f"tribute pay{pay} take{take}")
    lines += [f"hand {seat} {format_hand(hand)}".rstrip() for seat, hand in enumerate(written.hands)]
    lines += [f"{seat} {format_answer(answer)}" for seat, answer in written.answers]
    return "\n".join(lines) + "\n"


def parse_deal(text: str) -> WrittenDeal:
    r"""The deal of a text; empty lines and what stands behind a `#` are ignored.

    >>> deal = parse_deal(
    ...     "rules qingdao grab=none\n"
    ...     "dealer 0\n"
    ...     "hand 0 3d 9ccc EJ\n"
    ...     "hand 1 6d 9c\n"
    ...     "hand 2 5d 8d\n"
    ...     "hand 3 5h 8h\n"
    ...     "hand 4 5s SJ\n"
    ...     "0 accept\n"
    ...     "0 call 9c   # seat 1 is the guard\n"
    ... )
    >>> deal.play().hidden_guard
    1

    Raises:
        NotationError: a line is not in the notation, or something is missing; the message names the line.
    """
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            try:
                reader.read(words)
            except NotationError as error:
                raise NotationError(f"line {number}: {error}") from error
    return reader.written()


class _Reader:
    """What was read so far."""

    def __init__(self) -> None:
        self._options: Options | None = None
        self._dealer: int | None = None
        self._tribute: Tribute | None = None
        self._hands: dict[int, bytes] = {}
        self._answers: list[tuple[int, Answer]] = []

    def read(self, words: list[str]) -> None:
        """Take a line in."""
        kind, *rest = words
        if kind == "rules" and self._options is None:
            self._options = parse_rules(" ".join(rest))
        elif kind == "dealer" and self._dealer is None:
            self._dealer = _parse_seat(" ".join(rest))
        elif kind == "tribute" and self._tribute is None:
            self._tribute = _parse_tribute(rest)
        elif kind == "hand":
            self._read_hand(rest)
        elif kind.isdigit():
            self._answers.append((_parse_seat(kind), parse_answer(" ".join(rest))))
        else:
            again = "is said twice" if kind in ("rules", "dealer", "tribute") else "begins no line"
            raise NotationError(f"{kind!r} {again}; there are rules, dealer, tribute, hand, and a seat for an answer")

    def _read_hand(self, words: list[str]) -> None:
        seat = _parse_seat(words[0] if words else "")
        if seat in self._hands:
            raise NotationError(f"the hand of seat {seat} is said twice")
        self._hands[seat] = parse_hand(" ".join(words[1:]))

    def written(self) -> WrittenDeal:
        """All of it."""
        missing = [f"hand {seat}" for seat in range(SEATS) if seat not in self._hands]
        if self._options is None or self._dealer is None or missing:
            missing = ["rules"] * (self._options is None) + ["dealer"] * (self._dealer is None) + missing
            raise NotationError(f"a deal also has the lines: {', '.join(missing)}")
        hands = tuple(self._hands[seat] for seat in range(SEATS))
        if (emperors := b"".join(hands).count(EMPEROR_CARD)) != 1:
            raise NotationError(f"one seat holds the emperor card EJ, and not {emperors}")
        return WrittenDeal(self._options, self._dealer, hands, self._tribute, tuple(self._answers))


def _format_shares(shares: Shares) -> str:
    return "".join(f" {seat}:{cards}" for seat, cards in shares)


def _parse_tribute(words: list[str]) -> Tribute:
    if words[:1] != ["pay"] or words.count("take") != 1:
        raise NotationError("a tribute is written `tribute pay 2:1 3:1 take 0:2`, seat and number of cards")
    at = words.index("take")
    return Tribute(_parse_shares(words[1:at]), _parse_shares(words[at + 1 :]))


def _parse_shares(words: list[str]) -> Shares:
    shares = []
    for word in words:
        seat, _, cards = word.partition(":")
        if not _is_number(cards):
            raise NotationError(f"{word!r}: a seat and a number of cards, as in 2:1")
        shares.append((_parse_seat(seat), int(cards)))
    return tuple(shares)


def _parse_seat(text: str) -> int:
    if text not in tuple(map(str, range(SEATS))):
        raise NotationError(f"{text!r} is no seat; a seat is 0 to {SEATS - 1}")
    return int(text)
