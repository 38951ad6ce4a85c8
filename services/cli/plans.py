"""What a schedule comes to, and who goes on from one stage to the next, in lines for a person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from baohuang.tournament.v1 import tournament_service_pb2 as pb

ASSUMED_RATE = 10.0
"""Deals a second of a whole platform, for lack of a better number: bots that answer at once are faster, those that
think are slower."""


def plan_here(spec_yaml: str, new_seed: Callable[[], str]) -> pb.Plan:
    """What a platform would say of a tournament file that can be read, without one; `new_seed` draws one if need be."""
    from services.tournament.servicer.messages import plan_to_proto
    from services.tournament.servicer.plans import sketch
    from services.tournament.spec import parse_spec

    spec = parse_spec(spec_yaml)
    return plan_to_proto(sketch(spec if spec.seed is not None else replace(spec, seed=new_seed())))


def describe_plan(plan: pb.Plan, rate: float = ASSUMED_RATE) -> Iterable[str]:
    """What a schedule comes to, in some lines, and how long it takes at so many deals a second."""
    yield f"  plan     {plan.matches} matches, {plan.deals} deals, {len(plan.entrants)} entrants"
    if plan.stages:
        for stage in plan.stages:
            yield from _describe_stage(stage, rate)
        yield f"  all of it takes           {format_long(plan.deals / rate)}"
        return
    yield from _describe_counts(plan, rate)
    yield f"  entrants {', '.join(plan.entrants)}"


def _describe_stage(stage: pb.StagePlan, rate: float) -> Iterator[str]:
    """One stage: the counts of its pools together, or those of the final, whoever will play it."""
    plan, last = stage.plan, stage.first_match + stage.plan.matches - 1
    what = f"{len(stage.pools)} pools" if stage.pools else f"final of {stage.places}"
    yield f"  stage {stage.stage}: {what}, {plan.matches} matches ({stage.first_match} to {last}), {plan.deals} deals"
    yield from _describe_counts(plan, rate)
    if stage.pools:
        for number, pool in enumerate(stage.pools, 1):
            yield f"  pool {number:<4}{', '.join(pool.entrants)}"
        return
    if plan.entrants:
        yield f"  entrants {', '.join(plan.entrants)}"
        return
    best = f"the first {stage.advance} of each pool" if stage.advance > 1 else "the first of each pool"
    rest = f" and the best {stage.rest} of the others" if stage.rest > 1 else " and the best of the others"
    yield f"  entrants known when the pools are over: {best}{rest if stage.rest else ''}"


def _describe_counts(plan: pb.Plan, rate: float) -> Iterator[str]:
    if plan.different_deals != plan.deals:
        yield f"  different deals           {plan.different_deals}, the others are the same again"
    if plan.control_matches:
        yield f"  matches of house bots     {plan.control_matches}, to compare with"
    meetings = pb.Spread(min=plan.meetings_min, mean=plan.meetings_mean, max=plan.meetings_max)
    if plan.HasField("challenges"):
        yield _count("meetings in the field", meetings)
        yield _count("with a challenger", plan.challenges)
    else:
        yield _count("meetings of two entrants", meetings)
    if plan.HasField("before"):
        yield _count("one right before another", plan.before)
    if plan.HasField("matches_per_entrant"):
        yield _count("matches of an entrant", plan.matches_per_entrant)
    yield _count("matches in one seat", pb.Spread(min=plan.seat_min, mean=plan.seat_mean, max=plan.seat_max))
    yield f"  roughly how long          {format_long(plan.deals / rate)}, at {rate:g} deals a second in all"


_WAYS = {pb.WAY_REST: ", the best of the others", pb.WAY_VACANT: ", but excluded: the place stays empty"}


def describe_qualified(one: pb.Tournament) -> Iterable[str]:
    """Who has gone on to the final, a line each; nothing before that is decided, or without pools."""
    for qualifier in one.qualified:
        yield f"  final    {qualifier.bot}, {qualifier.rank}. of pool {qualifier.pool}{_WAYS.get(qualifier.way, '')}"


def _count(what: str, spread: pb.Spread) -> str:
    mean = f", {spread.mean:.2f} on average" if spread.mean else ""
    return f"  {what:<25} {spread.min} to {spread.max}{mean}"


def format_long(seconds: float) -> str:
    """A duration in the two largest units that fit."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [
        f"{amount} {unit}" for amount, unit in ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")) if amount
    ]
    return " ".join(parts[:2]) or "no time"
