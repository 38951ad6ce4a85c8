"""One fixed deal per profile, answer lists included: bots answer by index, so the order of `legal()` is a promise.

A change of these digests is a change of the rules or of that order, and so of the protocol: say so in the changelog.
"""

from __future__ import annotations

import hashlib

import pytest

from bots_sdk.rules.deal import Deal
from bots_sdk.rules.events import Event
from bots_sdk.rules.match import Match
from bots_sdk.rules.notation import format_answer
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.profiles import PROFILES
from bots_sdk.rules.shuffle import deck_order

DEALS = 3
DIGESTS = {
    "classic": "7305723de0272842fb1a62b3db4a6b6d47b4c402e6b094373176bf9fe387da50",
    "classic-marked": "7006dc38cd90f65bd7ab5b076b3b5ebb42ac3f65ecc48546b4a6a40aba2d17f4",
    "bean": "bbf23189b9e78957c82dfa43e42cb82e94282372370d65ba0019faddf19cabc6",
    "bean-qingdao": "e449fffbc13c279bfe992e42b8768cd31a635d597afe88b14984e550ec50ff9a",
    "special": "e295ed0455e65252b040dd1cdab94f9398c7eafadcc9ded189f76816e81dfc8c",
    "qingdao": "f94f28d87195c197366bb154a028f446a4bc8e16372edc127e77024831093358",
}


def transcript(profile: str) -> str:
    """Three deals of a match: before each answer the list of legal ones, after it the events."""
    options = PROFILES[profile]
    match = Match(options, DEALS, lambda number: deck_order(options, b"transcript", number))
    lines = told(match.start())
    while True:
        while not match.deal.is_over:
            lines += one_step(match, match.deal, len(lines))
        if match.over:
            return "\n".join(lines)
        lines += told(match.next_deal())


def one_step(match: Match, deal: Deal, salt: int) -> list[str]:
    seat = deal.asked[0]
    legal = deal.legal(seat)
    answer = legal[salt * 7919 % 104729 % len(legal)]
    if deal.phase is Phase.WINDOW and match.deal.public.number < DEALS - 1:
        answer = legal[0]  # solos by the window end the opening at once
    lines = [f"{seat}: {', '.join(format_answer(one) for one in legal)}", f"{seat} {format_answer(answer)}"]
    return lines + told(match.answer(seat, answer))


def told(events: list[Event]) -> list[str]:
    return [f"{type(event).__name__} {tuple(plain(value) for value in event)}" for event in events]


def plain(value: object) -> object:
    """Values whose text does not depend on the version of Python."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    return int(value) if isinstance(value, int) else value


@pytest.mark.parametrize("profile", PROFILES)
def test_the_fixed_deals_go_as_ever(profile: str) -> None:
    assert hashlib.sha256(transcript(profile).encode()).hexdigest() == DIGESTS[profile]


def test_no_profile_lacks_a_transcript() -> None:
    assert set(DIGESTS) == set(PROFILES)
