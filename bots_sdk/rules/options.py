"""Every option of a game, and which of them go together (docs/rules.md, part 9)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from bots_sdk.rules.errors import OptionsError

FIRST_STRENGTH = {"3": 0, "6": 3}
"""Strength of the lowest rank, by the value of `low`."""


MOST_ROOM = 1_000_000
MOST_STAKE = 50
MOST_SOLO_SCORE = 10_000
"""With these a settlement in beans, with the product of five stakes in it, stays below 2**63 in messages and tables."""


class GuardBy(StrEnum):
    """Which card makes its holder guard."""

    FOURTH_CARD = "fourth_card"
    MARKED_JOKER = "marked_joker"


class Grab(StrEnum):
    """Who may take the throne alone in the solo window."""

    NONE = "none"
    ANY = "any"
    QUAD = "quad"


class Sticker(StrEnum):
    """Which card is pasted on the emperor card when it is passed on."""

    NONE = "none"
    TWO_ELSE_HIGHEST = "two_else_highest"
    HIGHEST_PLAIN = "highest_plain"
    HIGHEST = "highest"


class Force(StrEnum):
    """Who must accept in the second lap."""

    EXACT_TRIPLE = "exact_triple"
    TRIPLE = "triple"
    TRIPLE_NO_QUAD = "triple_no_quad"


class Wind(StrEnum):
    """How the lead is found when the owner of the unbeaten play is out."""

    AUTO = "auto"
    CLAIM = "claim"


class End(StrEnum):
    """When an ordinary deal ends."""

    ONE_LEFT = "one_left"
    SIDE_OUT = "side_out"


@dataclass(frozen=True, slots=True)
class Options:
    """One way to play, complete. The defaults are the bare options; `profiles.py` has the six named ways.

    Attributes:
        low: the lowest rank in the pack, "3" or "6".
        drop_low: clubs of the lowest rank taken out, 0 or 3 (short pack only).
        guard_by: the card that makes the guard.
        special_card: the guard's card is a joker above the big joker.
        call_jokers: jokers are callable faces too.
        grab: who may say `solo`.
        holder_preempts: the holder of the emperor card is asked in the solo window too, and comes first.
        bright_needs_quad: an open solo needs four of a called face; otherwise any emperor may say `bright`.
        sticker: which card is pasted when the emperor card is passed on.
        sticker_from: the pass from which on stickers are pasted, 1 or 2.
        force: who must accept in the second lap.
        reveal: the guard may show itself before play.
        rebellion: rebels may call before play.
        kick: a reveal or rebellion may be answered with a kick.
        stakes: the multipliers a seat may choose from, ascending; one value only: no stakes phase.
        hold_back: the rank that must be played last of all, or None. Only the lowest rank.
        roast: jokers may be killed by stronger jokers hung on.
        three_twos: three twos beat a single big joker.
        hung_by_hung: jokers hung on cards are beaten only by jokers hung on cards.
        give_way: a seat may yield.
        pass_locks_trick: a seat that passed is out of the trick.
        wind: how the lead passes when the owner of the unbeaten play is out.
        solo_scores: points of the solo emperor for grab, bright and dark.
        dark_second_is_draw: a dark solo in second place scores nothing.
        end: when an ordinary deal ends.
        tribute: the losers of a deal pay cards in the next.
        beans: the deals are settled in beans too.
        room: the room's factor in that settlement.
        titles: accumulated points carry titles.
    """

    low: str = "3"
    drop_low: int = 0
    guard_by: GuardBy = GuardBy.FOURTH_CARD
    special_card: bool = False
    call_jokers: bool = False
    grab: Grab = Grab.ANY
    holder_preempts: bool = False
    bright_needs_quad: bool = True
    sticker: Sticker = Sticker.NONE
    sticker_from: int = 1
    force: Force = Force.EXACT_TRIPLE
    reveal: bool = True
    rebellion: bool = False
    kick: bool = False
    stakes: tuple[int, ...] = (1,)
    hold_back: str | None = None
    roast: bool = False
    three_twos: bool = False
    hung_by_hung: bool = False
    give_way: bool = False
    pass_locks_trick: bool = False
    wind: Wind = Wind.AUTO
    solo_scores: tuple[int, int, int] = (24, 24, 12)
    dark_second_is_draw: bool = True
    end: End = End.ONE_LEFT
    tribute: bool = False
    beans: bool = False
    room: int = 1
    titles: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be played.

        Raises:
            OptionsError: the message names the options and the reason.
        """
        for broken, reason in _contradictions(self):
            if broken:
                raise OptionsError(reason)


def _contradictions(o: Options) -> tuple[tuple[bool, str], ...]:
    marked = o.guard_by is GuardBy.MARKED_JOKER
    return (
        (o.low not in FIRST_STRENGTH, f"low: the lowest rank is '3' or '6', not {o.low!r}"),
        (o.drop_low not in (0, 3), f"drop_low: 0 or 3 clubs are taken out, not {o.drop_low}"),
        (o.drop_low > 0 and o.low != "6", "drop_low: cards are taken out of the short pack only (low: '6')"),
        (
            o.hold_back is not None and o.hold_back != o.low,
            f"hold_back: only the lowest rank ({o.low!r}, see low) can be held back, not {o.hold_back!r}",
        ),
        (o.sticker_from not in (1, 2), f"sticker_from: stickers begin with pass 1 or 2, not {o.sticker_from}"),
        (
            marked and o.special_card,
            "special_card: the special card is the fourth of the called face, and guard_by: marked_joker calls no face",
        ),
        (
            marked and o.bright_needs_quad,
            "bright_needs_quad: with guard_by: marked_joker no face is called, so bright cannot need four of it",
        ),
        (
            o.kick and not (o.reveal or o.rebellion),
            "kick: a kick answers a reveal or a rebellion, and both are switched off",
        ),
        (
            not o.stakes or any(stake < 1 for stake in o.stakes) or list(o.stakes) != sorted(set(o.stakes)),
            f"stakes: one or more different positive numbers in ascending order, not {list(o.stakes)}",
        ),
        (
            any(score < 0 or score % 4 for score in o.solo_scores),
            f"solo_scores: three numbers (grab, bright, dark) divisible by 4, as each of four rebels takes a quarter; "
            f"not {list(o.solo_scores)}",
        ),
        (o.room < 1, f"room: the room's factor is a positive number, not {o.room}"),
        (o.room > MOST_ROOM, f"room: at most {MOST_ROOM}, not {o.room}"),
        (any(stake > MOST_STAKE for stake in o.stakes), f"stakes: at most {MOST_STAKE}, not {list(o.stakes)}"),
        (
            any(score > MOST_SOLO_SCORE for score in o.solo_scores),
            f"solo_scores: at most {MOST_SOLO_SCORE}, not {list(o.solo_scores)}",
        ),
    )


OPTION_NAMES: tuple[str, ...] = tuple(field.name for field in fields(Options))
