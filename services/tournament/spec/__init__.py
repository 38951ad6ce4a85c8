"""The tournament file: YAML to `TournamentSpec` and back, with every problem named by key and line."""

from services.tournament.spec.amounts import count_sets
from services.tournament.spec.entering import fewest, is_nobody, line_up_of, may_enter, with_line_up
from services.tournament.spec.errors import SpecError, SpecProblem
from services.tournament.spec.reading import parse_spec, wrong_bot
from services.tournament.spec.values import (
    PAR_NAMES,
    BenchedResults,
    BreakerRules,
    Draw,
    Duplicate,
    EntryRules,
    FinalCounts,
    PoolRules,
    ScheduleKind,
    ScheduleRules,
    StopRules,
    TournamentSpec,
    fill_up,
    house_bot_id,
    house_name,
)
from services.tournament.spec.writing import format_spec

__all__ = [
    "PAR_NAMES",
    "BenchedResults",
    "BreakerRules",
    "Draw",
    "Duplicate",
    "EntryRules",
    "FinalCounts",
    "PoolRules",
    "ScheduleKind",
    "ScheduleRules",
    "SpecError",
    "SpecProblem",
    "StopRules",
    "TournamentSpec",
    "count_sets",
    "fewest",
    "fill_up",
    "format_spec",
    "house_bot_id",
    "house_name",
    "is_nobody",
    "line_up_of",
    "may_enter",
    "parse_spec",
    "with_line_up",
    "wrong_bot",
]
