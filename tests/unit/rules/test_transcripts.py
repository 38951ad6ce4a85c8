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
    "classic": "5611b98c43e21f2c407367b4166c35ba96c94b926345b515d9453ee01833d158",
    "classic-marked": "a82d1792a9301924df2d015310eb80958a0f46d3917f1027da5395efe6ca8810",
    "bean": "ebc57f7d37a091c455d1e22e73fc026c40098ea50605eeeaaf8ded8b28afa300",
    "bean-qingdao": "5bdba9a9e77efca007446426e25f1a8c02488866a2b8d516389be30ffb69c084",
    "special": "a2fc170e6281971074d4a2737e6907aa6e82741fa39cd64dcbbbc21be82ddb2d",
    "qingdao": "ba632b3585aca93f4f60f3e8f8b1eae4a139237dccbda67876248a4bede54d9c",
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
