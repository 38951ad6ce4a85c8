"""The game: cards, options, the deal as a state machine, what a seat sees of it.

Pure: no clock, no randomness, no input or output. A bot looks at a `View`; who lets bots play holds a `Match`:

    >>> from bots_sdk.rules import Match, deck_order, make_options
    >>> options = make_options("qingdao", {"hold_back": "3"})
    >>> match = Match(options, 2, lambda number: deck_order(options, b"secret", number))
    >>> events = match.start()
    >>> while not match.over:
    ...     if match.deal.is_over:
    ...         events += match.next_deal()
    ...     for seat in match.deal.asked:
    ...         view = match.deal.view(seat)
    ...         events += match.answer(seat, view.legal()[-1])
    >>> sum(match.points)
    0
"""

from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.cards import format_card, format_cards, parse_card, parse_cards
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.deal_notation import WrittenDeal, format_deal, format_rules, parse_deal, parse_rules
from bots_sdk.rules.errors import DealError, IllegalAnswer, NotationError, OptionsError, Refusal, RulesError
from bots_sdk.rules.events import Event, HandDealt, SoloKind, Tribute
from bots_sdk.rules.match import Match
from bots_sdk.rules.notation import format_answer, format_hand, parse_answer, parse_hand
from bots_sdk.rules.options import Options
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.plays import Shape, beats, shape_of
from bots_sdk.rules.profiles import PROFILES, change_options, format_options, make_options, parse_options
from bots_sdk.rules.result import DealResult
from bots_sdk.rules.shuffle import commitment, deck_order, decks_of
from bots_sdk.rules.titles import title_of
from bots_sdk.rules.version import RULES_VERSION
from bots_sdk.rules.view import View

__all__ = [
    "PROFILES",
    "RULES_VERSION",
    "Answer",
    "Deal",
    "DealError",
    "DealResult",
    "Event",
    "HandDealt",
    "IllegalAnswer",
    "Match",
    "NotationError",
    "Options",
    "OptionsError",
    "Phase",
    "Refusal",
    "RulesError",
    "Shape",
    "SoloKind",
    "Tribute",
    "View",
    "Word",
    "WrittenDeal",
    "beats",
    "change_options",
    "commitment",
    "deck_order",
    "decks_of",
    "format_answer",
    "format_card",
    "format_cards",
    "format_deal",
    "format_hand",
    "format_options",
    "format_rules",
    "make_options",
    "parse_answer",
    "parse_card",
    "parse_cards",
    "parse_deal",
    "parse_hand",
    "parse_options",
    "parse_rules",
    "shape_of",
    "title_of",
]
