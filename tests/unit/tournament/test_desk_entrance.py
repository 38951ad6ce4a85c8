"""Drafts and open tournaments: who plays is settled at the start, once, and nothing of it is lost in between."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest

from services.common.buckets import Rate
from services.common.clock import ManualClock
from services.common.errors import PlatformError, Reason
from services.ledger.ledger import Ledger
from services.ledger.values import Side, TournamentState
from services.tournament.servicer import Desk
from services.tournament.servicer.plans import spec_of
from services.tournament.servicer.verbs import ALLOWED, Verb
from tests.unit.tournament.test_desk_rulings import refused

from .test_desk import House, eventually, house, ledger

__all__ = ["house", "ledger"]

OPEN = "name: cup\nprofile: qingdao\nschedule: {kind: full}\ndeals: 2\nentries: {min: 2, max: 6}\n"
DRAFT, RUNNING = TournamentState.DRAFT, TournamentState.RUNNING
BOT, OPERATOR = Side.BOT, Side.OPERATOR


def names(ledger: Ledger) -> list[str]:
    return [entry.name for entry in ledger.entries("cup") if entry.is_in]


async def test_from_a_draft_to_a_tournament_that_runs(house: House) -> None:
    view = await house.desk.create(OPEN, DRAFT)
    assert (view.state, view.plan, view.entries, house.directors) == (DRAFT, None, (), [])
    view = await house.desk.open("cup")
    assert (view.state, view.rules and (view.rules.min, view.rules.max)) == (TournamentState.OPEN, (2, 6))
    await house.desk.enter("cup", "bob", BOT)
    view = await house.desk.enter("cup", "ada", BOT)
    assert [entry.name for entry in view.entries] == ["ada", "bob"]
    view = await house.desk.start("cup")
    assert (view.state, view.entries, view.rules) == (RUNNING, (), None)
    assert view.plan is not None
    assert view.plan.spec.entrants[:2] == ("ada", "bob")
    assert spec_of(view.tournament).bots == ("ada", "bob")
    assert [director.name for director in house.directors] == ["cup"]


async def test_the_seed_is_drawn_once_and_shown_to_nobody(house: House) -> None:
    await house.desk.create(OPEN + "seed: no bot may know\n", DRAFT)
    await house.desk.edit(OPEN.replace("max: 6", "max: 7"))
    await house.desk.open("cup")
    for name in ("ada", "bob"):
        await house.desk.enter("cup", name, OPERATOR)
    view = await house.desk.start("cup")
    assert "no bot may know" not in view.tournament.spec_yaml
    assert spec_of(view.tournament).seed == "no bot may know"


async def test_the_line_up_and_so_the_deals_are_those_of_a_file_that_names_the_same(house: House) -> None:
    for name in ("zoe", "eve"):
        house.ledger.create_bot(f"id-{name}", name, owner="", version="", token_hash=name.encode().ljust(32))
    await house.desk.create(OPEN + "seed: s\nbots: [bob]\n", TournamentState.OPEN)
    for name in ("zoe", "ada", "eve"):
        await house.desk.enter("cup", name, BOT)
    started = await house.desk.start("cup")
    named = OPEN.replace("cup", "mug").replace("entries: {min: 2, max: 6}\n", "bots: [bob, ada, eve, zoe]\n")
    named_at_once = await house.desk.create(named + "seed: s\n")
    assert started.plan is not None
    assert named_at_once.plan is not None
    assert started.plan.spec.bots == named_at_once.plan.spec.bots
    assert list(started.plan.schedule) == list(named_at_once.plan.schedule)


async def test_too_few_is_a_sentence_and_changes_nothing(house: House) -> None:
    await house.desk.create(OPEN, TournamentState.OPEN)
    await house.desk.enter("cup", "ada", BOT)
    error = await refused(house.desk.start("cup"))
    assert error.reason is Reason.STATE_CONFLICT
    assert error.message == "The tournament 'cup' cannot start: it has 1 entrant and needs 2 at least."
    assert (await house.desk.view("cup")).state is TournamentState.OPEN
    error = await refused(house.desk.create(OPEN.replace("cup", "mug") + "bots: [ada]\n"))
    assert error.message == (
        "The tournament 'mug' cannot start: it has 1 entrant and needs 2 at least; "
        "to let others enter first: `baohuang tournament create --open`."
    )
    error = await refused(house.desk.create(OPEN + "bots: [ada]\n"))
    assert error.message == "There is a tournament named 'cup' already.", "before it is said what is wrong with it"
    assert (await refused(house.desk.view("mug"))).reason is Reason.TOURNAMENT_UNKNOWN
    assert house.directors == []


async def test_a_line_up_that_the_schedule_cannot_have_is_a_sentence(house: House) -> None:
    gauntlet = OPEN.replace("{kind: full}", "{kind: gauntlet, challengers: [ada], matches: 10}")
    await house.desk.create(gauntlet.replace("min: 2", "min: 1"), TournamentState.OPEN)
    await house.desk.enter("cup", "bob", BOT)
    error = await refused(house.desk.start("cup"))
    assert "'cup' cannot start with 1 entrant: schedule: the challenger 'ada' is not among the bots" in error.message
    await house.desk.enter("cup", "ada", BOT)
    assert (await house.desk.start("cup")).state is RUNNING


async def test_operators_enter_whom_there_is_and_bots_themselves_where_they_may(house: House) -> None:
    await house.desk.create(OPEN.replace("max: 6", "max: 6, names: [b*]"), TournamentState.OPEN)
    await house.desk.enter("cup", "bob", BOT)
    error = await refused(house.desk.enter("cup", "ada", BOT))
    assert (error.reason, "among those who may enter 'cup': b*" in error.message) == (Reason.STATE_CONFLICT, True)
    await house.desk.enter("cup", "ada", OPERATOR)
    await house.desk.enter("cup", "house:greedy#2", OPERATOR)
    for name in ("eve", "house:clever", "house:greedy#1"):
        assert (await refused(house.desk.enter("cup", name, OPERATOR))).reason is Reason.BOT_UNKNOWN
    await house.desk.withdraw("cup", "bob", OPERATOR)
    assert "An operator has withdrawn" in (await refused(house.desk.enter("cup", "bob", BOT))).message
    assert names(house.ledger) == ["ada", "house:greedy#2"]


async def test_a_draft_is_no_bots_business(house: House) -> None:
    await house.desk.create(OPEN, DRAFT)
    assert (await refused(house.desk.enter("cup", "ada", BOT))).reason is Reason.TOURNAMENT_UNKNOWN
    assert (await refused(house.desk.enter("cup", "ada", OPERATOR))).reason is Reason.STATE_CONFLICT


async def test_a_bot_that_cannot_make_up_its_mind_is_told_to_wait(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.tournament.servicer.entrance.CHANGES", Rate(per_second=0.1, burst=2))
    clock = ManualClock()
    desk = Desk(house.ledger, house.launch, new_seed=lambda: "s", clock=clock)
    await desk.create(OPEN, TournamentState.OPEN)
    await desk.enter("cup", "ada", BOT)
    await desk.withdraw("cup", "ada", BOT)
    assert (await refused(desk.enter("cup", "ada", BOT))).reason is Reason.RATE_LIMITED
    await desk.enter("cup", "bob", BOT)
    await desk.enter("cup", "ada", OPERATOR)
    clock.advance(11)
    await desk.withdraw("cup", "ada", BOT)
    assert names(house.ledger) == ["bob"]


async def test_a_draft_is_edited_and_an_open_tournament_is_not(house: House) -> None:
    await house.desk.create(OPEN + "bots: [ada]\n", DRAFT)
    view = await house.desk.edit(OPEN.replace("deals: 2", "deals: 3") + "bots: [bob, ada]\n")
    assert [entry.name for entry in view.entries] == ["ada", "bob"]
    assert "deals: 3" in view.tournament.spec_yaml
    assert (await refused(house.desk.edit(OPEN.replace("cup", "mug")))).reason is Reason.TOURNAMENT_UNKNOWN
    assert (await refused(house.desk.edit(OPEN + "bots: [eve]\n"))).reason is Reason.BOT_UNKNOWN
    assert (await refused(house.desk.edit("name: cup\n"))).reason is Reason.SPEC_INVALID
    await house.desk.open("cup")
    assert "is open, it cannot be changed" in (await refused(house.desk.edit(OPEN))).message


async def test_said_twice_it_is_done_once(house: House) -> None:
    await house.desk.create(OPEN, DRAFT)
    for _ in range(2):
        await house.desk.open("cup")
        for name in ("ada", "bob"):
            await house.desk.enter("cup", name, BOT)
    await asyncio.gather(*(house.desk.start("cup") for _ in range(3)))
    assert (await house.desk.start("cup")).state is RUNNING
    assert len(house.directors) == 1


async def test_cancelled_before_the_start_it_stays_so(house: House) -> None:
    await house.desk.create(OPEN, TournamentState.OPEN)
    for _ in range(2):
        view = await house.desk.cancel("cup")
        assert (view.state, view.plan) == (TournamentState.CANCELLED, None)
    assert await house.desk.standings("cup") == []
    for call in (house.desk.start, house.desk.open, house.desk.resume):
        assert (await refused(call("cup"))).reason is Reason.STATE_CONFLICT
    assert (await refused(house.desk.record("cup", 0))).reason is Reason.STATE_CONFLICT
    assert (await refused(house.desk.exclude("cup", "ada", annulled=False))).reason is Reason.BOT_UNKNOWN
    assert house.directors == []


async def test_who_enters_while_it_starts_is_in_or_is_told_that_it_is_too_late(house: House) -> None:
    await house.desk.create(OPEN + "bots: [bob, house:greedy]\n", TournamentState.OPEN)
    said: list[Awaitable[object]] = [house.desk.start("cup"), house.desk.enter("cup", "ada", BOT)]
    started, entered = await asyncio.gather(*said, return_exceptions=True)
    assert not isinstance(started, BaseException)
    plays = "ada" in spec_of(house.ledger.tournament("cup")).bots
    assert plays == (not isinstance(entered, PlatformError))


async def test_whoever_watches_an_open_tournament_sees_who_comes_and_the_start(house: House) -> None:
    await house.desk.create(OPEN + "bots: [bob]\n", TournamentState.OPEN)
    seen: list[tuple[str, int]] = []
    async with asyncio.timeout(60):
        async for view in house.desk.watch("cup"):
            now = (str(view.state), len(view.entries))
            if now not in seen:
                seen.append(now)
                if now == ("open", 1):
                    await house.desk.enter("cup", "ada", BOT)
                elif now == ("open", 2):
                    await house.desk.start("cup")
                elif view.state is RUNNING:
                    house.directors[0].stand(TournamentState.FINISHED)
    assert seen == [("open", 1), ("open", 2), ("running", 0), ("finished", 0)]


async def test_whoever_watches_an_open_tournament_hears_that_it_is_cancelled(house: House) -> None:
    await house.desk.create(OPEN, TournamentState.OPEN)
    async with asyncio.timeout(60):
        async for view in house.desk.watch("cup"):
            if view.state is TournamentState.OPEN:
                await house.desk.cancel("cup")
    assert view.state is TournamentState.CANCELLED


async def test_nothing_is_kept_of_who_watches_what_is_not_there_or_looks_away(house: House) -> None:
    """Everybody may ask for any name, as often as they like: each left an event behind."""
    await house.desk.create(OPEN, TournamentState.OPEN)
    for name in [f"nothing-{number}" for number in range(20)]:
        with pytest.raises(PlatformError, match="There is no tournament named"):
            await anext(house.desk.watch(name))
    watching = house.desk.watch("cup")
    assert isinstance(watching, AsyncGenerator)
    await anext(watching)
    news = house.desk._entrance._news
    assert "cup" in news
    await watching.aclose()
    async with asyncio.timeout(60):
        while news:  # noqa: ASYNC110 - until the tasks that were cancelled have had their turns
            await asyncio.sleep(0.001)


async def test_a_platform_that_is_killed_between_any_two_verbs_has_lost_nothing(house: House, ledger: Ledger) -> None:
    """Each verb is said to a desk of its own, which knows no more than what the ledger says."""
    desks: list[Desk] = []

    def fresh() -> Desk:
        desks.append(Desk(ledger, house.launch, new_seed=lambda: f"seed-{len(desks)}"))
        return desks[-1]

    await fresh().create(OPEN, DRAFT)
    await fresh().edit(OPEN.replace("deals: 2", "deals: 1"))
    await fresh().open("cup")
    await fresh().enter("cup", "bob", BOT)
    await fresh().enter("cup", "house:greedy", OPERATOR)
    await fresh().enter("cup", "ada", BOT)
    await fresh().withdraw("cup", "house:greedy", OPERATOR)
    await fresh().set_in_flight("cup", 3)
    recovered = fresh()
    await recovered.recover()
    assert house.directors == []
    # killed right after the start was written, before there was a director
    await recovered._entrance.start("cup")
    last = fresh()
    await last.recover()
    view = await last.view("cup")
    assert (view.state, view.plan and view.plan.spec.bots, view.rulings.in_flight) == (RUNNING, ("ada", "bob"), 3)
    assert spec_of(view.tournament).seed == "seed-1"
    assert [director.name for director in house.directors] == ["cup"]
    await last.suspend(0)


@pytest.mark.parametrize("verb", ["create", "start", "resume", "exclude", "cancel"])
async def test_a_verb_is_carried_through_though_whoever_said_it_has_gone_away(
    house: House, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """What is half done by an operator who presses Ctrl-C would be running and played by nobody, until a restart."""
    text = OPEN + "bots: [ada, bob]\n"
    if verb == "start":
        await house.desk.create(text, TournamentState.OPEN)
    elif verb != "create":
        await house.desk.create(text)
        if verb != "exclude":
            house.directors[0].stand(TournamentState.PAUSED)
            await eventually(house, TournamentState.PAUSED)
    steps = {"create": "create_tournament", "start": "start_tournament", "exclude": "exclude"}
    written, go_on = asyncio.Event(), threading.Event()
    loop, write = asyncio.get_running_loop(), getattr(ledger, step := steps.get(verb, "transition"))

    def slow(*args: Any, **named: Any) -> Any:
        answer = write(*args, **named)
        loop.call_soon_threadsafe(written.set)
        go_on.wait(60)
        return answer

    monkeypatch.setattr(ledger, step, slow)
    said: dict[str, Callable[[], Awaitable[object]]] = {
        "create": lambda: house.desk.create(text),
        "start": lambda: house.desk.start("cup"),
        "resume": lambda: house.desk.resume("cup"),
        "exclude": lambda: house.desk.exclude("cup", "bob", annulled=True),
        "cancel": lambda: house.desk.cancel("cup"),
    }
    asked = asyncio.ensure_future(said[verb]())
    await written.wait()
    watching = asyncio.ensure_future(house.desk._entrance.wait_for_news("cup"))
    await asyncio.sleep(0)
    asked.cancel()
    await asyncio.wait([asked])
    go_on.set()
    is_done: dict[str, Callable[[], bool]] = {
        "create": lambda: len(house.directors) == 1,
        "start": lambda: len(house.directors) == 1,
        "resume": lambda: len(house.directors) == 2,
        "exclude": lambda: house.directors[0].said == ["heed"],
        "cancel": watching.done,
    }
    async with asyncio.timeout(60):
        while not is_done[verb]():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    watching.cancel()


async def test_one_that_is_cancelled_while_it_is_being_resumed_is_played_by_nobody(
    house: House, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.desk.create(OPEN + "bots: [ada, bob]\n")
    house.directors[0].stand(TournamentState.PAUSED)
    await eventually(house, TournamentState.PAUSED)
    written, go_on = asyncio.Event(), threading.Event()
    loop, transition = asyncio.get_running_loop(), ledger.transition

    def slow(name: str, allowed: Any, state: TournamentState, message: str = "") -> Any:
        answer = transition(name, allowed, state, message)
        if state is RUNNING:
            loop.call_soon_threadsafe(written.set)
            go_on.wait(60)
        return answer

    monkeypatch.setattr(ledger, "transition", slow)
    resumed = asyncio.ensure_future(house.desk.resume("cup"))
    await written.wait()
    cancelled = asyncio.ensure_future(house.desk.cancel("cup"))
    await asyncio.wait([cancelled], timeout=0.1)
    go_on.set()
    await asyncio.gather(resumed, cancelled)
    assert ledger.tournament("cup").state is TournamentState.CANCELLED
    assert [director.said for director in house.directors[1:]] == [["cancel"]]


VERBS: dict[Verb, Callable[[Desk], Awaitable[object]]] = {
    Verb.EDIT: lambda desk: desk.edit(OPEN),
    Verb.OPEN: lambda desk: desk.open("cup"),
    Verb.ENTER: lambda desk: desk.enter("cup", "ada", OPERATOR),
    Verb.WITHDRAW: lambda desk: desk.withdraw("cup", "bob", OPERATOR),
    Verb.START: lambda desk: desk.start("cup"),
    Verb.PAUSE: lambda desk: desk.pause("cup"),
    Verb.RESUME: lambda desk: desk.resume("cup"),
    Verb.CANCEL: lambda desk: desk.cancel("cup"),
    Verb.EXCLUDE: lambda desk: desk.exclude("cup", "bob", annulled=True),
    Verb.REQUEUE: lambda desk: desk.requeue("cup", 0),
    Verb.IN_FLIGHT: lambda desk: desk.set_in_flight("cup", 5),
}


@pytest.mark.parametrize("state", list(TournamentState))
@pytest.mark.parametrize("verb", list(Verb))
async def test_the_desk_keeps_to_the_table(house: House, ledger: Ledger, verb: Verb, state: TournamentState) -> None:
    """Without a director: as it is right after a platform was started again, and everywhere beyond."""
    entries = "" if state.has_begun else "entries: {}\n"
    text = OPEN.replace("entries: {min: 2, max: 6}\n", f"bots: [bob]\n{entries}")
    ledger.create_tournament("cup", text, b"seed", state=state, entrants=["bob"])
    if state in ALLOWED[verb]:
        await VERBS[verb](house.desk)
        return
    error = await refused(VERBS[verb](house.desk))
    assert (error.reason, "Allowed are: " in error.message) == (Reason.STATE_CONFLICT, True)
    assert ledger.tournament("cup").state is state
    assert names(ledger) == ["bob"]
    assert ledger.rulings("cup").exclusions == ()
    assert house.directors == []


async def test_planning_what_bots_may_enter_is_for_the_fewest(house: House) -> None:
    plan = await house.desk.plan(OPEN.replace("min: 2", "min: 6") + "bots: [ada]\n")
    assert plan.spec.entrants == ("ada", *(f"entrant ({number})" for number in range(2, 7)))
    assert plan.report.matches == 30
    assert (await house.desk.page("", 10)).items == ()


async def test_finished_is_finished(house: House) -> None:
    await house.desk.create(OPEN + "bots: [ada, bob]\n")
    house.directors[0].stand(TournamentState.FINISHED)
    await eventually(house, TournamentState.FINISHED)
    assert "Allowed are: exclude." in (await refused(house.desk.start("cup"))).message
