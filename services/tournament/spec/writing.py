"""A specification as the text of a tournament file, which reads back as the same."""

from __future__ import annotations

from dataclasses import fields

import yaml

from services.common.matches import ClockRules, FaultRules, FaultScore
from services.tournament.spec.durations import format_duration
from services.tournament.spec.values import FinalCounts, PoolRules, ScheduleRules, TournamentSpec


def format_spec(spec: TournamentSpec) -> str:
    """The file. If the spec has a seed, so has the file: show it to nobody before the tournament is over."""
    document: dict[str, object] = {"name": spec.name, "profile": spec.profile}
    if spec.overrides:
        document["options"] = {
            name: list(value) if isinstance(value, tuple) else value for name, value in spec.overrides
        }
    if spec.bots or spec.entries is None:
        document["bots"] = list(spec.bots)
    document["schedule"] = _schedule(spec.schedule)
    document["duplicate"] = str(spec.duplicate)
    document["deals"] = spec.deals
    document["clock"] = _clock(spec.clock)
    document["faults"] = _faults(spec.faults)
    if spec.seed is not None:
        document["seed"] = spec.seed
    if spec.in_flight is not None:
        document["in_flight"] = spec.in_flight
    document["no_show_limit"] = spec.no_show_limit
    if spec.per_bot is not None:
        document["per_bot"] = spec.per_bot
    if spec.breaker.after:
        document["breaker"] = {"after": spec.breaker.after, "results": str(spec.breaker.results)}
    if spec.stop is not None:
        document["stop"] = {"first": spec.stop.first, "level": spec.stop.level}
    if (rules := spec.entries) is not None:
        names = {"names": list(rules.names)} if rules.names else {}
        document["entries"] = {"min": rules.min, "max": rules.max, **names}
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)


def _schedule(rules: ScheduleRules) -> dict[str, object]:
    if rules.stages is not None:
        return {"kind": str(rules.kind), **_stages(rules.stages)}
    written = {field.name: getattr(rules, field.name) for field in fields(rules)}
    written["kind"] = str(rules.kind)
    written["challengers"] = list(rules.challengers) or None
    if rules.repeats == 1:
        del written["repeats"]
    return {name: value for name, value in written.items() if value is not None}


def _stages(rules: PoolRules) -> dict[str, object]:
    written: dict[str, object] = {"pools": rules.pools} if rules.pools is not None else {"size": rules.size}
    written |= {"draw": str(rules.draw), "each": _schedule(rules.each), "advance": rules.advance}
    if rules.rest:
        written["rest"] = rules.rest
    written["final"] = _schedule(rules.final)
    if rules.counts is not FinalCounts.FINAL:
        written["counts"] = str(rules.counts)
    return written


def _clock(clock: ClockRules) -> dict[str, object]:
    limits = {phase.name.lower(): format_duration(limit) for phase, limit in clock.limits}
    return {
        "limit": "off" if clock.limit is None else format_duration(clock.limit),
        **({"limits": limits} if limits else {}),
        "bank": format_duration(clock.bank),
        "increment": format_duration(clock.increment),
        "grace": format_duration(clock.grace),
        "ready": format_duration(clock.ready),
    }


def _faults(faults: FaultRules) -> dict[str, object]:
    usual = FaultRules()
    written: dict[str, object] = {
        "illegal": str(faults.illegal),
        "illegal_limit": faults.illegal_limit,
        "takeover_after": faults.takeover_after,
        "score": str(faults.score),
    }
    if faults.score is FaultScore.PENALTY or faults.penalty != usual.penalty:
        written["penalty"] = faults.penalty
    if faults.score is FaultScore.FORFEIT or faults.forfeit != usual.forfeit:
        written["forfeit"] = faults.forfeit
    return written | {"others": str(faults.others)}
