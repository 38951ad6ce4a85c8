"""`baohuang play`: a line-up of five, thousands of deals, and a table of who made how many points."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from time import perf_counter

import click

from bots_sdk.arena import LEAST_BLOCKS, LocalStandings, play_deals
from bots_sdk.bot import AnyBot
from bots_sdk.cli.hosting import bots_print_to_stderr, hosting
from bots_sdk.cli.options import parse_rules, rules_options
from bots_sdk.loading import BotSource, load_bot
from bots_sdk.rules.cards import SEATS


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT BOT BOT BOT")
@click.option("--deals", type=click.IntRange(1), default=1000, show_default=True, help="How many deals, at least.")
@click.option(
    "--deals-per-match", type=click.IntRange(1, 1000), help="Deals of a match.  [default: 1; 10 where tribute is paid]"
)
@rules_options
@click.option("--seed", default="0", show_default=True, help="The same seed gives the same deals.")
@click.option(
    "--record",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Save the record of every match in this folder, for `baohuang replay`.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for scripts.")
@click.option("--no-progress", is_flag=True, help="No progress bar.")
def play(  # noqa: PLR0913 - one for each option
    bots: tuple[str, ...],
    deals: int,
    deals_per_match: int | None,
    profile: str,
    overrides: tuple[str, ...],
    seed: str,
    folder: Path | None,
    as_json: bool,
    no_progress: bool,
) -> None:
    """Play deals on this machine, without network and clock.

    A BOT is `greedy`, `random`, or a class in a file as in `my_bot.py:MyBot`. Every match is played five times with the
    line-up moved on by one seat, so that each bot holds every hand; intervals are taken over these blocks of five.
    """
    if len(bots) != SEATS:
        raise click.UsageError(
            f"a line-up has {SEATS} bots, not {len(bots)}: baohuang play my_bot.py:MyBot{' greedy' * (SEATS - 1)}"
        )
    options = parse_rules(profile, overrides)
    with bots_print_to_stderr():
        names, line_up = _line_up(bots, seed)
    standings = LocalStandings(names)
    began = perf_counter()
    interrupted = False
    try:
        with hosting(deals, hidden=no_progress or as_json) as advance:
            for block in play_deals(
                line_up, deals, options, seed,
                deals_per_match=deals_per_match, on_match=advance, on_record=_keeper(folder),
            ):  # fmt: skip
                standings.add(block)
    except KeyboardInterrupt:
        interrupted = True
    seconds = perf_counter() - began
    if standings.blocks:
        report = {"profile": profile, "seed": seed, "seconds": round(seconds, 3), "interrupted": interrupted}
        _show_json(standings, report) if as_json else _show(standings, profile, seconds)
    if interrupted:
        raise KeyboardInterrupt


def _line_up(texts: Sequence[str], seed: str) -> tuple[list[str], list[AnyBot]]:
    sources: dict[str, BotSource] = {}
    names: list[str] = []
    bots: list[AnyBot] = []
    for place, text in enumerate(texts):
        source = sources[text] = sources.get(text) or load_bot(text)
        times = sum(name.partition(" (")[0] == source.name for name in names)
        names.append(f"{source.name} ({times + 1})" if times else source.name)
        bots.append(source.make(f"{seed}/{place}"))
    return names, bots


def _keeper(folder: Path | None) -> Callable[[bytes], None] | None:
    """Saves records as `match-1.pb.z`, `match-2.pb.z`, … in the folder."""
    if folder is None:
        return None
    from bots_sdk.replay.files import SUFFIX, write_record

    folder.mkdir(parents=True, exist_ok=True)
    numbers = count(1)
    return lambda record: write_record(folder / f"match-{next(numbers)}{SUFFIX}", record)


def _show(standings: LocalStandings, profile: str, seconds: float) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(caption=f"{standings.deals} deals of {profile} in {standings.blocks} blocks, {seconds:.1f} s")
    table.add_column("bot")
    table.add_column("points per deal", justify="right")
    table.add_column("95 % interval", justify="right")
    table.add_column("faults", justify="right")
    scores = sorted(standings.scores(), key=lambda score: -score.mean)
    no_interval = f"from {LEAST_BLOCKS} blocks on"
    for score in scores:
        interval = f"{score.low:+.2f} to {score.high:+.2f}" if standings.has_intervals else no_interval
        table.add_row(score.name, f"{score.mean:+.2f}", interval, str(score.mishaps))
    Console().print(table)
    for score in scores:
        for message, number in score.messages:
            click.echo(f"{score.name}: {number} times: {message}", err=True)
    if any(score.mishaps for score in scores):
        click.echo("Wherever there was no legal answer the default was played.", err=True)


def _show_json(standings: LocalStandings, report: dict[str, object]) -> None:
    report |= {
        "deals": standings.deals,
        "blocks": standings.blocks,
        "bots": [
            {
                "name": score.name,
                "points_per_deal": score.mean,
                "interval": [score.low, score.high] if standings.has_intervals else None,
                "faults": score.mishaps,
                "messages": dict(score.messages),
            }
            for score in standings.scores()
        ],
    }
    click.echo(json.dumps(report))
