"""Secrets and nonces: what shares them, what never does, and values that must not change under a running tournament."""

from __future__ import annotations

from bots_sdk.rules.shuffle import commitment
from services.tournament.schedule import deal_secret, match_nonce, schedule_key, tournament_secret


def test_matches_of_a_group_share_their_deals_and_no_others_do() -> None:
    secret = tournament_secret("7")
    secrets = [deal_secret(secret, group) for group in range(1000)]
    assert deal_secret(secret, 3) == secrets[3]
    assert len(set(secrets)) == 1000
    assert {len(one) for one in secrets} == {32}
    assert deal_secret(tournament_secret("8"), 3) not in secrets


def test_no_two_attempts_agree_in_anything_a_bot_is_shown() -> None:
    secret = tournament_secret("7")
    deals = deal_secret(secret, 3)
    nonces = [match_nonce(secret, f"attempt-{n}") for n in range(100)]
    assert len(set(nonces)) == 100
    assert len({commitment(nonce, deals) for nonce in nonces}) == 100
    assert deals not in nonces


def test_purposes_do_not_mix() -> None:
    secret = tournament_secret("7")
    assert deal_secret(secret, 1) != match_nonce(secret, "1")


def test_a_recorded_tournament_finds_the_same_deals_for_ever() -> None:
    # Changing any of these makes running tournaments continue with other deals and another schedule.
    secret = tournament_secret("recorded")
    assert (secret.hex()[:16], schedule_key("recorded")) == ("0a1963f6f7fb4325", 18440531517795834669)
    assert (deal_secret(secret, 0).hex()[:16], match_nonce(secret, "a").hex()[:16]) == (
        "504ca9e154d80802",
        "2f130f50c877e126",
    )
