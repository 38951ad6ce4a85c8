"""Directs one tournament: hands out its matches, takes the results back, and writes each exactly once."""

from services.tournament.director.breaker import BreakerRule
from services.tournament.director.director import Director
from services.tournament.director.limits import Limits
from services.tournament.director.ports import Fixtures, LedgerPort, MatchServiceLost, MatchServicePort
from services.tournament.director.status import FINAL, DirectorStatus

__all__ = [
    "FINAL",
    "BreakerRule",
    "Director",
    "DirectorStatus",
    "Fixtures",
    "LedgerPort",
    "Limits",
    "MatchServiceLost",
    "MatchServicePort",
]
