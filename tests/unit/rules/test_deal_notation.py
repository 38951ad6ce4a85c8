"""Rules and whole deals as text."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots_sdk.rules.answers import Answer
from bots_sdk.rules.deal_notation import WrittenDeal, format_deal, format_rules, parse_deal, parse_rules
from bots_sdk.rules.errors import IllegalAnswer, NotationError
from bots_sdk.rules.options import Options
from bots_sdk.rules.profiles import PROFILES, make_options
from tests.properties.random_deals import GAMES, random_answer, random_start

TEXT = """\
rules qingdao hold_back=3
dealer 2
tribute pay 1:1 2:1 take 0:2
hand 0 9ccc EJ
hand 1 9c
hand 2 Tdd
hand 3 3d 8s
hand 4 SJ SJ
1 pay 9c
2 pay Td
"""


@settings(max_examples=40)
@given(game=st.sampled_from(list(GAMES)), seed=st.integers(0, 2**32 - 1))
def test_deals_come_back(game: str, seed: int) -> None:
    rng = Random(seed)
    deal, _, hands = random_start(GAMES[game], rng)
    answers: list[tuple[int, Answer]] = []
    for _ in range(rng.choice([0, 10, 1000])):
        if deal.is_over:
            break
        seat, answer = random_answer(deal, rng)
        deal.answer(seat, answer)
        answers.append((seat, answer))
    written = WrittenDeal(GAMES[game], deal.public.dealer, hands, deal.public.tribute, tuple(answers))
    again = parse_deal(format_deal(written))
    assert again == written
    assert format_deal(again) == format_deal(written)
    assert again.play().result == deal.result


@given(game=st.sampled_from(list(GAMES)), room=st.integers(1, 100), stakes=st.sets(st.integers(1, 9), min_size=1))
def test_rules_come_back(game: str, room: int, stakes: set[int]) -> None:
    options = make_options(game.split()[0], {"room": room, "stakes": sorted(stakes), "titles": True})
    assert parse_rules(format_rules(options)) == options
    assert parse_rules(format_rules(GAMES[game])) == GAMES[game]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_is_its_name(profile: str) -> None:
    assert format_rules(PROFILES[profile]) == profile


def test_the_bare_options_come_back() -> None:
    assert parse_rules(format_rules(Options())) == Options()
    assert parse_rules("special hold_back=none sticker=none stakes=1,2").stakes == (1, 2)


def test_comments_empty_lines_and_layout_do_not_matter() -> None:
    written = parse_deal(TEXT)
    assert format_deal(written) == TEXT
    loose = "# a deal\n\n" + TEXT.replace("hand 0", "  hand   0 ").replace("dealer 2", "dealer 2  # Cora")
    assert parse_deal(loose) == written
    assert parse_deal(TEXT.replace("9ccc", "9c 9c 9c")) == written


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rules qingdao", "rules chess", "line 1: profile: 'chess' is unknown"),
        ("hold_back=3", "hold_back", "line 1: 'hold_back': a change of an option is KEY=VALUE"),
        ("hold_back=3", "hold_back=9", "line 1: hold_back: '3' or '6'"),
        ("hold_back=3", "colour=red", "line 1: colour: no such option"),
        ("hold_back=3", "stakes=1,x", "line 1: stakes: a whole number"),
        ("dealer 2", "dealer 5", "line 2: '5' is no seat"),
        ("dealer 2", "dealer", "line 2: '' is no seat"),
        ("dealer 2", "dealer 2\ndealer 2", "line 3: 'dealer' is said twice"),
        ("take 0:2", "", "line 3: a tribute is written"),
        ("0:2", "0:x", "line 3: '0:x': a seat and a number"),
        ("0:2", "7:1", "line 3: '7' is no seat"),
        ("hand 1 9c", "hand 0 9c", "line 5: the hand of seat 0 is said twice"),
        ("hand 1 9c", "hand 1 9x", "line 5: '9x' is no card"),
        ("hand 1 9c\n", "", "a deal also has the lines: hand 1"),
        ("rules qingdao hold_back=3\ndealer 2\n", "", "a deal also has the lines: rules, dealer"),
        ("9ccc EJ", "9ccc", "one seat holds the emperor card EJ, and not 0"),
        ("1 pay 9c", "1 pays 9c", "line 9: 'pays 9c': an answer begins with"),
        ("1 pay 9c", "9 pay 9c", "line 9: '9' is no seat"),
        ("1 pay 9c", "seat 1 pays", "line 9: 'seat' begins no line"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, message: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse_deal(TEXT.replace(old, new, 1))
    assert str(caught.value).startswith(message)


def test_legality_is_a_matter_of_playing() -> None:
    written = parse_deal(TEXT.replace("rules qingdao hold_back=3", "rules qingdao") + "3 wind\n")
    with pytest.raises(IllegalAnswer):
        written.play()
