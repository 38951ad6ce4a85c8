"""What each call needs: the one table, and who fulfils it.

A call of ours that is not in the table is refused; a test compares the table with the services.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from services.access.callers import Caller
from services.common.errors import PlatformError, Reason
from services.common.scopes import Scope


class Need(Enum):
    """What a caller must have; a token that is shown must hold in any case."""

    NOTHING = "nothing"
    """Health and reflection, which tell nothing that is not in the source. No token is looked at."""
    TOKEN = "any token"
    REGISTER = "register"
    """The scope operate, or nothing on a platform where everybody may register."""
    PLAY = "play"
    READ = "read"
    """Any token, or nothing on a platform where everybody may read."""
    OPERATE = "operate"
    ENTER = "enter"
    """The scope play or operate: a bot speaks for itself, an operator for any."""


NEEDS: Mapping[str, Mapping[str, Need]] = {
    "baohuang.lobby.v1.LobbyService": {
        "RegisterBot": Need.REGISTER,
        "RotateToken": Need.PLAY,
        "RevokeToken": Need.PLAY,
        "Attend": Need.PLAY,
        "ListBots": Need.READ,
        "RevokeBotToken": Need.OPERATE,
        "RotateBotToken": Need.OPERATE,
    },
    "baohuang.tournament.v1.TournamentService": {
        "CreateTournament": Need.OPERATE,
        "EditTournament": Need.OPERATE,
        "OpenTournament": Need.OPERATE,
        "EnterBot": Need.ENTER,
        "WithdrawBot": Need.ENTER,
        "StartTournament": Need.OPERATE,
        "PlanTournament": Need.READ,
        "ListTournaments": Need.READ,
        "GetTournament": Need.READ,
        "WatchTournament": Need.READ,
        "PauseTournament": Need.OPERATE,
        "ResumeTournament": Need.OPERATE,
        "CancelTournament": Need.OPERATE,
        "ExcludeBot": Need.OPERATE,
        "RequeueMatch": Need.OPERATE,
        "SetInFlight": Need.OPERATE,
        "GetStandings": Need.READ,
        "GetRecord": Need.READ,
        "ListMatches": Need.READ,
    },
    "baohuang.access.v1.AccessService": {
        "GetCaller": Need.TOKEN,
        "CreateToken": Need.OPERATE,
        "ListTokens": Need.OPERATE,
        "RotateToken": Need.OPERATE,
        "RevokeToken": Need.OPERATE,
    },
    "grpc.health.v1.Health": {"Check": Need.NOTHING, "List": Need.NOTHING, "Watch": Need.NOTHING},
    "grpc.reflection.v1alpha.ServerReflection": {"ServerReflectionInfo": Need.NOTHING},
}
"""By service and method."""

_ENOUGH = {
    Need.TOKEN: frozenset(Scope),
    Need.REGISTER: frozenset({Scope.OPERATE}),
    Need.PLAY: frozenset({Scope.PLAY}),
    Need.READ: frozenset(Scope),  # who plays or operates may see how it stands
    Need.OPERATE: frozenset({Scope.OPERATE}),
    Need.ENTER: frozenset({Scope.PLAY, Scope.OPERATE}),
}
_NAMED = {
    Need.TOKEN: "read",
    Need.REGISTER: "operate",
    Need.PLAY: "play",
    Need.READ: "read",
    Need.OPERATE: "operate",
    Need.ENTER: "play",
}


def need_of(path: str) -> Need | None:
    """What the method of a gRPC path (`/package.Service/Method`) needs; None if it is not in the table."""
    _, _, rest = path.partition("/")
    service, _, method = rest.partition("/")
    return NEEDS.get(service, {}).get(method)


_WHOSE = {Need.PLAY: "a bot's token", Need.ENTER: "an operator's token or the bot's own"}
"""Tokens that are said otherwise than by their scope, where none was shown."""


@dataclass(frozen=True, slots=True)
class AccessRules:
    """How open a platform is."""

    read_requires_token: bool = False
    registration_is_open: bool = True

    def is_open(self, need: Need) -> bool:
        """Whether the need asks for no token here."""
        match need:
            case Need.NOTHING:
                return True
            case Need.READ:
                return not self.read_requires_token
            case Need.REGISTER:
                return self.registration_is_open
            case _:
                return False

    def verify(self, caller: Caller, need: Need, what: str) -> None:
        """Whether the caller may do `what`, the name of a method or a page.

        Raises PlatformError UNAUTHENTICATED if a token is needed and none was shown, FORBIDDEN if the one shown has not
        the scope; `needs` in the metadata says which, `has` which ones it has.
        """
        if self.is_open(need) or caller.scopes & _ENOUGH[need]:
            return
        scope = _NAMED[need]
        if not caller.is_known:
            whose = _WHOSE.get(need, f"a token with the scope {scope}")
            raise PlatformError(
                Reason.UNAUTHENTICATED,
                f"{what} needs {whose}, and none was sent: send it as `authorization: Bearer TOKEN`.",
                needs=scope,
            )
        has = ", ".join(sorted(caller.scopes))
        raise PlatformError(
            Reason.FORBIDDEN,
            f"{what} needs the scope {scope}; the token of {caller.name!r} has {has}.",
            needs=scope,
            has=has,
        )
