"""Follows a tournament to its end, with a progress bar for people and a line now and then for logs."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import TYPE_CHECKING

from baohuang.tournament.v1 import tournament_service_pb2 as pb
from services.cli.tables import remark, state_name

if TYPE_CHECKING:
    from rich.console import Console

STEPS = 10
"""Lines of a log from beginning to end."""


async def follow(tournaments: AsyncIterable[pb.Tournament], console: Console) -> pb.Tournament | None:
    """Show what comes until nothing more comes; the last, or None if there was nothing."""
    return await (_with_bar if console.is_terminal else _with_lines)(tournaments, console)


async def _with_bar(tournaments: AsyncIterable[pb.Tournament], console: Console) -> pb.Tournament | None:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("deals  {task.fields[remark]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    last = None
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, remark="")
        async for last in tournaments:
            progress = last.progress
            bar.update(
                task,
                description=f"{last.name} {state_name(last.state)}",
                completed=progress.deals_done,
                total=progress.deals,
                remark=_remark(last),
            )
    return last


async def _with_lines(tournaments: AsyncIterable[pb.Tournament], console: Console) -> pb.Tournament | None:
    last, shown = None, None
    async for last in tournaments:
        progress = last.progress
        step = progress.deals_done * STEPS // max(1, progress.deals)
        now = (last.state, step, remark(last))
        if now != shown:
            shown = now
            text = (
                f"{last.name} {state_name(last.state)}: {progress.deals_done} of {progress.deals} deals {_remark(last)}"
            )
            console.file.write(text.rstrip() + "\n")
            console.file.flush()
    return last


def _remark(one: pb.Tournament) -> str:
    if text := remark(one):
        return text
    return f"{one.progress.faults} faults" if one.progress.faults else ""
