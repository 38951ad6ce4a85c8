"""How often a bot may come, what it may send in vain, and what is excused."""

from __future__ import annotations

import pytest

from bots_sdk.client.backoff import Backoff
from bots_sdk.client.play import FIRST_BACKOFF_S, MOST_BACKOFF_S
from services.common.errors import PlatformError, Reason
from services.match.conduct import (
    BROKEN_COST,
    COMINGS,
    CROSSED,
    EMPTY_COST,
    EXCUSED_LIMIT,
    RETRY_S,
    WASTE,
    Conduct,
)


def flood(conduct: Conduct, now: float, records: int = 100_000) -> int:
    """Sends in vain until the bot has to go; after how many records it had to."""
    return next(number for number in range(1, records) if conduct.waste(now))


def test_what_comes_in_vain_is_borne_up_to_a_bound_and_then_the_bot_has_to_go() -> None:
    conduct = Conduct(0.0)
    assert flood(conduct, 0.0) == WASTE.burst + 1


def test_a_bot_that_was_sent_away_is_refused_until_its_time_is_over_and_begins_anew_then() -> None:
    conduct = Conduct(0.0)
    flood(conduct, 0.0)
    for now in (0.0, 1.0, RETRY_S - 0.001):
        with pytest.raises(PlatformError) as refused:
            conduct.come(now)
        assert refused.value.reason is Reason.RATE_LIMITED
        retry_after = int(refused.value.metadata["retry_after_ms"]) / 1000
        assert RETRY_S <= now + retry_after <= RETRY_S + 0.002
    conduct.come(RETRY_S)
    assert flood(conduct, RETRY_S) == WASTE.burst + 1


def test_coming_back_with_a_new_stream_gives_no_new_bucket() -> None:
    conduct = Conduct(0.0)
    conduct.come(0.0)
    assert not conduct.waste(0.0, int(WASTE.burst))
    conduct.come(0.0)
    assert conduct.waste(0.0)


def test_what_a_bot_could_not_know_to_be_in_vain_is_excused() -> None:
    conduct = Conduct(0.0)
    conduct.excuse(50_000)
    assert flood(conduct, 0.0) == 50_000 + WASTE.burst + 1


def test_excuses_are_not_saved_up_for_a_flood() -> None:
    conduct = Conduct(0.0)
    for _ in range(100_000):
        conduct.excuse(CROSSED)
    assert flood(conduct, 0.0) == EXCUSED_LIMIT + WASTE.burst + 1


def test_a_record_that_crossed_is_no_excuse_for_a_broken_stream_or_an_empty_message() -> None:
    conduct = Conduct(0.0)
    conduct.excuse(50_000)
    assert [conduct.waste(0.0, BROKEN_COST) for _ in range(5)] == [False] * 4 + [True]
    conduct = Conduct(0.0)
    conduct.excuse(50_000)
    assert next(number for number in range(1, 10_000) if conduct.waste(0.0, EMPTY_COST)) == WASTE.burst / EMPTY_COST + 1


def comings(seats: int) -> int:
    """How many streams a bot with so many seats may open at once."""
    conduct = Conduct(0.0)
    for number in range(1000):
        try:
            conduct.come(0.0, seats)
        except PlatformError:
            return number
    raise AssertionError("it may open any number")


def test_a_bot_at_many_tables_comes_less_often_at_once_since_it_is_told_all_of_them_each_time() -> None:
    assert [comings(seats) for seats in (0, 100, 1000, 10_000)] == [100, 50, 9, 1]


def test_a_few_broken_streams_are_borne_and_then_the_bot_has_to_wait() -> None:
    conduct = Conduct(0.0)
    broken = [conduct.waste(0.0, BROKEN_COST) for _ in range(5)]
    assert broken == [False] * 4 + [True]
    with pytest.raises(PlatformError):
        conduct.come(1.0)


def test_heartbeats_at_twenty_times_the_quickest_pace_are_no_waste_to_speak_of() -> None:
    conduct = Conduct(0.0)
    assert not any(conduct.waste(beat / 40) for beat in range(40 * 600))


def test_a_thousand_streams_at_once_are_too_many_and_the_error_says_when_to_come_back() -> None:
    conduct = Conduct(0.0)
    refusals = []
    for _ in range(1000):
        try:
            conduct.come(0.0)
        except PlatformError as refused:
            refusals.append(refused)
    assert len(refusals) == 1000 - COMINGS.burst
    conduct.come(int(refusals[-1].metadata["retry_after_ms"]) / 1000)


@pytest.mark.parametrize("lasting", [0.0, 0.5, 1.0])
def test_a_client_that_pauses_between_its_attempts_as_the_sdk_does_is_never_refused(lasting: float) -> None:
    for seed in range(20):
        backoff = Backoff(FIRST_BACKOFF_S, MOST_BACKOFF_S, str(seed))
        conduct = Conduct(0.0)
        now = 0.0
        for _ in range(2_000):
            conduct.come(now)
            now += lasting + backoff.pause(lasting)


def test_a_bot_is_clean_once_everything_is_forgotten() -> None:
    conduct = Conduct(0.0)
    assert conduct.is_clean(0.0)
    conduct.come(0.0)
    assert not conduct.is_clean(0.1)
    assert conduct.is_clean(1.0)
    flood(conduct, 1.0)
    assert not conduct.is_clean(RETRY_S)
    assert conduct.is_clean(2 * RETRY_S)
