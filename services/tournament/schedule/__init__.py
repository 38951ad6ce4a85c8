"""Which match is played when, by whom, over which deals: lazy, and always the same for the same specification."""

from services.tournament.schedule.making import make_schedule, make_timetable
from services.tournament.schedule.plan import Schedule, ScheduledMatch, Section
from services.tournament.schedule.pools import LineUpUnknown, PoolSchedule, Timetable
from services.tournament.schedule.report import ScheduleReport, Spread, report_schedule
from services.tournament.schedule.sealed import deal_secret, lot, match_nonce, schedule_key, tournament_secret
from services.tournament.schedule.stage_reports import StageReport, report_stages, report_timetable

__all__ = [
    "LineUpUnknown",
    "PoolSchedule",
    "Schedule",
    "ScheduleReport",
    "ScheduledMatch",
    "Section",
    "Spread",
    "StageReport",
    "Timetable",
    "deal_secret",
    "lot",
    "make_schedule",
    "make_timetable",
    "match_nonce",
    "report_schedule",
    "report_stages",
    "report_timetable",
    "schedule_key",
    "tournament_secret",
]
