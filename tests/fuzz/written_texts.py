"""Targets that read what people write: notation, options, tournament files."""

from __future__ import annotations

import contextlib
from random import Random

import click

from bots_sdk.cli.options import parse_rules as parse_typed
from bots_sdk.rules.cards import format_cards, parse_cards
from bots_sdk.rules.deal_notation import format_deal, format_rules, parse_deal, parse_rules
from bots_sdk.rules.errors import NotationError, OptionsError, RulesError
from bots_sdk.rules.notation import format_answer, format_hand, parse_answer, parse_hand
from bots_sdk.rules.options import OPTION_NAMES
from bots_sdk.rules.profiles import PROFILES, change_options, format_options
from services.tournament.spec import SpecError, format_spec, parse_spec
from services.tournament.spec.durations import format_duration, parse_duration

from .registry import target, text_of


@target("play 9c 9d SJ", "pass 2h", "stake 2", "call 9c", "play ! 3ccd 9hhs SJ EJ", "bright", "wind", is_text=True)
def answers(data: bytes) -> None:
    with contextlib.suppress(NotationError):
        answer = parse_answer(text_of(data))
        assert parse_answer(format_answer(answer)) == answer


@target("3ccd 9hhs SJ EJ", "3c 3c 3d", "EJ 3d 9h 3c 9hs", is_text=True)
def hands(data: bytes) -> None:
    with contextlib.suppress(NotationError):
        hand = parse_hand(text_of(data))
        assert parse_hand(format_hand(hand)) == hand
    with contextlib.suppress(NotationError):
        cards = parse_cards(text_of(data))
        assert parse_cards(format_cards(cards)) == cards


@target(
    "qingdao", "qingdao hold_back=3 stakes=1,2", "bean low=6 drop_low=3 kick=true", "special grab=none", is_text=True
)
def rules(data: bytes) -> None:
    with contextlib.suppress(NotationError):
        options = parse_rules(text_of(data))
        assert parse_rules(format_rules(options)) == options


DEAL = """rules qingdao grab=none
dealer 0
tribute pay 2:1 3:1 take 0:2
hand 0 3d 9ccc EJ
hand 1 6d 9c
hand 2 5d 8d
hand 3 5h 8h
hand 4 5s SJ
0 accept
0 call 9c   # seat 1 is the guard
1 silent
"""
PLAIN_DEAL = DEAL.replace("tribute pay 2:1 3:1 take 0:2\n", "")


@target(DEAL, PLAIN_DEAL, PLAIN_DEAL + "2 silent\n3 silent\n4 silent\n0 play 3d\n1 pass\n", is_text=True)
def deals(data: bytes) -> None:
    with contextlib.suppress(NotationError):
        written = parse_deal(text_of(data))
        assert parse_deal(format_deal(written)) == written
        with contextlib.suppress(RulesError):
            written.play()


@target("roast=true", "stakes=1,2", "hold_back=3\nstakes=[1, 2]", "low=6\nforce=triple", "room=5", is_text=True)
def typed_options(data: bytes) -> None:
    """`--option KEY=VALUE` of the command line."""
    with contextlib.suppress(click.BadParameter):
        parse_typed("qingdao", text_of(data).split("\n"))


SPEC = """name: cup
profile: bean-qingdao
options: {roast: true, stakes: [1, 2, 3], hold_back: "6", wind: claim, beans: yes, room: 5}
bots: [ada, bob, 'house:greedy', "house:greedy#2", 007]
schedule: {kind: balanced, matches: 500}
duplicate: rotation
deals: 2
clock: {limit: 2s, limits: {tribute: 5s, play: 1s}, bank: 1m, increment: 100ms, grace: 200ms, ready: 30s}
faults: {illegal: retry, illegal_limit: 3, takeover_after: 5, score: forfeit, penalty: 2, forfeit: 6, others: deal}
seed: no bot may know
in_flight: 100
no_show_limit: 5
"""
BLOCK_SPEC = """%YAML 1.1
---
name: "cup\\u0041"
profile: qingdao
bots:
- ada
- >-
  bob
schedule: full
deals: 1
clock: off
...
"""
ROUNDS_SPEC = "name: r\nprofile: bean\nbots: [a, b]\nschedule: {kind: rounds, rounds: 5}\nduplicate: par\ndeals: 1\n"
GAUNTLET_SPEC = """name: g
profile: special
bots: [a, b, c]
schedule: {kind: gauntlet, challengers: [a], meetings: 10}
duplicate: field
deals: 1
"""
BOMBS = (
    "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "name: !!python/object/apply:os.system [ls]\n",
    "? [a, b]\n: c\n",
    "deals: 0x7fffffffffffffffffffffff\nroom: .nan\nx: 1e999\n",
    "{" * 40,
    "- " * 40,
    'name: "\\UFFFFFFFF \\uD800"\n',
    "%YAML " + "9" * 50 + ".1\n---\nname: cup\n",
    "%TAG ! tag:x,2000:\n---\nname: !<tag:%FF> cup\n",
    "<<: {name: cup}\n",
)


@target(SPEC, BLOCK_SPEC, ROUNDS_SPEC, GAUNTLET_SPEC, *BOMBS, is_text=True)
def specs(data: bytes) -> None:
    with contextlib.suppress(SpecError):
        spec = parse_spec(text_of(data))
        assert parse_spec(format_spec(spec)) == spec


@target("2s", "500 ms", "1.5m", "1h", "90", is_text=True)
def durations(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        duration = parse_duration(text_of(data))
        assert parse_duration(format_duration(duration)) == duration


@target(b"\x00" * 40, b"qingdao", more=lambda: [bytes(range(200))])
def plain_options(data: bytes) -> None:
    """Options as JSON or YAML have them: any key, any value."""
    rng = Random(data)
    values: list[object] = [None, True, False, -1, 0, 1, 3, 2**70, 1.5, float("nan"), "3", "6", "none", "any", "claim"]
    values += [[], [1, 2], (4, 4, 4), [2**70], ["x"], [[1]], {}, {"a": 1}, b"x", "side_out", object()]
    names = [*OPTION_NAMES, "nothing", ""]
    chosen = {rng.choice(names): rng.choice(values) for _ in range(rng.randrange(5))}
    with contextlib.suppress(OptionsError):
        options = change_options(PROFILES[rng.choice(list(PROFILES))], chosen)
        assert change_options(options, format_options(options)) == options
