"""What a deal and a match came to, as the record tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.convert import write_tribute
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.options import Options
from bots_sdk.rules.result import DealResult
from bots_sdk.rules.titles import title_of

_MOST = 2**63 - 1
"""One deal always fits its field; a thousand with the highest stakes may not, and stay at the end of the range."""


def result_to_proto(result: DealResult) -> pb.Result:
    """The result of a deal."""
    message = pb.Result(voided=result.voided, points=result.points, stakes=result.stakes)
    standing = result.standing
    if standing is not None:
        message.places.extend(standing.places)
        message.emperor = standing.emperor
        if standing.guard is not None:
            message.guard = standing.guard
        message.solo = _number(standing.solo)
        message.declaration = _number(standing.declaration)
        message.kicked = standing.kicked
    if result.tribute is not None:
        write_tribute(result.tribute, message.tribute)
    if result.beans is not None:
        beans = result.beans
        message.beans.CopyFrom(pb.Beans(total=beans.total, game=beans.game, beans=beans.beans))
    return message


def write_totals(options: Options, results: Sequence[DealResult], outcome: pb.Outcome) -> None:
    """Put points, beans and titles of the whole match into its outcome."""
    points = [sum(result.points[seat] for result in results) for seat in range(SEATS)]
    outcome.points.extend(points)
    if options.beans:
        settled = [result.beans.beans for result in results if result.beans is not None]
        totals = (sum(beans[seat] for beans in settled) for seat in range(SEATS))
        outcome.beans.extend(max(-_MOST, min(total, _MOST)) for total in totals)
    if options.titles:
        outcome.titles.extend(map(title_of, points))


def _number(member: int | None) -> Any:
    """The number on the wire, which the enums of the rules share; the stubs want a type of their own for it."""
    return 0 if member is None else int(member)
