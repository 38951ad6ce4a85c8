"""From the text of a tournament file to its specification, with everything that is wrong in it said at once."""

from __future__ import annotations

import re
from datetime import timedelta

from bots_sdk.rules.phases import Phase
from bots_sdk.rules.profiles import PROFILES
from services.common.matches import HOUSE_PREFIX, ClockRules, FaultRules, FaultScore, IllegalPolicy, OthersScore
from services.tournament.spec.document import SequenceNode, compose_document
from services.tournament.spec.entering import fewest, read_entries
from services.tournament.spec.errors import SpecError
from services.tournament.spec.fields import Fields, Problems, found, hint, scalar_text, shown
from services.tournament.spec.overrides import read_overrides
from services.tournament.spec.stages import read_schedule, verify_schedule
from services.tournament.spec.values import (
    DECISION_GROUPS,
    DECISIONS,
    HOUSE_BOTS,
    MAX_BOTS,
    NO_SHOW_LIMIT,
    BenchedResults,
    BreakerRules,
    Duplicate,
    StopRules,
    TournamentSpec,
    fill_up,
)

KEYS = (
    "name", "profile", "options", "bots", "schedule", "duplicate", "deals", "clock", "faults", "seed", "in_flight",
    "no_show_limit", "per_bot", "breaker", "stop", "entries",
)  # fmt: skip
MAX_DEALS = 1_000
MAX_SEED = 200
MAX_PAID = 1_000
"""Points: more than any deal is worth, unless somebody has raised the scores of solos."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", re.ASCII)
_HOUSE = re.compile(rf"{HOUSE_PREFIX}(?:{'|'.join(HOUSE_BOTS)})(?:#(?:[2-9]|[1-9][0-9]{{1,2}}))?", re.ASCII)
_NAME_RULE = "1 to 40 letters, digits, `-`, `_` or `.`, the first a letter or digit"
_NO_TIME = timedelta(0)
_HOUR = timedelta(hours=1)


def parse_spec(text: str) -> TournamentSpec:
    """The tournament this file describes.

    Raises:
        SpecError: with every problem found, each with its key and line.
    """
    problems = Problems()
    fields = Fields(compose_document(text), "", KEYS, problems)
    name = _read_name(fields)
    profile = _read_profile(fields)
    options, overrides = read_overrides(fields, profile, problems)
    bots = _read_bots(fields, problems)
    entries = read_entries(fields, problems, bots)
    duplicate = fields.choice("duplicate", Duplicate, Duplicate.ROTATION)
    schedule = read_schedule(fields, problems)
    if fields.require("deals", f"how many deals a match has, 1 to {MAX_DEALS}"):
        deals = fields.number("deals", 1, MAX_DEALS)
    else:
        deals = None
    clock = _read_clock(fields)
    faults = _read_faults(fields)
    seed = _read_seed(fields)
    in_flight = fields.number("in_flight", 1, 100_000)
    no_show_limit = fields.number("no_show_limit", 1, 1_000, NO_SHOW_LIMIT)
    # Where bots may enter, what is written must do for the fewest that may play; the start looks at those who do.
    line_up = bots if entries is None or schedule is None else fewest(entries, bots, schedule)
    stop = _read_stop(fields, len(fill_up(line_up)))
    per_bot = fields.number("per_bot", 1, 100_000)
    breaker = _read_breaker(fields)
    if schedule is not None and line_up and not problems:
        verify_schedule(fields, schedule, fill_up(line_up), duplicate)
    if schedule is not None and schedule.stages is not None and stop is not None and line_up and not problems:
        _verify_final(fields, stop, schedule.stages.places(len(fill_up(line_up))))
    if problems or schedule is None or deals is None or no_show_limit is None:
        raise SpecError(problems.sorted())
    return TournamentSpec(
        name=name, profile=profile, options=options, bots=bots, schedule=schedule, deals=deals, overrides=overrides,
        duplicate=duplicate, clock=clock, faults=faults, seed=seed, in_flight=in_flight, no_show_limit=no_show_limit,
        per_bot=per_bot, breaker=breaker,
        stop=stop, entries=entries,
    )  # fmt: skip


def _read_name(fields: Fields) -> str:
    if not fields.require("name", f"what the tournament is called, {_NAME_RULE}"):
        return ""
    name = fields.text("name", _NAME_RULE) or ""
    if name and not _NAME.fullmatch(name):
        fields.note("name", f"must be {_NAME_RULE}; not {shown(name)}.")
    return name


def _read_profile(fields: Fields) -> str:
    what = f"one of {', '.join(PROFILES)}"
    if not fields.require("profile", f"the way the game is played, {what}"):
        return ""
    profile = fields.text("profile", what) or ""
    if profile and profile not in PROFILES:
        fields.note("profile", f"{shown(profile)} is no profile{hint(profile, PROFILES)}")
        return ""
    return profile


def _read_bots(fields: Fields, problems: Problems) -> tuple[str, ...]:
    node, others_may_come = fields.node("bots"), fields.node("entries") is not None
    if node is None and others_may_come:
        return ()
    if not fields.require("bots", f"a list of 1 to {MAX_BOTS} names; or `entries`, so that bots may enter"):
        return ()
    if others_may_come and isinstance(node, SequenceNode) and not node.value:
        return ()
    if not isinstance(node, SequenceNode) or not 1 <= len(node.value) <= MAX_BOTS:
        what = f"a list of {len(node.value)}" if isinstance(node, SequenceNode) else found(node) if node else "nothing"
        fields.note("bots", f"must be a list of 1 to {MAX_BOTS} names, not {what}.")
        return ()
    names: dict[str, int] = {}
    for position, item in enumerate(node.value):
        path, line = f"bots[{position}]", item.start_mark.line + 1
        name = scalar_text(item)
        if name is None:
            problems.note(path, line, f"must be a name, not {found(item)}.")
        elif name in names:
            more = f"; call the next one {name}#2" if name.startswith(HOUSE_PREFIX) and "#" not in name else ""
            problems.note(path, line, f"{shown(name)} is there twice, the first time in line {names[name]}{more}.")
        else:
            names[name] = line
            if wrong := wrong_bot(name):
                problems.note(path, line, wrong)
    return tuple(names)


def wrong_bot(name: str) -> str | None:
    """What is wrong with the name of a bot or house bot, as a sentence; None if nothing is."""
    if name.startswith(HOUSE_PREFIX):
        allowed = ", ".join(HOUSE_PREFIX + kind for kind in HOUSE_BOTS)
        if not _HOUSE.fullmatch(name):
            return f"{shown(name)} is no house bot; there are {allowed}, and with #2 to #999 more of the same."
    elif not _NAME.fullmatch(name):
        return f"a bot's name is {_NAME_RULE}; not {shown(name)}."
    return None


def _read_clock(fields: Fields) -> ClockRules:
    default = ClockRules()
    if fields.is_off("clock"):
        return ClockRules(limit=None)
    clock = fields.mapping("clock", ("limit", "limits", "bank", "increment", "grace", "ready"))
    if clock is None:
        return default
    limit = (
        None
        if clock.is_off("limit")
        else clock.duration("limit", timedelta(milliseconds=1), _HOUR, default.limit or _HOUR)
    )
    limits = _read_limits(clock)
    if limits and limit is None:
        clock.note("limits", "with `limit: off` there are no limits at all; leave this out, or give `limit` a time.")
    return ClockRules(
        limit=limit,
        limits=limits,
        bank=clock.duration("bank", _NO_TIME, 24 * _HOUR, default.bank),
        increment=clock.duration("increment", _NO_TIME, _HOUR, default.increment),
        grace=clock.duration("grace", _NO_TIME, timedelta(minutes=1), default.grace),
        ready=clock.duration("ready", timedelta(milliseconds=100), _HOUR, default.ready),
    )


def _read_limits(clock: Fields) -> tuple[tuple[Phase, timedelta], ...]:
    """The kinds of decision with a limit of their own; one named by itself goes before a group it is in."""
    limits = clock.mapping("limits", (*DECISIONS, *DECISION_GROUPS))
    if limits is None:
        return ()
    found: dict[Phase, timedelta] = {}
    for names in (DECISION_GROUPS, {name: (phase,) for name, phase in DECISIONS.items()}):
        for name, phases in names.items():
            if limits.node(name) is not None:
                limit = limits.duration(name, timedelta(milliseconds=1), _HOUR, _HOUR)
                found |= dict.fromkeys(phases, limit)
    return tuple(sorted(found.items()))


def _read_faults(fields: Fields) -> FaultRules:
    default = FaultRules()
    keys = ("illegal", "illegal_limit", "takeover_after", "score", "penalty", "forfeit", "others")
    faults = fields.mapping("faults", keys)
    if faults is None:
        return default
    penalty = faults.number("penalty", 1, MAX_PAID, default.penalty)
    forfeit = faults.number("forfeit", 1, MAX_PAID, default.forfeit)
    limit = faults.number("illegal_limit", 1, 100, default.illegal_limit)
    takeover = faults.number("takeover_after", 0, 10_000, default.takeover_after)
    return FaultRules(
        illegal=faults.choice("illegal", IllegalPolicy, default.illegal),
        illegal_limit=default.illegal_limit if limit is None else limit,
        takeover_after=default.takeover_after if takeover is None else takeover,
        score=faults.choice("score", FaultScore, default.score),
        penalty=default.penalty if penalty is None else penalty,
        forfeit=default.forfeit if forfeit is None else forfeit,
        others=faults.choice("others", OthersScore, default.others),
    )


def _read_stop(fields: Fields, entrants: int) -> StopRules | None:
    default = StopRules()
    if fields.is_off("stop"):
        return None
    stop = fields.mapping("stop", ("first", "level"))
    if stop is None:
        return None
    first = stop.number("first", 1, entrants - 1, default.first)
    level = stop.number("level", 50, 99, default.level)
    return StopRules(first=default.first if first is None else first, level=default.level if level is None else level)


def _verify_final(fields: Fields, stop: StopRules, places: int) -> None:
    if stop.first >= places:
        fields.note("stop", f"first: must be less than the {places} bots of the final, not {stop.first}.")


def _read_breaker(fields: Fields) -> BreakerRules:
    default = BreakerRules()
    if fields.is_off("breaker"):
        return default
    breaker = fields.mapping("breaker", ("after", "results"))
    if breaker is None:
        return default
    breaker.require("after", "how many failures in a row are too many")
    after = breaker.number("after", 1, 1_000)
    return BreakerRules(after or 0, breaker.choice("results", BenchedResults, default.results))


def _read_seed(fields: Fields) -> str | None:
    seed = fields.text("seed", f"a number or a text of 1 to {MAX_SEED} characters")
    if seed is not None and len(seed) > MAX_SEED:
        fields.note("seed", f"must have 1 to {MAX_SEED} characters, not {len(seed)}.")
    return seed
