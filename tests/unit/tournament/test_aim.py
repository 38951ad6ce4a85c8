"""What a director aims at: which verb still changes it, and when the end is reached by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from services.ledger.values import TournamentState
from services.tournament.director.aim import STOPPING, Aim

VERBS: dict[str, Callable[[Aim], bool]] = {
    "pause": lambda aim: aim.stop(TournamentState.PAUSED, "tea", 60),
    "cancel": lambda aim: aim.stop(TournamentState.CANCELLED, "", 60),
    "suspend": lambda aim: aim.suspend(60),
    "outlast": lambda aim: aim.outlast("tea"),
    "resume": lambda aim: aim.resume(),
}


@pytest.mark.parametrize(
    ("said", "heard", "state", "reason"),
    [
        (["pause"], [True], TournamentState.PAUSED, "tea"),
        (["pause", "resume"], [True, True], TournamentState.FINISHED, ""),
        (["resume"], [True], TournamentState.FINISHED, ""),
        (["cancel", "pause", "resume"], [True, False, False], TournamentState.CANCELLED, ""),
        (["suspend", "resume"], [True, False], TournamentState.PAUSED, STOPPING),
        (["suspend", "outlast", "resume"], [True, True, True], TournamentState.FINISHED, ""),
        (["pause", "outlast"], [True, False], TournamentState.PAUSED, "tea"),
        (["pause", "cancel"], [True, True], TournamentState.CANCELLED, ""),
    ],
)
async def test_the_last_word_counts_unless_it_comes_too_late(
    said: list[str], heard: list[bool], state: TournamentState, reason: str
) -> None:
    aim = Aim()
    assert [VERBS[verb](aim) for verb in said] == heard
    assert (aim.state, aim.reason, aim.is_over) == (state, reason, False)
    aim.end()


@pytest.mark.parametrize("verb", VERBS)
async def test_at_its_end_it_hears_nothing_any_more(verb: str) -> None:
    aim = Aim("said enough")
    aim.finish("said enough")
    assert not VERBS[verb](aim)
    assert (aim.state, aim.reason) == (TournamentState.FINISHED, "said enough")


async def test_a_pause_ends_when_its_time_is_up_and_a_resumed_one_does_not() -> None:
    paused, resumed = Aim(), Aim()
    for aim in (paused, resumed):
        assert aim.stop(TournamentState.PAUSED, "", 0.0)
    assert resumed.resume()
    await asyncio.wait_for(paused.ended.wait(), 60)
    assert paused.is_over
    assert not resumed.is_over


async def test_what_has_finished_is_no_more_suspended() -> None:
    aim = Aim()
    assert aim.suspend(60)
    assert aim.is_suspended
    aim.finish("")
    assert (aim.state, aim.is_suspended) == (TournamentState.FINISHED, False)
    aim.end()
