"""Records come out of the ledger when nobody can gain by them any more, and not one match earlier."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import grpc.aio
import pytest

from baohuang.tournament.v1 import tournament_service_pb2_grpc as pb_grpc
from bots_sdk.replay import decompress_record, record_from_bytes, verify_record
from services.common.errors import ErrorInterceptor, PlatformError, Reason
from services.ledger.ledger import Ledger
from services.ledger.values import TournamentState
from services.tournament.servicer import Desk, TournamentServicer
from tests.integration.tournament.playing import Stored, desk_of
from tests.unit.ledger.outcomes import make_outcome

SPEC = """\
name: {name}
profile: qingdao
options: {{beans: {beans}, titles: true}}
bots: ["house:greedy", "house:greedy#2", "house:greedy#3", "house:random", "house:random#2", "house:random#3"]
schedule: {{kind: full}}
duplicate: {duplicate}
deals: 1
seed: {seed}
"""


def make_stored(
    ledger: Ledger, name: str = "cup", *, duplicate: str = "rotation", seed: str = "one", beans: str = "true"
) -> Stored:
    return Stored(ledger, SPEC.format(name=name, duplicate=duplicate, seed=seed, beans=beans))


async def kept_back(desk: Desk, name: str, number: int) -> str:
    with pytest.raises(PlatformError) as caught:
        await desk.record(name, number)
    assert caught.value.reason is Reason.STATE_CONFLICT
    assert caught.value.metadata == {"tournament": name, "number": str(number)}
    return caught.value.message


async def test_records_are_kept_back_until_the_last_rotation_is_done(ledger: Ledger) -> None:
    stored, desk = make_stored(ledger), desk_of(ledger)
    *first, last = stored.schedule.numbers(2)
    for left, number in zip((4, 3, 2, 1), first, strict=True):
        stored.play_one(number)
        others = "another match" if left == 1 else f"{left} other matches"
        assert await kept_back(desk, "cup", number) == (
            f"The record of match {number} of 'cup' is kept back: its deals are still to be played in {others}."
        )
    elsewhere = stored.schedule.numbers(3)[0]
    stored.play_one(elsewhere)
    played = stored.play_one(last)
    assert await desk.record("cup", last) == played.record
    for number in first:
        record = record_from_bytes(decompress_record(await desk.record("cup", number)))
        verify_record(record)
        assert record.number == number
    assert "in 4 other matches" in await kept_back(desk, "cup", elsewhere)


async def test_without_rotation_a_record_is_open_at_once(ledger: Ledger) -> None:
    stored, desk = make_stored(ledger, duplicate="none"), desk_of(ledger)
    played = stored.play_one(3)
    assert await desk.record("cup", 3) == played.record


STANDING = [state for state in TournamentState if state.has_begun and state is not TournamentState.FINISHED]


@pytest.mark.parametrize("state", STANDING)
async def test_only_where_nothing_more_will_be_played_a_rotation_may_be_missing(
    ledger: Ledger, state: TournamentState
) -> None:
    stored, desk = make_stored(ledger), desk_of(ledger)
    played = stored.play_one(0)
    ledger.transition("cup", list(TournamentState), state)
    if state is TournamentState.CANCELLED:
        assert await desk.record("cup", 0) == played.record
        assert await kept_back(desk, "cup", 1) == "Match 1 of 'cup' has no result."
    else:
        assert "4 other matches" in await kept_back(desk, "cup", 0)
        assert await kept_back(desk, "cup", 1) == "Match 1 of 'cup' has no result yet."


async def test_another_tournament_with_the_same_seed_keeps_records_back(ledger: Ledger) -> None:
    stored, desk = make_stored(ledger, duplicate="none"), desk_of(ledger)
    played = stored.play_one(0)
    make_stored(ledger, "other", seed="two")
    assert await desk.record("cup", 0) == played.record
    make_stored(ledger, "again")
    assert "'again' has the same seed, so the same deals, and is not over" in await kept_back(desk, "cup", 0)
    ledger.transition("again", list(TournamentState), TournamentState.DRAFT)
    assert ": another tournament has the same seed" in await kept_back(desk, "cup", 0), "drafts are for operators alone"
    ledger.transition("again", list(TournamentState), TournamentState.FINISHED)
    assert await desk.record("cup", 0) == played.record


async def test_what_has_no_record_is_said_to_have_none(ledger: Ledger) -> None:
    make_stored(ledger, duplicate="none")
    desk = desk_of(ledger)
    ledger.record([make_outcome(2)])
    assert await kept_back(desk, "cup", 2) == "Match 2 of 'cup' was played by a version that kept no records."
    for number in (6, 2**64 - 1):
        with pytest.raises(PlatformError, match=f"'cup' has no match {number}; it has 0 to 5") as caught:
            await desk.record("cup", number)
        assert caught.value.reason is Reason.MALFORMED
    with pytest.raises(PlatformError) as unknown:
        await desk.record("mug", 0)
    assert unknown.value.reason is Reason.TOURNAMENT_UNKNOWN


# ---- the commands


@pytest.fixture
async def server(ledger: Ledger) -> AsyncIterator[str]:
    made = grpc.aio.server(interceptors=[ErrorInterceptor()])
    pb_grpc.add_TournamentServiceServicer_to_server(TournamentServicer(desk_of(ledger)), made)
    port = made.add_insecure_port("127.0.0.1:0")
    await made.start()
    yield f"127.0.0.1:{port}"
    await made.stop(0)


async def baohuang(*arguments: str, folder: Path, code: int = 0) -> str:
    """What a command says, to either side."""
    command = [sys.executable, "-m", "bots_sdk.cli", *arguments]
    done = await asyncio.to_thread(
        subprocess.run, command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


async def test_a_record_is_saved_and_checked_on_the_command_line(ledger: Ledger, server: str, tmp_path: Path) -> None:
    stored = make_stored(ledger)
    numbers = stored.schedule.numbers(0)
    stored.play_one(numbers[0])
    where = ("--server", server)
    said = await baohuang("tournament", "record", "cup", str(numbers[0]), *where, folder=tmp_path, code=1)
    assert "is kept back: its deals are still to be played in 4 other matches." in said
    assert not (tmp_path / f"cup-{numbers[0]}.pb.z").exists()
    for number in numbers[1:]:
        stored.play_one(number)
    said = await baohuang("tournament", "record", "cup", str(numbers[0]), *where, folder=tmp_path)
    assert f"baohuang replay verify cup-{numbers[0]}.pb.z" in said
    await baohuang("replay", "verify", f"cup-{numbers[0]}.pb.z", folder=tmp_path)
    arguments = ("tournament", "record", "cup", str(numbers[1]), "-o", "other.pb.z", "--json", *where)
    told = json.loads(await baohuang(*arguments, folder=tmp_path))
    assert told == {"file": "other.pb.z", "bytes": (tmp_path / "other.pb.z").stat().st_size}
    said = await baohuang(*arguments[:4], "-o", "nowhere/other.pb.z", *where, folder=tmp_path, code=1)
    assert "The file nowhere/other.pb.z cannot be written (No such file or directory)" in said


async def test_matches_are_listed_with_their_numbers(ledger: Ledger, server: str, tmp_path: Path) -> None:
    stored = make_stored(ledger, duplicate="none")
    listing = ("tournament", "matches", "cup", "--server", server)
    assert "No match of cup has a result yet." in await baohuang(*listing, folder=tmp_path)
    outcomes = [stored.play_one(number) for number in (1, 3, 4)]
    table = await baohuang(*listing, folder=tmp_path)
    for outcome, seats in zip(outcomes, map(stored.fixtures.seats, (1, 3, 4)), strict=True):
        points = outcome.deals[0].points
        assert f"{seats[0].name} {points[0]:+d}" in table
    some = json.loads(await baohuang(*listing, "--limit", "2", "--json", folder=tmp_path))
    assert [one["number"] for one in some] == [1, 3]
    assert [tuple(one["points"]) for one in some] == [outcome.deals[0].points for outcome in outcomes[:2]]


async def test_standings_by_beans_on_the_command_line(ledger: Ledger, server: str, tmp_path: Path) -> None:
    stored = make_stored(ledger)
    await stored.play_all()
    by_beans = ("tournament", "standings", "cup", "--by", "beans", "--server", server)
    lines = json.loads(await baohuang(*by_beans, "--json", folder=tmp_path))["standings"]
    assert [line["beans_per_deal"] for line in lines] == sorted(
        (line["beans_per_deal"] for line in lines), reverse=True
    )
    assert all(isinstance(line["beans"], int) and line["title"] for line in lines)
    table = await baohuang(*by_beans, folder=tmp_path)
    assert "beans/deal" in table
    assert "家丁" in table
    assert f"{lines[0]['beans_per_deal']:+,.1f}" in table
    plain = make_stored(ledger, "plain", seed="two", beans="false")
    plain.play_one(0)
    without = ("tournament", "standings", "plain", "--server", server)
    assert "beans" not in await baohuang(*without, folder=tmp_path)
    said = await baohuang(*without, "--by", "beans", folder=tmp_path, code=1)
    assert "The tournament 'plain' has no table by beans: the option `beans` is off in it." in said
