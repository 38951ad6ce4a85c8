"""What is said of a tournament by its file."""

from __future__ import annotations

import pytest

from baohuang.tournament.v1 import tournament_service_pb2 as pb
from services.cli.specs import describe_datum, describe_game, is_draw_open
from services.cli.tables import describe_tournament

BOTS = ", ".join(f"b{number}" for number in range(10))
SPEC = f"name: cup\nprofile: bean\nbots: [{BOTS}]\nschedule: {{kind: rounds, rounds: 5}}\ndeals: 1\n"
POOLS = SPEC.replace("{kind: rounds, rounds: 5}", "{kind: pool, pools: 2, each: full, advance: 3, final: full}")


def test_the_game_is_one_line() -> None:
    assert describe_game(SPEC) == "bean, rounds, duplicate rotation, 1 deal a match"
    assert describe_game(SPEC.replace("deals: 1", "deals: 8")).endswith("8 deals a match")


@pytest.mark.parametrize(
    ("duplicate", "said"),
    [
        ("rotation", ""),
        ("none", ""),
        ("field", "Means are less what the others made of the same hands (duplicate: field)."),
        ("par", "Means are less what the house bot made of the same hands (duplicate: par)."),
    ],
)
def test_a_table_against_a_datum_says_so(duplicate: str, said: str) -> None:
    assert describe_datum(f"{SPEC}duplicate: {duplicate}\n") == said


def test_a_lot_is_open_as_long_as_no_seed_settles_it() -> None:
    assert is_draw_open(POOLS)
    assert not is_draw_open(POOLS + "seed: s\n")
    assert not is_draw_open(POOLS.replace("advance", "draw: snake, advance"))
    assert not is_draw_open(SPEC)


@pytest.mark.parametrize("text", ["", "name: [", "kind: of another version"])
def test_of_what_cannot_be_read_nothing_is_said(text: str) -> None:
    assert (describe_game(text), describe_datum(text), is_draw_open(text)) == ("", "", False)


def test_a_tournament_that_waits_for_entrants_says_what_is_played_and_how_much_at_once() -> None:
    lines = list(describe_tournament(pb.Tournament(name="cup", state=pb.STATE_OPEN, spec_yaml=SPEC, in_flight=4)))
    assert lines[1:3] == [
        "  game     bean, rounds, duplicate rotation, 1 deal a match",
        "  at once  4 matches at most, as an operator wants it",
    ]
