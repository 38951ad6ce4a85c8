"""Tournaments and standings as a person reads them, and as a program does."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any, TextIO

from google.protobuf.json_format import MessageToDict

from baohuang.access.v1 import access_service_pb2 as access_pb
from baohuang.tournament.v1 import tournament_service_pb2 as pb
from services.cli.plans import describe_plan, describe_qualified
from services.cli.specs import describe_game

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from rich.console import Console

WIDTH = 120


def make_console(file: TextIO | None = None) -> Console:
    """Where tables go; as wide as the terminal, or wide enough for every table where there is none."""
    from rich.console import Console

    console = Console(file=file, highlight=False)
    return console if console.is_terminal else Console(file=file, highlight=False, width=WIDTH)


def state_name(state: int) -> str:
    """`running` for STATE_RUNNING."""
    return pb.State.Name(pb.State.ValueType(state)).removeprefix("STATE_").lower()


def as_json(message: Message) -> dict[str, Any]:
    """A message as plain values; counts are numbers, and all fields are there."""
    plain = MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    return _numbers(plain, message)


def _numbers(plain: dict[str, Any], message: Message) -> dict[str, Any]:
    """Protobuf's JSON writes 64-bit numbers as text, which no script expects; ours are small enough for numbers."""
    for field in message.DESCRIPTOR.fields:
        value = plain.get(field.name)
        if field.cpp_type in (field.CPPTYPE_UINT64, field.CPPTYPE_INT64) and isinstance(value, str):
            plain[field.name] = int(value)
        elif field.message_type is not None and isinstance(value, dict):
            _numbers(value, getattr(message, field.name))
        elif field.message_type is not None and isinstance(value, list):
            for one, part in zip(value, getattr(message, field.name), strict=True):
                _numbers(one, part)
    return plain


def print_json(console: Console, value: object) -> None:
    """One line of JSON, whatever the width of the terminal."""
    console.file.write(json.dumps(value, ensure_ascii=False) + "\n")


def tokens_table(tokens: Iterable[access_pb.AccessToken]) -> Any:
    """Tokens in the order of their names."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("token", "scopes", "made", "replaced", "revoked"):
        table.add_column(title, no_wrap=True)
    for one in tokens:
        scopes = " ".join(access_pb.Scope.Name(scope).removeprefix("SCOPE_").lower() for scope in one.scopes)
        moments = [
            f"{getattr(one, name).ToDatetime():%Y-%m-%d %H:%M} UTC" if one.HasField(name) else ""
            for name in ("created_at", "rotated_at", "revoked_at")
        ]
        table.add_row(one.name, scopes, *moments)
    return table


def standings_table(standings: Iterable[pb.Standing]) -> Any:
    """The table, best first; the interval as its half width, since it lies evenly around the mean.

    A title, and beans, have columns where the tournament has them; so has what was paid for faults. Where deals were
    left out because another bot spoiled them, `deals` says how many count of how many. Who has gone on from a pool is
    marked. Who has no deal that counts has no mean, and no rank by it.
    """
    from rich import box
    from rich.table import Table

    lines = list(standings)
    titles = any(line.title for line in lines)
    beans = any(line.HasField("beans") for line in lines)
    paid = any(line.points_paid for line in lines)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("bot", no_wrap=True)
    if titles:
        table.add_column("title", no_wrap=True)
    counts = ("matches", "deals", "blocks", "faults", *(("paid",) if paid else ()))
    for title in ("points/deal", "95 %", *(("beans/deal", "95 %") if beans else ()), *counts):
        table.add_column(title, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(
            str(line.rank) if line.deals_counted else "-",
            f"{line.name} → final" if line.qualified else line.name,
            *([line.title] if titles else []),
            f"{line.points_per_deal:+.3f}" if line.deals_counted else "-",
            _half_width(line.low, line.high, 3) if line.HasField("low") else "-",
            *(_beans_of(line) if beans else ()),
            str(line.matches),
            str(line.deals) if line.deals_counted == line.deals else f"{line.deals_counted}/{line.deals}",
            str(line.blocks),
            str(line.timeouts + line.illegal_answers + line.takeovers),
            *([str(line.points_paid)] if paid else []),
        )
    return table


def by_pool(table: pb.GetStandingsResponse) -> Iterable[tuple[str, list[pb.Standing]]]:
    """The lines of each table that is told, under its title; without pools there is one, and it needs none."""
    if table.stages < 2:
        yield "", list(table.standings)
        return
    for pool, lines in groupby(table.standings, lambda line: line.pool):
        yield (f"Pool {pool}" if pool else "Final"), list(lines)


def ratings_table(standings: Iterable[pb.Standing]) -> Any:
    """The least-squares rating of each bot with its interval, and OpenSkill's ordinal, in the order of the table."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("bot", no_wrap=True)
    for title in ("rating", "95 %", "openskill"):
        table.add_column(title, justify="right", no_wrap=True)
    for line in standings:
        table.add_row(
            line.name,
            f"{line.rating:+.3f}" if line.HasField("rating") else "-",
            _half_width(line.rating_low, line.rating_high, 3) if line.HasField("rating_low") else "-",
            f"{line.openskill:.2f}" if line.HasField("openskill") else "-",
        )
    return table


ROLES = ("emperor", "guard", "rebel", "solo")


def roles_table(standings: Iterable[pb.Standing]) -> Any:
    """What each bot makes of each role, in the order of the table: mean, interval and deals."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("bot", no_wrap=True)
    for title in (part for role in ROLES for part in (role, "95 %", "deals")):
        table.add_column(title, justify="right", no_wrap=True)
    for line in standings:
        by_role = {one.role: one for one in line.roles}
        table.add_row(line.name, *(cell for role in ROLES for cell in _role_cells(by_role.get(role))))
    return table


def _role_cells(one: pb.RoleStanding | None) -> tuple[str, str, str]:
    if one is None:
        return "-", "-", "0"
    width = _half_width(one.low, one.high, 2) if one.HasField("low") else "-"
    return f"{one.points_per_deal:+.2f}", width, str(one.deals)


def _beans_of(line: pb.Standing) -> tuple[str, str]:
    """Mean beans per deal and their interval; with rooms and stakes they are large, so one digit is enough."""
    if not line.deals_counted:
        return "-", "-"
    width = _half_width(line.beans_low, line.beans_high, 1) if line.HasField("beans_low") else "-"
    return f"{line.beans_per_deal:+,.1f}", width


def _half_width(low: float, high: float, digits: int) -> str:
    return f"± {(high - low) / 2:,.{digits}f}"


def tournaments_table(tournaments: Iterable[pb.Tournament]) -> Any:
    """One line a tournament."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("tournament", "state", "matches", "deals", "faults", "made at", ""):
        table.add_column(title)
    for one in tournaments:
        progress = one.progress
        table.add_row(
            one.name,
            state_name(one.state),
            f"{progress.matches_done}/{progress.matches}",
            f"{progress.deals_done}/{progress.deals}",
            str(progress.faults),
            one.created_at.ToDatetime().strftime("%Y-%m-%d %H:%M"),
            remark(one),
        )
    return table


def matches_table(matches: Iterable[pb.Match]) -> Any:
    """One line a match: who sat there, by seat, each with the points; and who did what that he should not."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("match", justify="right", no_wrap=True)
    for title in ("points by seat", "deals", "ending", "ended at", "faults"):
        table.add_column(title)
    for one in matches:
        seats = (f"{name} {points:+d}" for name, points in zip(one.names, one.points, strict=True))
        ended = one.ended_at.ToDatetime().strftime("%Y-%m-%d %H:%M")
        ending = one.ending.replace("_", " ") + (", after the decision" if one.after_decision else "")
        number = str(one.number) + (f" pool {one.pool}" if one.pool else "")
        table.add_row(number, ", ".join(seats), str(one.deals), ending, ended, "\n".join(one.faults))
    return table


def remark(one: pb.Tournament) -> str:
    """What there is to say about a tournament, if anything."""
    if one.state == pb.STATE_OPEN:
        return f"{len(one.entries)} entered, {one.min_entrants} to {one.max_entrants} may play"
    if one.missing_bots:
        return "waits for " + ", ".join(one.missing_bots)
    return one.message


def describe_tournament(one: pb.Tournament) -> Iterable[str]:
    """A tournament in some lines."""
    progress = one.progress
    yield f"{one.name}: {state_name(one.state)}" + (f" ({remark(one)})" if remark(one) else "")
    if game := describe_game(one.spec_yaml):
        yield f"  game     {game}"
    if not one.HasField("plan"):
        if one.in_flight:
            yield f"  at once  {one.in_flight} matches at most, as an operator wants it"
        yield from describe_entries(one)
        return
    yield f"  matches  {progress.matches_done} of {progress.matches}, {progress.matches_running} running"
    if progress.matches_left_out:
        yield f"  left out {progress.matches_left_out} matches of excluded bots"
    if one.in_flight:
        yield f"  at once  {one.in_flight} matches at most, as an operator wants it"
    yield f"  deals    {progress.deals_done} of {progress.deals}"
    yield f"  void     {progress.attempts_void} attempts, played again"
    yield f"  faults   {progress.faults}"
    yield from describe_exclusions(one)
    yield from describe_qualified(one)
    yield from describe_plan(one.plan)


def describe_entries(one: pb.Tournament) -> Iterable[str]:
    """Who has entered a tournament that was not started, a line each."""
    yield f"  entrants {len(one.entries)} so far; {one.min_entrants} to {one.max_entrants} may play"
    for entry in one.entries:
        who = "by itself" if entry.by_itself else "by an operator"
        yield f"  entered  {entry.bot}, {who}, {entry.entered_at.ToDatetime():%Y-%m-%d %H:%M} UTC"


def describe_exclusions(one: pb.Tournament) -> Iterable[str]:
    """Who plays no more, a line each."""
    for exclusion in one.exclusions:
        annulled = exclusion.results == pb.EXCLUDED_RESULTS_ANNULLED
        why = f": {exclusion.reason}" if exclusion.reason else ""
        yield f"  excluded {exclusion.bot}, its results are {'annulled' if annulled else 'kept'}{why}"
