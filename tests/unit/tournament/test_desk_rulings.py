"""Operators exclude bots, have matches played again, change how many run at once: first in the ledger, then said."""

from __future__ import annotations

import pytest

from services.common.errors import PlatformError, Reason
from services.ledger.values import TournamentState
from tests.unit.ledger.outcomes import make_outcome

from .test_desk import SPEC, House, eventually, house, ledger

__all__ = ["house", "ledger"]


async def refused(call: object) -> PlatformError:
    with pytest.raises(PlatformError) as caught:
        await call  # type: ignore[misc]
    return caught.value


async def test_an_exclusion_is_in_the_ledger_and_the_director_is_told(house: House) -> None:
    await house.desk.create(SPEC)
    view = await house.desk.exclude("cup", "bob", annulled=True, reason="two of a kind")
    assert [(one.name, one.annulled, one.reason) for one in view.rulings.exclusions] == [("bob", True, "two of a kind")]
    assert house.ledger.rulings("cup").excluded == {"bob"}
    assert house.directors[0].said == ["heed"]


async def test_a_director_that_is_being_restarted_is_told_again(house: House) -> None:
    await house.desk.create(SPEC)
    house.directors[0].lost = 1
    await house.desk.exclude("cup", "bob", annulled=False)
    assert house.directors[0].said == ["heed"]


async def test_without_a_director_what_is_decided_is_in_the_ledger_alone(house: House) -> None:
    await house.desk.create(SPEC)
    house.directors[0].stand(TournamentState.PAUSED)
    await eventually(house, TournamentState.PAUSED)
    await house.desk.exclude("cup", "bob", annulled=False)
    view = await house.desk.set_in_flight("cup", 3)
    assert view.rulings.excluded == {"bob"}
    assert view.rulings.in_flight == 3
    assert house.directors[0].said == []


async def test_results_are_annulled_also_when_all_is_played(house: House) -> None:
    await house.desk.create(SPEC)
    house.directors[0].stand(TournamentState.FINISHED)
    await eventually(house, TournamentState.FINISHED)
    assert (await house.desk.exclude("cup", "bob", annulled=True)).rulings.excluded == {"bob"}
    error = await refused(house.desk.set_in_flight("cup", 3))
    assert error.reason is Reason.STATE_CONFLICT
    error = await refused(house.desk.requeue("cup", 0))
    assert error.reason is Reason.STATE_CONFLICT


async def test_only_entrants_are_excluded_and_reasons_are_sentences(house: House) -> None:
    await house.desk.create(SPEC)
    assert (await refused(house.desk.exclude("cup", "eve", annulled=True))).reason is Reason.BOT_UNKNOWN
    for reason in ("x" * 301, "a\x1b[2Jb"):
        assert (
            await refused(house.desk.exclude("cup", "bob", annulled=True, reason=reason))
        ).reason is Reason.MALFORMED
    assert (await refused(house.desk.exclude("cap", "bob", annulled=True))).reason is Reason.TOURNAMENT_UNKNOWN
    assert (await refused(house.desk.set_in_flight("cup", 0))).reason is Reason.MALFORMED
    assert house.ledger.rulings("cup").exclusions == ()


async def test_a_match_is_played_again_by_its_director(house: House) -> None:
    await house.desk.create(SPEC)
    await house.desk.requeue("cup", 3, "the wrong build")
    assert house.directors[0].said == ["requeue 3 the wrong build"]
    assert (await refused(house.desk.requeue("cup", 5))).reason is Reason.MALFORMED
    await house.desk.exclude("cup", "bob", annulled=False)
    error = await refused(house.desk.requeue("cup", 3))
    assert (error.reason, "bob cannot play, being excluded" in error.message) == (Reason.STATE_CONFLICT, True)


async def test_a_result_of_a_paused_tournament_is_taken_back(house: House) -> None:
    await house.desk.create(SPEC)
    house.ledger.record([make_outcome(number) for number in range(4)])
    house.directors[0].stand(TournamentState.PAUSED)
    await eventually(house, TournamentState.PAUSED)
    view = await house.desk.requeue("cup", 2)
    assert view.totals.matches == 3
    house.ledger.record([make_outcome(number, attempt=f"second-{number}") for number in (2, 4)])
    error = await refused(house.desk.requeue("cup", 2))
    assert (error.reason, "deals are known" in error.message) == (Reason.STATE_CONFLICT, True)
