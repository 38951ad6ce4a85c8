"""What operators may do with tournaments, and how the desk follows directors: a real ledger, directors by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from services.common.errors import PlatformError, Reason
from services.common.targets import Role, Target
from services.ledger.ledger import Ledger
from services.ledger.values import TournamentState
from services.tournament.director import DirectorStatus
from services.tournament.director.status import Board
from services.tournament.servicer import Desk, DirectorLost
from services.tournament.servicer.desk import TournamentView
from services.tournament.servicer.plans import spec_of

SPEC = """\
name: cup
profile: qingdao
bots: [ada, bob]
schedule: {kind: full}
deals: 2
"""


@dataclass
class HandDirector:
    """A director that does what the test says; `lost` calls fail first.

    One that is `deaf` is at its end; to one that is `gone` nothing can be said any more.
    """

    name: str
    ledger: Ledger
    board: Board = field(default_factory=lambda: Board(5))
    said: list[str] = field(default_factory=list)
    lost: int = 0
    broken: PlatformError | None = None
    closed: bool = False
    deaf: bool = False
    gone: bool = False
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    def stand(self, state: TournamentState, **changes: int | str) -> None:
        self.ledger.transition(self.name, list(TournamentState), state, str(changes.get("message", "")))
        self.board.put(DirectorStatus(0, state, matches=5, **{"message": "", **changes}))  # type: ignore[arg-type]

    async def target(self) -> Target:
        self._maybe_lost()
        return Target(Role.DIRECTOR, self.name, "127.0.0.1:1")

    async def status(self, known: int, wait: float) -> DirectorStatus:
        self._maybe_lost()
        if self.broken:
            raise self.broken
        return await self.board.see(known, wait)

    async def pause(self, reason: str) -> bool:
        self._maybe_lost()
        if self.gone:
            raise DirectorLost("closed")
        self.said.append("pause")
        self.stand(TournamentState.PAUSED, message=reason)
        return True

    async def resume(self) -> bool:
        self.said.append("resume")
        self.heard.set()
        return not self.deaf

    async def cancel(self) -> bool:
        self.said.append("cancel")
        self.heard.set()
        if not self.deaf:
            self.stand(TournamentState.CANCELLED)
        return not self.deaf

    async def heed(self) -> bool:
        self._maybe_lost()
        self.said.append("heed")
        return True

    async def requeue(self, number: int, reason: str) -> bool:
        self._maybe_lost()
        self.said.append(f"requeue {number} {reason}")
        self.heard.set()
        return not self.deaf

    async def suspend(self, grace: float) -> bool:
        self.said.append("suspend")
        self.board.put(DirectorStatus(0, TournamentState.PAUSED, "stopping", 5))
        return True

    def close(self) -> None:
        self.closed = True

    def _maybe_lost(self) -> None:
        if self.lost:
            self.lost -= 1
            raise DirectorLost("dead")


class House:
    """A desk with its ledger and the directors it has launched."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.directors: list[HandDirector] = []
        self.next_lost = 0
        self.next_broken: PlatformError | None = None
        self.desk = Desk(ledger, self.launch, new_seed=lambda: "drawn")

    def launch(self, name: str) -> HandDirector:
        director = HandDirector(name, self.ledger, lost=self.next_lost, broken=self.next_broken)
        self.directors.append(director)
        return director


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db") as opened:
        for name in ("ada", "bob"):
            opened.create_bot(f"id-{name}", name, owner="", version="", token_hash=name.encode().ljust(32))
        yield opened


@pytest.fixture
async def house(ledger: Ledger) -> AsyncIterator[House]:
    made = House(ledger)
    yield made
    for director in made.directors:
        if not director.closed:
            director.board.put(DirectorStatus(0, TournamentState.PAUSED, "end of test", 5))
    await made.desk.suspend(0)


async def eventually(house: House, state: TournamentState, name: str = "cup") -> TournamentView:
    async with asyncio.timeout(60):
        async for view in house.desk.watch(name):
            if view.state is state:
                return view
    return await house.desk.view(name)


async def test_created_tournaments_keep_their_seed_from_the_readers(house: House) -> None:
    view = await house.desk.create(SPEC + "seed: no bot may know\n")
    assert view.state is TournamentState.RUNNING
    assert view.plan is not None
    assert (view.plan.report.matches, view.plan.report.deals) == (5, 10)
    assert "no bot may know" not in view.tournament.spec_yaml
    assert spec_of(view.tournament).seed == "no bot may know"
    assert [director.name for director in house.directors] == ["cup"]


async def test_a_seed_is_drawn_where_there_is_none(house: House) -> None:
    view = await house.desk.create(SPEC)
    assert spec_of(view.tournament).seed == "drawn"


async def test_a_name_is_taken_once(house: House) -> None:
    await house.desk.create(SPEC)
    with pytest.raises(PlatformError, match="There is a tournament named 'cup' already") as caught:
        await house.desk.create(SPEC)
    assert caught.value.reason is Reason.TOURNAMENT_EXISTS
    assert len(house.directors) == 1


async def test_bots_must_be_registered(house: House) -> None:
    with pytest.raises(PlatformError, match="No bot is registered under the name 'cara', 'dan'") as caught:
        await house.desk.create(SPEC.replace("[ada, bob]", "[ada, cara, dan]"))
    assert caught.value.reason is Reason.BOT_UNKNOWN
    assert house.directors == []


async def test_a_wrong_specification_is_refused_with_key_and_line(house: House) -> None:
    with pytest.raises(PlatformError, match="line 5: deals: ") as caught:
        await house.desk.plan(SPEC.replace("deals: 2", "deals: none"))
    assert caught.value.reason is Reason.SPEC_INVALID
    assert (caught.value.metadata["key"], caught.value.metadata["line"]) == ("deals", "5")


async def test_planning_stores_nothing(house: House) -> None:
    plan = await house.desk.plan(SPEC)
    assert plan.report.matches == 5
    assert (await house.desk.page("", 10)).items == ()


async def test_watching_tells_every_state_up_to_the_last(house: House) -> None:
    await house.desk.create(SPEC)
    seen: list[TournamentState] = []
    async with asyncio.timeout(60):
        async for view in house.desk.watch("cup"):
            if not seen or seen[-1] is not view.state:
                seen.append(view.state)
                if view.state is TournamentState.RUNNING:
                    house.directors[0].stand(TournamentState.DRAINING, matches_running=3)
                elif view.state is TournamentState.DRAINING:
                    house.directors[0].stand(TournamentState.FINISHED)
    assert seen == [TournamentState.RUNNING, TournamentState.DRAINING, TournamentState.FINISHED]
    assert house.directors[0].closed


async def test_pause_and_resume(house: House) -> None:
    await house.desk.create(SPEC)
    await house.desk.pause("cup", "tea")
    view = await eventually(house, TournamentState.PAUSED)
    assert view.message == "tea"
    await house.desk.pause("cup")  # again: nothing to do
    assert (await house.desk.resume("cup")).state is TournamentState.RUNNING
    assert len(house.directors) == 2


async def test_resumed_by_many_at_once_a_tournament_gets_one_director(house: House) -> None:
    await house.desk.create(SPEC)
    await house.desk.pause("cup")
    await eventually(house, TournamentState.PAUSED)
    await asyncio.gather(*(house.desk.resume("cup") for _ in range(5)))
    assert len(house.directors) == 2


async def test_resumed_while_a_platform_takes_it_up_again_it_gets_one_director(house: House, ledger: Ledger) -> None:
    ledger.create_tournament("cup", SPEC, b"seed", state=TournamentState.RUNNING)
    await asyncio.gather(house.desk.resume("cup"), house.desk.recover())
    assert len(house.directors) == 1


async def at_its_end(house: House, verb: Coroutine[Any, Any, TournamentView]) -> TournamentView:
    """What comes of a verb said to a director that is about to pause and does not listen any more."""
    await house.desk.create(SPEC)
    director = house.directors[0]
    director.deaf = True
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        view = group.create_task(verb)
        await director.heard.wait()
        director.stand(TournamentState.PAUSED)
    return view.result()


async def test_resumed_too_late_for_its_director_a_tournament_gets_another(house: House) -> None:
    assert (await at_its_end(house, house.desk.resume("cup"))).state is TournamentState.RUNNING
    assert len(house.directors) == 2


async def test_cancelled_too_late_for_its_director_a_tournament_is_cancelled_all_the_same(house: House) -> None:
    assert (await at_its_end(house, house.desk.cancel("cup"))).state is TournamentState.CANCELLED


async def test_a_director_that_ends_while_it_is_being_told_is_no_fault(house: House) -> None:
    await house.desk.create(SPEC)
    house.directors[0].gone = True
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        view = group.create_task(house.desk.pause("cup"))
        await asyncio.sleep(0)
        house.directors[0].stand(TournamentState.FINISHED)
    assert view.result().state is TournamentState.FINISHED


async def test_a_director_that_does_not_come_back_is_a_sentence(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.tournament.servicer.desk.VERB_PATIENCE", 0.0)
    await house.desk.create(SPEC)
    house.directors[0].gone = True
    with pytest.raises(PlatformError, match="The director of 'cup' does not answer") as caught:
        await house.desk.pause("cup")
    assert caught.value.reason is Reason.UNREACHABLE


async def test_verbs_wait_for_a_director_that_is_being_restarted(house: House) -> None:
    await house.desk.create(SPEC)
    house.directors[0].lost = 2
    await house.desk.pause("cup")
    await eventually(house, TournamentState.PAUSED)
    assert house.directors[0].said == ["pause"]


async def test_what_is_over_cannot_be_paused_or_resumed(house: House) -> None:
    await house.desk.create(SPEC)
    house.directors[0].stand(TournamentState.FINISHED)
    await eventually(house, TournamentState.FINISHED)
    verbs = {"paused": house.desk.pause, "resumed": house.desk.resume, "cancelled": house.desk.cancel}
    for wanted, verb in verbs.items():
        with pytest.raises(PlatformError, match=f"'cup' is finished, it cannot be {wanted}") as caught:
            await verb("cup")
        assert caught.value.reason is Reason.STATE_CONFLICT
    with pytest.raises(PlatformError) as unknown:
        await house.desk.pause("mug")
    assert unknown.value.reason is Reason.TOURNAMENT_UNKNOWN


async def test_cancel_with_and_without_a_director(house: House) -> None:
    await house.desk.create(SPEC)
    assert (await house.desk.cancel("cup")).state is TournamentState.CANCELLED
    await house.desk.create(SPEC.replace("cup", "mug"))
    await house.desk.pause("mug")
    await eventually(house, TournamentState.PAUSED, "mug")
    assert (await house.desk.cancel("mug")).state is TournamentState.CANCELLED


async def test_a_director_that_cannot_begin_leaves_a_sentence(house: House) -> None:
    house.next_broken = PlatformError(Reason.LEDGER_UNWRITABLE, "The ledger cannot be opened.")
    await house.desk.create(SPEC)
    view = await eventually(house, TournamentState.PAUSED)
    assert view.message.startswith("The ledger cannot be opened.")


async def test_a_new_platform_goes_on_with_what_the_old_one_left(house: House, ledger: Ledger) -> None:
    for name, state in [
        ("draft", TournamentState.DRAFT),
        ("open", TournamentState.OPEN),
        ("runs", TournamentState.RUNNING),
        ("drains", TournamentState.DRAINING),
        ("rests", TournamentState.PAUSED),
        ("done", TournamentState.FINISHED),
    ]:
        ledger.create_tournament(name, SPEC.replace("cup", name), b"seed", state=state)
    house.next_lost = 1
    await house.desk.recover()
    assert [director.name for director in house.directors] == ["runs"]
    assert [ledger.tournament(name).state for name in ("draft", "open")] == ["draft", "open"]
    assert ledger.tournament("drains").state is TournamentState.PAUSED


async def test_a_stopping_platform_lets_directors_finish_and_starts_nothing(house: House, ledger: Ledger) -> None:
    await house.desk.create(SPEC)
    house.directors[0].stand(TournamentState.RUNNING)
    assert await house.desk.suspend(1) == ["cup"]
    assert house.directors[0].said == ["suspend"]
    assert ledger.tournament("cup").state is TournamentState.RUNNING
    with pytest.raises(PlatformError, match="stopping"):
        await house.desk.create(SPEC.replace("cup", "mug"))


async def test_a_pause_finds_one_that_runs_without_a_director_and_holds_also_over_a_restart(house: House) -> None:
    """It has just stopped listening, say, since the platform stops: the next one would go on with it."""
    await house.desk.create(SPEC)
    house.directors[0].gone = True
    house.directors[0].board.put(DirectorStatus(0, TournamentState.PAUSED, "stopping", 5))
    view = await house.desk.pause("cup", "let me look")
    assert (view.state, view.message) == (TournamentState.PAUSED, "let me look")
    again = House(house.ledger)
    await again.desk.recover()
    assert again.directors == []
