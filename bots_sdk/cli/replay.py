"""`baohuang replay`: look at the record of a match, check it, turn it into another form."""

from __future__ import annotations

import json
from pathlib import Path

import click

RECORD_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def replay() -> None:
    """Show, verify and export records of matches.

    A FILE is a record as protobuf, compressed protobuf or JSON.
    """


@replay.command()
@click.argument("file", type=RECORD_FILE)
@click.option("--deal", type=click.IntRange(0), help="Only this deal; the first is 0.")
def show(file: Path, deal: int | None) -> None:
    """Print every deal trick by trick."""
    from bots_sdk.replay import format_replay, read_record

    for line in format_replay(read_record(file), deal):
        click.echo(line)


@replay.command(short_help="Play the match again and check everything.")
@click.argument("file", type=RECORD_FILE)
@click.option("--commitment", metavar="HEX", help="What the bots were told before the first deal, in hexadecimal.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for scripts.")
def verify(file: Path, commitment: str | None, as_json: bool) -> None:
    """Play the match again and check everything: shuffles, answers, places, points, beans.

    Exit code 1, and the first wrong step, if the record does not hold together.
    """
    from bots_sdk.replay import read_record, verify_record

    told = None if commitment is None else _bytes_of(commitment)
    found = verify_record(read_record(file), told)
    if as_json:
        click.echo(
            json.dumps(
                {"match_id": found.match_id, "deals": found.deals, "shuffles": found.shuffles}
                | {"decisions": found.decisions, "names": found.names, "points": found.points}
                | {"commitment": found.commitment.hex()}
            )
        )
        return
    deals = f"{found.deals} deal{'s' * (found.deals != 1)}"
    void = f" and {found.shuffles - found.deals} void" if found.shuffles != found.deals else ""
    click.echo(f"The record of match {found.match_id} holds together: {deals}{void}, {found.decisions} answers.")
    for name, points in zip(found.names, found.points, strict=True):
        click.echo(f"  {points:+5d}  {name}")
    if told is None:
        click.echo(f"The commitment is {found.commitment.hex()}: is it what your bot was told before the first deal?")


@replay.command()
@click.argument("file", type=RECORD_FILE)
@click.option("--json", "form", flag_value="json", default=True, help="Protobuf's JSON.  [default]")
@click.option("--pb", "form", flag_value="pb", help="Protobuf: `baohuang.record.v1.MatchRecord`.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Where to; else to the terminal.")
def export(file: Path, form: str, output: Path | None) -> None:
    """Write the record as JSON or as protobuf. It is not checked."""
    from bots_sdk.replay import read_record, record_to_bytes, record_to_json

    record = read_record(file)
    data = record_to_bytes(record) if form == "pb" else record_to_json(record).encode() + b"\n"
    if output is None:
        click.echo(data, nl=False)
    else:
        output.write_bytes(data)


def _bytes_of(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not hexadecimal", param_hint="--commitment") from error
