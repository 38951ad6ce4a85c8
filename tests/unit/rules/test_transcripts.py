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
    "classic": "2fc1b331aa5b0b90fef4c56046cf8a18bc2dc49e65dd4fa467427a258f834108",
    "classic-marked": "eed3ce3f1b0b4631562ecde0a8fbe64377435df0c1ffa16df6a73f2441dd1fe8",
    "bean": "4d766e380b03a0ffd6b4c31c45e40c8f41378729d1e90759b7faf1617ded4a12",
    "bean-qingdao": "34d593ebf84accddb5d4fa664dd6a030ffb5db43f2c92a757757c206bafcf4ce",
    "special": "74f1aa19a7f78612e6fb820fc2ec97723285a6d0512cde0e9fa7b3a3473ebfc2",
    "qingdao": "d42a1e6882459c0ad2db5d5931610cb3b979f8cc7453fe6f09a615b926c2602c",
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
