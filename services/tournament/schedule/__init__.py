"""Which match is played when, by whom, over which deals: lazy, and always the same for the same specification."""

from services.tournament.schedule.making import make_schedule
from services.tournament.schedule.plan import Schedule, ScheduledMatch
from services.tournament.schedule.report import ScheduleReport, Spread, report_schedule
from services.tournament.schedule.sealed import deal_secret, match_nonce, schedule_key, tournament_secret

__all__ = [
    "Schedule",
    "ScheduleReport",
    "ScheduledMatch",
    "Spread",
    "deal_secret",
    "make_schedule",
    "match_nonce",
    "report_schedule",
    "schedule_key",
    "tournament_secret",
]
