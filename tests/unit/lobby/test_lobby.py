"""The lobby without a network: tokens, who is in, tickets, and who is told what when."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from services.access.tokens import hash_token
from services.common.buckets import Rate
from services.common.clock import ManualClock
from services.common.errors import PlatformError, Reason
from services.common.metrics import LobbyMetrics
from services.common.tickets import TokenEnd, verify_ticket
from services.ledger.ledger import Ledger
from services.ledger.values import Bot
from services.lobby.attendance import Assignment, Attendance, LobbyTerms, MatchServiceInfo
from services.lobby.lobby import Lobby
from services.lobby.presence import Presence
from tests.unit.lobby.conftest import KEY, TERMS

ONE = MatchServiceInfo("match-1", "127.0.0.1:7501")
TWO = MatchServiceInfo("match-2", "127.0.0.1:7502")


async def come_in(lobby: Lobby, name: str = "alpha") -> Bot:
    return (await lobby.register(name, "ann", "1.0")).bot


def attend(lobby: Lobby, bot: Bot, tables: int = 4) -> AbstractContextManager[Attendance]:
    return lobby.attend(bot, sdk="python/0.1.0", protocol_version=1, tables=tables)


async def heard(assignments: AsyncIterator[Assignment]) -> Assignment:
    async with asyncio.timeout(60):
        return await anext(assignments)


async def refusal(awaited: object) -> PlatformError:
    assert asyncio.iscoroutine(awaited)
    with pytest.raises(PlatformError) as caught:
        await awaited
    return caught.value


# ------------------------------------------------------------------------------------------------------------ tokens


async def test_a_registered_bot_is_known_by_its_token(lobby: Lobby, ledger: Ledger, metrics: LobbyMetrics) -> None:
    made = await lobby.register("alpha", "ann", "1.0")
    assert ledger.bot_with_token(hash_token(made.token)) == made.bot
    assert (made.bot.name, made.bot.owner, made.bot.version) == ("alpha", "ann", "1.0")
    assert metrics.registrations == 1
    assert made.token not in repr(made)


async def test_no_file_of_the_ledger_holds_the_token(lobby: Lobby, tmp_path: Path) -> None:
    made = await lobby.register("alpha", "ann", "1.0")
    files = await asyncio.to_thread(lambda: [file.read_bytes() for file in tmp_path.iterdir()])
    assert any(b"alpha" in content for content in files)
    assert not any(made.token.encode() in content for content in files)


async def test_a_name_is_given_once_and_never_a_house_bots(lobby: Lobby) -> None:
    await lobby.register("alpha", "ann", "1.0")
    assert (await refusal(lobby.register("alpha", "bob", "2.0"))).reason is Reason.NAME_TAKEN
    assert (await refusal(lobby.register("Greedy", "bob", "2.0"))).reason is Reason.NAME_INVALID
    assert (await refusal(lobby.register("beta", "bob", "2\n0"))).metadata["field"] == "version"


async def test_rotating_ends_the_old_token_and_tells_it(
    lobby: Lobby, ledger: Ledger, clock: ManualClock, sent_away: list[TokenEnd]
) -> None:
    made = await lobby.register("alpha", "ann", "1.0")
    token = await lobby.rotate(made.bot, hash_token(made.token))
    assert ledger.bot_with_token(hash_token(made.token)) is None
    bot = ledger.bot_with_token(hash_token(token))
    assert bot is not None
    assert sent_away == [TokenEnd(bot.bot_id, bot.token_since, clock.now() + TERMS.ticket_life)]


async def test_revoking_ends_the_token_and_tells_it(lobby: Lobby, ledger: Ledger, sent_away: list[TokenEnd]) -> None:
    made = await lobby.register("alpha", "ann", "1.0")
    await lobby.revoke(made.bot, hash_token(made.token))
    assert ledger.bot_with_token(hash_token(made.token)) is None
    (end,) = sent_away
    assert (end.bot_id, end.before > made.bot.token_since) == (made.bot.bot_id, True)


async def test_a_token_that_was_taken_away_meanwhile_gets_no_other(lobby: Lobby, sent_away: list[TokenEnd]) -> None:
    """A stranger who is being thrown out asks for a new token at the same instant."""
    made = await lobby.register("alpha", "ann", "1.0")
    await lobby.revoke_for("alpha", "op")
    for late in (lobby.rotate(made.bot, hash_token(made.token)), lobby.revoke(made.bot, hash_token(made.token))):
        assert (await refusal(late)).reason is Reason.TOKEN_UNKNOWN
    assert len(sent_away) == 1


async def test_an_operator_throws_a_bot_out_and_lets_it_in_again(
    lobby: Lobby, ledger: Ledger, sent_away: list[TokenEnd], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    made = await lobby.register("alpha", "ann", "1.0")
    await lobby.revoke_for("alpha", "op")
    assert ledger.bot_with_token(hash_token(made.token)) is None
    token = await lobby.rotate_for("alpha", "op")
    bot = ledger.bot_with_token(hash_token(token))
    assert bot is not None
    assert (bot.bot_id, bot.revoked_at) == (made.bot.bot_id, None)
    assert [end.bot_id for end in sent_away] == [bot.bot_id] * 2
    assert sent_away[0].before < sent_away[1].before == bot.token_since
    assert [record.message for record in caplog.records][1:] == ["bot thrown out", "bot got another token"]
    assert all(vars(record)["by"] == "op" for record in caplog.records[1:])
    assert not any(token in str(vars(record)) for record in caplog.records)


async def test_only_a_bot_that_is_there_can_be_thrown_out(lobby: Lobby) -> None:
    for call in (lobby.revoke_for("nobody", "op"), lobby.rotate_for("nobody", "op")):
        error = await refusal(call)
        assert (error.reason, error.metadata) == (Reason.BOT_UNKNOWN, {"name": "nobody"})


async def test_match_services_that_begin_are_told_what_ended_while_tickets_may_be_around(
    lobby: Lobby, ledger: Ledger, clock: ManualClock, sent_away: list[TokenEnd]
) -> None:
    first, second = await come_in(lobby, "alpha"), await come_in(lobby, "beta")
    await come_in(lobby, "gamma")
    await lobby.revoke_for("alpha", "op")
    clock.advance(TERMS.ticket_life.total_seconds() - 1)
    await lobby.rotate_for("beta", "op")
    assert {end.bot_id for end in await lobby.ended_tokens()} == {first.bot_id, second.bot_id}
    clock.advance(2)
    # also by a gateway that has been restarted
    (end,) = await Lobby(ledger, KEY, clock=clock, terms=TERMS).ended_tokens()
    assert (end.bot_id, end.before) == (second.bot_id, sent_away[1].before)


async def test_who_registers_bots_by_the_hundred_has_to_wait(ledger: Ledger, clock: ManualClock) -> None:
    lobby = Lobby(ledger, KEY, clock=clock, terms=replace(TERMS, registrations=Rate(per_second=0.5, burst=3)))
    for number in range(3):
        await lobby.register(f"bot-{number}", "", "", "10.0.0.1")
    error = await refusal(lobby.register("bot-3", "", "", "10.0.0.1"))
    assert (error.reason, error.metadata) == (Reason.RATE_LIMITED, {"retry_after_ms": "2001"})
    # others need not wait, nor does an operator
    await lobby.register("bot-4", "", "", "10.0.0.2")
    await lobby.register("bot-5", "", "")
    # and who has waited as long as was said comes in
    clock.advance(2.001)
    await lobby.register("bot-3", "", "", "10.0.0.1")


async def test_a_bot_that_comes_in_again_and_again_has_to_wait(ledger: Ledger, clock: ManualClock) -> None:
    lobby = Lobby(ledger, KEY, clock=clock, terms=replace(TERMS, arrivals=Rate(per_second=1, burst=2)))
    bot, other = await come_in(lobby), await come_in(lobby, "beta")
    for _ in range(2):
        with attend(lobby, bot):
            pass
    with pytest.raises(PlatformError, match="'alpha' comes in too often") as caught, attend(lobby, bot):
        pass
    assert caught.value.reason is Reason.RATE_LIMITED
    with attend(lobby, other):
        pass
    clock.advance(int(caught.value.metadata["retry_after_ms"]) / 1000)
    with attend(lobby, bot):
        assert bot.bot_id in lobby.here()


# --------------------------------------------------------------------------------------------------------- attending


async def test_a_bot_is_in_while_it_attends(lobby: Lobby, clock: ManualClock, metrics: LobbyMetrics) -> None:
    bot = await come_in(lobby)
    bot_id = bot.bot_id
    assert lobby.sighting(bot_id) is None
    with attend(lobby, bot, tables=7):
        assert lobby.here() == {bot_id: lobby.sighting(bot_id)}
        sighting = lobby.sighting(bot_id)
        assert sighting is not None
        assert (sighting.presence, sighting.tables, sighting.since) == (Presence.HERE, 7, clock.now())
        assert metrics.bots_attending == 1
        clock.advance(5)
    sighting = lobby.sighting(bot_id)
    assert sighting is not None
    assert (sighting.presence, sighting.since) == (Presence.AWAY, clock.now())
    assert (lobby.here(), metrics.bots_attending) == ({}, 0)


async def test_who_came_and_left_is_in_the_log_without_the_token(
    lobby: Lobby, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    made = await lobby.register("alpha", "ann", "1.0")
    with attend(lobby, made.bot, tables=7):
        pass
    assert [record.message for record in caplog.records] == ["bot registered", "bot came", "bot left"]
    assert all(vars(record)["bot"] == "alpha" for record in caplog.records)
    assert not any(made.token in str(vars(record)) for record in caplog.records)


async def test_of_two_attendances_the_newest_stays(lobby: Lobby, metrics: LobbyMetrics) -> None:
    bot = await come_in(lobby)
    with attend(lobby, bot) as older, attend(lobby, bot) as newest:
        error = await refusal(heard(older.assignments()))
        assert error.reason is Reason.SUPERSEDED
        assert "alpha" in error.message
        await heard(newest.assignments())
        assert metrics.bots_attending == 1


async def test_the_end_of_the_older_attendance_does_not_make_the_bot_away(lobby: Lobby) -> None:
    bot = await come_in(lobby)
    older = attend(lobby, bot, tables=3)
    older.__enter__()
    with attend(lobby, bot, tables=4):
        older.__exit__(None, None, None)
        sighting = lobby.sighting(bot.bot_id)
        assert sighting is not None
        assert (sighting.presence, sighting.tables) == (Presence.HERE, 4)


@pytest.mark.parametrize(
    ("changes", "reason", "sentence"),
    [
        ({"protocol_version": 2}, Reason.VERSION_UNSUPPORTED, "version 2 of the protocol, this platform version 1"),
        ({"protocol_version": 0}, Reason.VERSION_UNSUPPORTED, "version 0"),
        ({"tables": 0}, Reason.MALFORMED, "tables is 0, it must be 1 to 10000"),
        ({"tables": 10_001}, Reason.MALFORMED, "tables is 10001"),
        ({"sdk": "x" * 101}, Reason.MALFORMED, "sdk has 101 characters"),
    ],
)
async def test_what_cannot_be_attended_is_refused(
    lobby: Lobby, changes: dict[str, Any], reason: Reason, sentence: str
) -> None:
    bot = await come_in(lobby)
    asked: dict[str, Any] = {"sdk": "python/0.1.0", "protocol_version": 1, "tables": 4} | changes
    with pytest.raises(PlatformError, match=sentence) as caught, lobby.attend(bot, **asked):
        pass
    assert caught.value.reason is reason
    assert lobby.sighting(bot.bot_id) is None


async def test_a_platform_that_stops_sends_all_away_and_lets_nobody_in(lobby: Lobby) -> None:
    bot = await come_in(lobby)
    with attend(lobby, bot) as attendance:
        lobby.drain()
        assert (await refusal(heard(attendance.assignments()))).reason is Reason.DRAINING
    with pytest.raises(PlatformError) as caught, attend(lobby, bot):
        pass
    assert caught.value.reason is Reason.DRAINING


# ----------------------------------------------------------------------------------------------------------- tickets


async def test_tickets_let_the_bot_into_its_match_services(lobby: Lobby, clock: ManualClock) -> None:
    lobby.set_match_services([ONE, TWO])
    bot = await come_in(lobby)
    with attend(lobby, bot, tables=5) as attendance:
        told = await heard(attendance.assignments())
    assert [(given.match_service, given.tables) for given in told.match_services] == [(ONE, 3), (TWO, 2)]
    assert told.silence_limit == TERMS.silence_limit
    for given in told.match_services:
        ticket = verify_ticket(KEY, given.ticket, given.match_service.name, clock.now())
        assert (ticket.bot_id, ticket.bot_name, ticket.token_since) == (bot.bot_id, "alpha", bot.token_since)
        assert given.ticket not in repr(told)
        assert (ticket.tables, ticket.expires_at) == (given.tables, given.expires_at)
        assert given.expires_at == clock.now() + TERMS.ticket_life


async def test_without_match_services_the_bot_waits_and_is_told_when_there_are_some(lobby: Lobby) -> None:
    with attend(lobby, await come_in(lobby)) as attendance:
        assignments = attendance.assignments()
        assert (await heard(assignments)).match_services == ()
        lobby.set_match_services([ONE])
        assert [given.match_service for given in (await heard(assignments)).match_services] == [ONE]


async def test_every_bot_hears_of_every_change_at_once(lobby: Lobby) -> None:
    first, second = await come_in(lobby, "alpha"), await come_in(lobby, "beta")
    moved = replace(ONE, address="127.0.0.1:7999")
    with attend(lobby, first) as one, attend(lobby, second) as other:
        streams = [one.assignments(), other.assignments()]
        for services in ([ONE], [ONE, TWO], [moved, TWO], [TWO], []):
            lobby.set_match_services(services)
            for stream in streams:  # heard() would not wait for the next sign of life
                told = await heard(stream)
                assert [given.match_service for given in told.match_services] == services
                assert sum(given.tables for given in told.match_services) == (4 if services else 0)


async def test_tickets_that_still_fit_stay_the_same(lobby: Lobby, metrics: LobbyMetrics, clock: ManualClock) -> None:
    lobby.set_match_services([ONE])
    with attend(lobby, await come_in(lobby)) as attendance:
        first = attendance.assignment()
        clock.advance(TERMS.ticket_life.total_seconds() / 2 - 1)
        assert attendance.assignment() == first
    assert metrics.tickets_issued == 1


async def test_a_ticket_is_replaced_when_half_its_time_is_over(lobby: Lobby, clock: ManualClock) -> None:
    lobby.set_match_services([ONE])
    with attend(lobby, await come_in(lobby)) as attendance:
        (first,) = attendance.assignment().match_services
        clock.advance(TERMS.ticket_life.total_seconds() / 2)
        (second,) = attendance.assignment().match_services
    assert second.ticket != first.ticket
    assert second.expires_at == clock.now() + TERMS.ticket_life


async def test_a_match_service_that_restarts_elsewhere_keeps_its_name(lobby: Lobby) -> None:
    lobby.set_match_services([ONE])
    with attend(lobby, await come_in(lobby)) as attendance:
        (first,) = attendance.assignment().match_services
        lobby.set_match_services([replace(ONE, address="127.0.0.1:7999")])
        (second,) = attendance.assignment().match_services
    assert (second.match_service.name, second.match_service.address) == ("match-1", "127.0.0.1:7999")
    assert first.match_service.address == ONE.address


async def test_signs_of_life_come_without_any_change(ledger: Ledger, clock: ManualClock) -> None:
    lively = replace(TERMS, sign_of_life=timedelta(milliseconds=1))
    lobby = Lobby(ledger, KEY, clock=clock, terms=lively)
    lobby.set_match_services([ONE])
    with attend(lobby, await come_in(lobby)) as attendance:
        assignments = attendance.assignments()
        assert await heard(assignments) == await heard(assignments) == await heard(assignments)


async def test_two_match_services_of_one_name_are_a_mistake(lobby: Lobby) -> None:
    with pytest.raises(ValueError, match="same name"):
        lobby.set_match_services([ONE, replace(TWO, name="match-1")])


@pytest.mark.parametrize("seconds", [0, 16, 400])
def test_signs_of_life_must_come_well_before_silence_and_the_end_of_tickets(seconds: int) -> None:
    with pytest.raises(ValueError, match="sign_of_life"):
        LobbyTerms(sign_of_life=timedelta(seconds=seconds))


# -------------------------------------------------------------------------------------------------------------- lists


async def test_a_bot_is_listed_as_away_then_as_gone_and_at_once_when_its_token_ends(
    lobby: Lobby, clock: ManualClock
) -> None:
    for name in ("alpha", "bravo"):
        with attend(lobby, await come_in(lobby, name)):
            pass
    left = clock.now()
    clock.advance(60)
    made = await lobby.register("charlie", "ann", "1.0")
    with attend(lobby, made.bot):
        await lobby.revoke(made.bot, hash_token(made.token))
    assert await shown(lobby) == {
        "alpha": (Presence.AWAY, left),
        "bravo": (Presence.AWAY, left),
        "charlie": (Presence.GONE, clock.now()),
    }
    clock.advance(TERMS.gone_after.total_seconds() - 60)
    with attend(lobby, (await lobby.bots("", 10)).bots[1].bot):
        assert await shown(lobby) == {
            "alpha": (Presence.GONE, left),
            "bravo": (Presence.HERE, clock.now()),
            "charlie": (Presence.GONE, left + timedelta(seconds=60)),
        }


async def shown(lobby: Lobby) -> dict[str, tuple[Presence, datetime] | None]:
    listed = (await lobby.bots("", 10)).bots
    return {one.bot.name: (one.sighting.presence, one.sighting.since) if one.sighting else None for one in listed}


async def test_bots_are_listed_by_name_with_who_is_in(lobby: Lobby) -> None:
    for name in ("charlie", "alpha"):
        await come_in(lobby, name)
    with attend(lobby, await come_in(lobby, "bravo")):
        first = await lobby.bots("", 2)
        rest = await lobby.bots(first.after, 2)
    seen = [(listed.bot.name, listed.sighting and listed.sighting.presence) for listed in (*first.bots, *rest.bots)]
    assert seen == [("alpha", None), ("bravo", Presence.HERE), ("charlie", None)]
    assert rest.after == ""
