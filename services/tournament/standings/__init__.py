"""Who is how good, and how sure that is: the table, computed from the matches that count."""

from services.tournament.standings.datum import Datum, DatumKind
from services.tournament.standings.fold import StandingsFold
from services.tournament.standings.match_numbers import MatchNumbers
from services.tournament.standings.paying import bean_unit
from services.tournament.standings.qualifying import PoolMember, qualify
from services.tournament.standings.rating import Rating
from services.tournament.standings.roles import Role, RoleStanding
from services.tournament.standings.stopping import StopDecision, decide, looks_at
from services.tournament.standings.table import StandingsTable, compute_standings
from services.tournament.standings.values import Order, PlayedMatch, Standing

__all__ = [
    "Datum",
    "DatumKind",
    "MatchNumbers",
    "Order",
    "PlayedMatch",
    "PoolMember",
    "Rating",
    "Role",
    "RoleStanding",
    "Standing",
    "StandingsFold",
    "StandingsTable",
    "StopDecision",
    "bean_unit",
    "compute_standings",
    "decide",
    "looks_at",
    "qualify",
]
