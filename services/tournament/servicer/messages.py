"""Tournaments, plans, standings and results as the messages of the protocol."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp

from baohuang.tournament.v1 import tournament_service_pb2 as pb
from services.common.errors import PlatformError, Reason
from services.common.qualifiers import Qualifier, Way
from services.ledger.values import Entry, Exclusion, Result, Side, TournamentState
from services.tournament.schedule import ScheduleReport, Spread
from services.tournament.servicer.plans import Plan
from services.tournament.servicer.views import TournamentView
from services.tournament.standings import Order, RoleStanding, Standing

_STATES = {
    TournamentState.DRAFT: pb.STATE_DRAFT,
    TournamentState.OPEN: pb.STATE_OPEN,
    TournamentState.RUNNING: pb.STATE_RUNNING,
    TournamentState.DRAINING: pb.STATE_DRAINING,
    TournamentState.PAUSED: pb.STATE_PAUSED,
    TournamentState.FINISHED: pb.STATE_FINISHED,
    TournamentState.CANCELLED: pb.STATE_CANCELLED,
}

_ORDERS = {
    pb.STANDINGS_ORDER_UNSPECIFIED: Order.POINTS,
    pb.STANDINGS_ORDER_BY_POINTS: Order.POINTS,
    pb.STANDINGS_ORDER_BY_BEANS: Order.BEANS,
}
_WAYS = {Way.PLACED: pb.WAY_PLACED, Way.REST: pb.WAY_REST, Way.VACANT: pb.WAY_VACANT}
_MOST_BEANS = 2**63 - 1
_MOST_BEANS_PAID = 2**64 - 1


def order_from_proto(order: int) -> Order:
    """What comes first in a table. Raises PlatformError MALFORMED for a number that means nothing here."""
    for number, known in _ORDERS.items():
        if number == order:
            return known
    raise PlatformError(
        Reason.MALFORMED, f"order: {order} is no order of a table; 1 is by points, 2 by beans.", field="order"
    )


_BEGINNINGS = {
    pb.STATE_UNSPECIFIED: TournamentState.RUNNING,
    pb.STATE_DRAFT: TournamentState.DRAFT,
    pb.STATE_OPEN: TournamentState.OPEN,
    pb.STATE_RUNNING: TournamentState.RUNNING,
}


def beginning_from_proto(state: int) -> TournamentState:
    """How far a new tournament goes at once. Raises PlatformError MALFORMED for a state that none begins in."""
    for number, known in _BEGINNINGS.items():
        if number == state:
            return known
    message = f"state: a tournament does not begin in {state}; it does as a draft (7), open (1) or running (2)."
    raise PlatformError(Reason.MALFORMED, message, field="state")


def annulled_from_proto(results: int) -> bool:
    """Whether the results of an excluded bot count no more. Raises PlatformError MALFORMED for an unknown number."""
    if results not in pb.ExcludedResults.values():
        raise PlatformError(
            Reason.MALFORMED, f"results: {results} says nothing here; 1 keeps them, 2 annuls them.", field="results"
        )
    return results == pb.EXCLUDED_RESULTS_ANNULLED


def exclusion_to_proto(exclusion: Exclusion) -> pb.Exclusion:
    """An entrant that plays no more."""
    return pb.Exclusion(
        bot=exclusion.name,
        results=pb.EXCLUDED_RESULTS_ANNULLED if exclusion.annulled else pb.EXCLUDED_RESULTS_KEPT,
        reason=exclusion.reason,
        excluded_at=moment_to_proto(exclusion.at),
    )


def tournament_to_proto(view: TournamentView) -> pb.Tournament:
    """A tournament as people see it."""
    return pb.Tournament(
        name=view.tournament.name,
        state=_STATES[view.state],
        message=view.message,
        spec_yaml=view.tournament.spec_yaml,
        created_at=moment_to_proto(view.tournament.created_at),
        progress=progress_to_proto(view),
        plan=None if view.plan is None else plan_to_proto(view.plan),
        missing_bots=view.status.missing if view.status else (),
        exclusions=map(exclusion_to_proto, view.rulings.exclusions),
        in_flight=view.rulings.in_flight or 0,
        entries=map(entry_to_proto, view.entries),
        min_entrants=view.rules.min if view.rules else 0,
        max_entrants=view.rules.max if view.rules else 0,
        qualified=map(qualifier_to_proto, view.tournament.qualified),
    )


def entry_to_proto(entry: Entry) -> pb.Entry:
    """A bot that will play once it is started."""
    return pb.Entry(bot=entry.name, entered_at=moment_to_proto(entry.at), by_itself=entry.by is Side.BOT)


def progress_to_proto(view: TournamentView) -> pb.Progress:
    """How far it is; what is done is what the ledger has."""
    return pb.Progress(
        matches=view.plan.report.matches if view.plan else 0,
        matches_done=view.totals.matches,
        matches_running=view.status.matches_running if view.status else 0,
        deals=view.plan.report.deals if view.plan else 0,
        deals_done=view.totals.deals,
        attempts_void=view.totals.attempts_void,
        faults=view.totals.faults,
        matches_left_out=view.left_out,
    )


def plan_to_proto(plan: Plan) -> pb.Plan:
    """What a schedule comes to, with pools also each of its stages."""
    whole = report_to_proto(plan.report, plan.spec.entrants)
    whole.stages.extend(stages_to_proto(plan))
    return whole


def report_to_proto(report: ScheduleReport, entrants: Iterable[str]) -> pb.Plan:
    """The counts over a schedule, and who plays it."""
    return pb.Plan(
        matches=report.matches,
        deals=report.deals,
        entrants=entrants,
        meetings_min=report.meetings.least,
        meetings_max=report.meetings.most,
        meetings_mean=report.meetings.mean,
        seat_min=report.in_seat.least,
        seat_max=report.in_seat.most,
        seat_mean=report.in_seat.mean,
        before=None if report.before is None else spread_to_proto(report.before),
        matches_per_entrant=spread_to_proto(report.played),
        challenges=None if report.challenges is None else spread_to_proto(report.challenges),
        different_deals=report.different,
        control_matches=report.controls,
    )


def spread_to_proto(spread: Spread) -> pb.Spread:
    """The least, the mean and the greatest of some counts."""
    return pb.Spread(min=spread.least, mean=spread.mean, max=spread.most)


def stages_to_proto(plan: Plan) -> Iterator[pb.StagePlan]:
    """What the pools come to, and the final; nothing without pools."""
    rules, entrants = plan.spec.schedule.stages, plan.spec.entrants
    if rules is None:
        return
    for number, (stage, sections) in enumerate(zip(plan.stages, plan.schedule.stages, strict=True), 1):
        teams = [[entrants[one] for one in sorted(section.members or ())] for section in sections]
        is_final = not any(section.pool for section in sections)
        yield pb.StagePlan(
            stage=number,
            first_match=stage.first,
            plan=report_to_proto(stage.report, teams[0] if is_final else entrants),
            pools=[] if is_final else [pb.Pool(entrants=team) for team in teams],
            places=rules.places(len(entrants)) if is_final else 0,
            advance=rules.advance,
            rest=rules.rest,
        )


def qualifier_to_proto(qualifier: Qualifier) -> pb.Qualifier:
    """The holder of a place in a final."""
    return pb.Qualifier(bot=qualifier.name, pool=qualifier.pool, rank=qualifier.rank, way=_WAYS[qualifier.way])


def standing_to_proto(standing: Standing, qualified: Collection[str] = ()) -> pb.Standing:
    """One line of the table; `qualified` are the names of those who have gone on from it."""
    rating = standing.rating
    return pb.Standing(
        rank=standing.rank,
        name=standing.name,
        points_per_deal=standing.points_per_deal,
        low=standing.low,
        high=standing.high,
        matches=standing.matches,
        deals=standing.deals,
        blocks=standing.blocks,
        timeouts=standing.timeouts,
        illegal_answers=standing.illegal_answers,
        disconnects=standing.disconnects,
        takeovers=standing.takeovers,
        points=standing.points,
        title=standing.title,
        beans=None if standing.beans is None else max(-_MOST_BEANS - 1, min(standing.beans, _MOST_BEANS)),
        beans_per_deal=standing.beans_per_deal,
        beans_low=standing.beans_low,
        beans_high=standing.beans_high,
        deals_counted=standing.counted,
        deals_spoiled=standing.spoiled,
        points_paid=standing.points_paid,
        beans_paid=None if standing.beans_paid is None else min(standing.beans_paid, _MOST_BEANS_PAID),
        roles=[role_to_proto(one) for one in standing.roles],
        rating=None if rating is None else rating.value,
        rating_low=None if rating is None else rating.low,
        rating_high=None if rating is None else rating.high,
        openskill=standing.openskill,
        pool=standing.pool,
        qualified=standing.pool > 0 and standing.name in qualified,
    )


def role_to_proto(standing: RoleStanding) -> pb.RoleStanding:
    """What an entrant made of one role."""
    return pb.RoleStanding(
        role=standing.role.label,
        deals=standing.deals,
        blocks=standing.blocks,
        points_per_deal=standing.points_per_deal,
        low=standing.low,
        high=standing.high,
    )


def match_to_proto(result: Result, plan: Plan, decided: int | None = None) -> pb.Match:
    """One scheduled match that has a result; `decided`: after so many groups the tournament ended early, if it did."""
    players = plan.spec.players
    names = [players[index] for index in plan.schedule.match(result.number).entrants]
    stage, section, inner = plan.schedule.locate(result.number)
    of_stage = plan.schedule.stages[stage]
    is_last = stage == len(plan.schedule.stages) - 1  # which alone may end early
    return pb.Match(
        number=result.number,
        names=names,
        points=result.points,
        ending=result.ending,
        ended_at=moment_to_proto(result.ended_at),
        deals=len(result.deals),
        faults=[
            f"{name}: {said}" for name, seat in zip(names, result.faults, strict=True) if (said := seat.describe())
        ],
        after_decision=decided is not None and is_last and of_stage[section].schedule.place(inner)[0] >= decided,
        stage=stage + 1,
        pool=of_stage[section].pool,
    )


def moment_to_proto(moment: datetime) -> Timestamp:
    """A point in time."""
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp
