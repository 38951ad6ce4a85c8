"""Drafts and open tournaments as operators, bots and strangers meet them at the gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc.aio
import pytest

from baohuang.lobby.v1 import lobby_service_pb2 as lobby_pb
from baohuang.tournament.v1 import tournament_service_pb2 as pb
from bots_sdk.client.entrance import EntranceClient, OpenTournament
from bots_sdk.errors import Refused
from services.common.settings import Settings
from tests.integration.gateway.house import House, house_of, info_of
from tests.integration.gateway.test_gateway import read

SPEC = "name: cup\nprofile: qingdao\nschedule: {kind: full}\ndeals: 1\nentries: {min: 2, max: 3}\nseed: secret seed\n"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with house_of(tmp_path, Settings(data_dir=tmp_path, port=0, http_port=0)) as made:
        request = lobby_pb.RegisterBotRequest(name="ada")
        made.tokens["ada"] = (await made.lobby.RegisterBot(request, metadata=made.shown("operator"))).token
        yield made


async def say(house: House, who: str, method: str, request: Any) -> Any:
    return await getattr(house.tournaments, method)(request, metadata=house.shown(who))


async def refusal(house: House, who: str, method: str, request: Any) -> tuple[str, str]:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await say(house, who, method, request)
    return info_of(caught.value).reason.removeprefix("REASON_"), str(caught.value.details())


async def names(house: House, who: str) -> list[str]:
    return [one.name for one in (await say(house, who, "ListTournaments", pb.ListTournamentsRequest())).tournaments]


async def test_a_draft_is_there_for_operators_alone(house: House) -> None:
    made = await say(
        house, "operator", "CreateTournament", pb.CreateTournamentRequest(spec_yaml=SPEC, state=pb.STATE_DRAFT)
    )
    assert (made.tournament.state, made.tournament.HasField("plan")) == (pb.STATE_DRAFT, False)
    assert "secret seed" not in str(made)
    assert await names(house, "operator") == ["cup"]
    requests = {
        "GetTournament": pb.GetTournamentRequest(name="cup"),
        "GetStandings": pb.GetStandingsRequest(name="cup"),
        "GetRecord": pb.GetRecordRequest(name="cup"),
        "ListMatches": pb.ListMatchesRequest(name="cup"),
        "EnterBot": pb.EnterBotRequest(name="cup"),
        "WithdrawBot": pb.WithdrawBotRequest(name="cup"),
    }
    for who in ("nobody", "reader", "bot"):
        assert await names(house, who) == []
        for method, request in requests.items():
            if who == "bot" or method not in ("EnterBot", "WithdrawBot"):
                assert (await refusal(house, who, method, request))[0] == "TOURNAMENT_UNKNOWN"
        watched = house.tournaments.WatchTournament(pb.WatchTournamentRequest(name="cup"), metadata=house.shown(who))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await watched.read()
        assert info_of(caught.value).reason == "REASON_TOURNAMENT_UNKNOWN"
    assert "cup" not in await read(f"http://{house.addresses.http}/")
    assert (await say(house, "operator", "ListMatches", requests["ListMatches"])).matches == []
    assert not (await say(house, "operator", "GetStandings", requests["GetStandings"])).standings


async def test_bots_enter_themselves_and_nobody_else(house: House) -> None:
    await say(house, "operator", "CreateTournament", pb.CreateTournamentRequest(spec_yaml=SPEC, state=pb.STATE_OPEN))
    entered = (await say(house, "bot", "EnterBot", pb.EnterBotRequest(name="cup"))).tournament
    assert [(entry.bot, entry.by_itself) for entry in entered.entries] == [("bot", True)]
    assert (entered.min_entrants, entered.max_entrants, entered.state) == (2, 3, pb.STATE_OPEN)
    assert (await refusal(house, "bot", "EnterBot", pb.EnterBotRequest(name="cup", bot="ada")))[0] == "FORBIDDEN"
    assert (await refusal(house, "ada", "WithdrawBot", pb.WithdrawBotRequest(name="cup", bot="bot")))[0] == "FORBIDDEN"
    assert (await refusal(house, "reader", "EnterBot", pb.EnterBotRequest(name="cup", bot="bot")))[0] == "FORBIDDEN"
    assert (await refusal(house, "operator", "EnterBot", pb.EnterBotRequest(name="cup")))[0] == "MALFORMED"
    await say(house, "operator", "EnterBot", pb.EnterBotRequest(name="cup", bot="ada"))
    page = await read(f"http://{house.addresses.http}/?tournament=cup")
    assert "Entrants of cup" in page
    assert "2 entered, 2 to 3 may play" in page
    await say(house, "operator", "WithdrawBot", pb.WithdrawBotRequest(name="cup", bot="ada"))
    reason, said = await refusal(house, "operator", "StartTournament", pb.StartTournamentRequest(name="cup"))
    assert (reason, "it has 1 entrant and needs 2 at least" in said) == ("STATE_CONFLICT", True)
    await say(house, "operator", "EnterBot", pb.EnterBotRequest(name="cup", bot="ada"))
    started = (await say(house, "operator", "StartTournament", pb.StartTournamentRequest(name="cup"))).tournament
    assert (started.state, list(started.plan.entrants[:2]), len(started.entries)) == (
        pb.STATE_RUNNING,
        ["ada", "bot"],
        0,
    )
    reason, said = await refusal(house, "bot", "WithdrawBot", pb.WithdrawBotRequest(name="cup"))
    assert reason == "STATE_CONFLICT"
    assert "'cup' is running, it cannot be left: an operator can exclude a bot" in said


async def test_a_tournament_begins_in_no_other_state(house: House) -> None:
    for state in (3, 4, 5, 6, 99):
        request = pb.CreateTournamentRequest(spec_yaml=SPEC, state=state)  # type: ignore[arg-type]
        assert (await refusal(house, "operator", "CreateTournament", request))[0] == "MALFORMED"


async def test_a_bot_author_enters_with_the_sdk(house: House) -> None:
    await say(house, "operator", "CreateTournament", pb.CreateTournamentRequest(spec_yaml=SPEC, state=pb.STATE_OPEN))
    async with EntranceClient(house.addresses.grpc) as entrance:
        for _ in range(2):
            assert await entrance.enter(house.tokens["ada"], "cup") == OpenTournament("cup", ("ada",), 2, 3)
        assert await entrance.withdraw(house.tokens["ada"], "cup") == OpenTournament("cup", (), 2, 3)
        with pytest.raises(Refused, match="There is no tournament named 'cap'"):
            await entrance.enter(house.tokens["ada"], "cap")
