"""The table of what calls need, and who fulfils it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from baohuang.access.v1 import access_service_pb2
from baohuang.lobby.v1 import lobby_service_pb2
from baohuang.tournament.v1 import tournament_service_pb2
from services.access.callers import NOBODY, Caller
from services.access.needs import NEEDS, AccessRules, Need, need_of
from services.access.servicer import SERVICE_NAME
from services.common.errors import PlatformError, Reason
from services.common.scopes import Scope

OURS = {
    service.full_name: {method.name for method in service.methods}
    for module in (access_service_pb2, lobby_service_pb2, tournament_service_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
}
CHANGING = {"Create", "Pause", "Resume", "Cancel", "Rotate", "Revoke", "Exclude", "Requeue", "Set"}
CHANGING |= {"Edit", "Open", "Enter", "Withdraw", "Start"}


def caller(*scopes: Scope) -> Caller:
    return Caller("ann", frozenset(scopes))


def test_no_call_is_missing_from_the_table_and_none_is_in_it_that_there_is_not() -> None:
    assert {name: set(methods) for name, methods in NEEDS.items() if name.startswith("baohuang.")} == OURS


def test_what_changes_something_is_not_for_readers() -> None:
    for service, methods in OURS.items():
        for method in methods:
            if any(method.startswith(verb) for verb in CHANGING):
                assert NEEDS[service][method] in (Need.OPERATE, Need.PLAY, Need.ENTER), method


def test_tokens_are_an_operators_business() -> None:
    assert {need for method, need in NEEDS[SERVICE_NAME].items() if method != "GetCaller"} == {Need.OPERATE}


def test_a_call_is_found_by_its_path() -> None:
    assert need_of("/baohuang.lobby.v1.LobbyService/Attend") is Need.PLAY
    for unknown in ("/baohuang.lobby.v1.LobbyService/Other", "/x.Y/Attend", "", "/", "Attend", "//", "/a/b/c"):
        assert need_of(unknown) is None


def every_caller() -> Iterable[Caller]:
    yield NOBODY
    for count in (1, 2, 3):
        for scopes in itertools.combinations(Scope, count):
            yield caller(*scopes)


ENOUGH = {
    Need.TOKEN: set(Scope),
    Need.REGISTER: {Scope.OPERATE},
    Need.PLAY: {Scope.PLAY},
    Need.READ: set(Scope),
    Need.OPERATE: {Scope.OPERATE},
    Need.ENTER: {Scope.PLAY, Scope.OPERATE},
}
"""Which scopes do for which need, each alone; written down here a second time, on purpose."""


@pytest.mark.parametrize("read_requires_token", [False, True])
@pytest.mark.parametrize("registration_is_open", [False, True])
@pytest.mark.parametrize("need", list(Need))
def test_every_need_lets_in_whom_it_should_and_nobody_else(
    need: Need, registration_is_open: bool, read_requires_token: bool
) -> None:
    rules = AccessRules(read_requires_token, registration_is_open)
    everybody = need is Need.NOTHING or (need is Need.READ and not read_requires_token)
    everybody = everybody or (need is Need.REGISTER and registration_is_open)
    for one in every_caller():
        if everybody or one.scopes & ENOUGH[need]:
            rules.verify(one, need, "This")
            continue
        with pytest.raises(PlatformError) as caught:
            rules.verify(one, need, "This")
        assert caught.value.reason is (Reason.FORBIDDEN if one.is_known else Reason.UNAUTHENTICATED)


def test_who_lacks_a_scope_is_told_which_and_what_there_is() -> None:
    with pytest.raises(PlatformError) as caught:
        AccessRules().verify(caller(Scope.READ, Scope.PLAY), Need.OPERATE, "PauseTournament")
    assert caught.value.message == "PauseTournament needs the scope operate; the token of 'ann' has play, read."
    assert caught.value.metadata == {"needs": "operate", "has": "play, read"}


@pytest.mark.parametrize(
    ("need", "sentence"),
    [
        (Need.OPERATE, "X needs a token with the scope operate, and none was sent"),
        (Need.PLAY, "X needs a bot's token, and none was sent"),
        (Need.ENTER, "X needs an operator's token or the bot's own, and none was sent"),
    ],
)
def test_who_shows_nothing_is_told_what_to_show(need: Need, sentence: str) -> None:
    with pytest.raises(PlatformError, match=sentence) as caught:
        AccessRules().verify(NOBODY, need, "X")
    assert caught.value.metadata == {"needs": "play" if need is Need.ENTER else need.value}
