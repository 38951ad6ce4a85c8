"""Whole deals made by an independent program: legal answers at every step, results, tribute."""

from __future__ import annotations

from typing import Any

import pytest

from bots_sdk.rules.cards import RANKS, SEATS, parse_cards
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.events import Event, HandDealt, Tribute
from bots_sdk.rules.legal import plays_special
from bots_sdk.rules.notation import format_answer, parse_answer
from bots_sdk.rules.plays import pattern_of
from bots_sdk.rules.profiles import make_options
from bots_sdk.rules.view import View
from tests.vectors.vector_files import groups

GROUPS = groups("deals", "profile", "overrides")


@pytest.mark.parametrize("lines", [lines for _, lines in GROUPS], ids=[label for label, _ in GROUPS])
def test_deals(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        replay(line)


def replay(line: dict[str, Any]) -> None:
    options = make_options(line["profile"], line["overrides"])
    hands = [parse_cards(" ".join(hand)) for hand in line["hands"]]
    deal, events = Deal.start(options, 0, line["dealer"], hands, parse_tribute(line["tribute"]))
    folded = [View(options, seat) for seat in range(SEATS)]
    for seat, view in enumerate(folded):
        view.apply(events[0])
        view.apply(HandDealt(deal.hand(seat)))
    for number, step in enumerate(line["steps"]):
        seat = step["seat"]
        assert deal.asked[0] == seat, f"step {number}"
        assert deal.phase.name.lower() == step["phase"], f"step {number}"
        check_legal(deal.view(seat), step, number)
        for other, view in enumerate(folded):
            assert view.asked == deal.view(other).asked
            if view.asked:
                assert view.legal() == deal.view(other).legal()
        folded[seat].note_answered()
        tell(folded, deal.answer(seat, parse_answer(step["action"])))
        for other, view in enumerate(folded):
            assert view.hand == deal.hand(other)
    check_end(deal, line)


def tell(views: list[View], events: list[Event]) -> None:
    for event in events:
        for view in views:
            view.apply(event)


def check_legal(view: View, step: dict[str, Any], number: int) -> None:
    legal = view.legal()
    texts = [format_answer(answer) for answer in legal]
    if step["phase"] != "play":
        assert sorted(texts) == sorted(step["actions"]), f"step {number}"
        return
    words = [text for text in texts if not text.startswith("play")]
    assert sorted(words) == sorted(step["words"]), f"step {number}"
    patterns = []
    for answer in legal[len(words) :]:
        pattern = pattern_of(view.holding, answer.cards, plays_special(view, answer))
        assert pattern is not None
        rank, *rest = pattern
        patterns.append([RANKS[rank] if rank >= 0 else "", *rest])
    assert sorted(patterns) == sorted(step["plays"]), f"step {number}"


def check_end(deal: Deal, line: dict[str, Any]) -> None:
    result = deal.result
    assert result is not None
    assert result.voided is line["redeal"]
    if line["redeal"]:
        assert line["result"] is None
        return
    told = {
        "places": list(result.places),
        "points": list(result.points),
        "emperor": result.emperor,
        "guard": result.guard,
        "solo": result.solo.name.lower() if result.solo else None,
        "revealed": result.revealed,
        "rebelled": result.rebelled,
        "kicked": result.kicked,
    }
    assert told == line["result"]
    assert result.tribute == parse_tribute(line["next_tribute"])


def parse_tribute(value: dict[str, list[list[int]]] | None) -> Tribute | None:
    if value is None:
        return None
    pay, take = (tuple((seat, cards) for seat, cards in value[key]) for key in ("pay", "take"))
    return Tribute(pay, take)
