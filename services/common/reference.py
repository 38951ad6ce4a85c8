"""Writes docs/errors.md and docs/metrics.md from the code; `--check` only says whether they are up to date."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from baohuang.error.v1 import reason_pb2
from bots_sdk.rules.errors import Refusal
from services.common.errors import DOMAIN, REMEDIES, Reason
from services.common.families import Family, Kind
from services.common.metrics import GROUPS, HOLD_BACK
from services.common.targets import Role

DOCS = Path(__file__).resolve().parents[2] / "docs"
PROTO = DOCS.parent / "proto" / "baohuang" / "error" / "v1" / "reason.proto"
COMMAND = "python -m services.common.reference"

REFUSALS = {
    Refusal.MALFORMED: "The answer cannot be read: an index, a word or a card out of range.",
    Refusal.NOT_ASKED: "The seat has nothing to answer now. Answer only requests that are open.",
    Refusal.WRONG_WORD: "The phase, or the options, do not know this word now; the message lists those allowed.",
    Refusal.NOT_HELD: "The seat does not hold all the cards named. Fold every event into the hand before answering.",
    Refusal.NO_PLAY: "The cards are no play: a play has cards of one rank, jokers, or both, and at least one card.",
    Refusal.WRONG_COUNT: "A play is answered by as many cards as are on the table.",
    Refusal.TOO_WEAK: "The play does not beat what is on the table; `pass` if nothing does.",
    Refusal.HELD_BACK: "Cards of this rank are held back: they may only be played with the whole hand.",
    Refusal.WRONG_CARD: "The word does not go with this card, or with no card; the message lists what does.",
    Refusal.WRONG_FACE: "This face cannot be called, or none may be named; the message lists those that can.",
    Refusal.WRONG_AMOUNT: "The amount is not one of those allowed, or none belongs here.",
    Refusal.MUST_LEAD: "The table is empty: the seat leads and cannot pass.",
    Refusal.MUST_ACCEPT: "The emperor card cannot be passed on any more.",
}
"""What each refusal of an answer means, and what to do instead."""


ERRORS_INTRODUCTION = f"""\
A refused call ends with a gRPC status. Its details hold one `google.rpc.ErrorInfo` with the `domain` `{DOMAIN}`, the
`reason` (first column) and, as `metadata`, every variable part of the sentence. The `Closing` record of a `Play` stream
carries the same reason.
"""
REFUSALS_INTRODUCTION = """\
An answer that the rules do not allow changes nothing. It comes back as `Rejected` with one of these labels and a
sentence; what happens next is the tournament's policy (`Seated.illegal_policy`). Locally the same answer raises
`IllegalAnswer`.
"""
METRICS_INTRODUCTION = f"""\
Every process of the platform serves `/metrics`; the gateway lists all of them at `/sd` in the form of Prometheus'
HTTP service discovery, with the labels `role` and `name` (which match service, which tournament). How to start
Prometheus with it: [deploy/prometheus](../deploy/prometheus/README.md).

Labels are closed sets, and every value is there from the start. No metric tells one table, match or bot from another.
How long a seat thinks before a sealed answer is hidden from the others, so decisions of sealed phases appear
{HOLD_BACK} at a time. Beside these, each process has the usual `process_*` metrics (memory, CPU, open files).
"""


def format_errors() -> str:
    """The text of docs/errors.md."""
    return "\n".join(_errors_lines()) + "\n"


def format_metrics() -> str:
    """The text of docs/metrics.md."""
    return "\n".join(_metrics_lines()) + "\n"


PAGES: dict[str, Callable[[], str]] = {"errors.md": format_errors, "metrics.md": format_metrics}


def _errors_lines() -> Iterator[str]:
    yield from ("# Errors", "", _made_by(), "")
    yield "## Refused calls and streams"
    yield ""
    yield ERRORS_INTRODUCTION
    meanings = _read_meanings()
    yield from _table(
        ("Reason", "gRPC code", "What happened", "What to do next"),
        [
            (f"`{reason.wire_name}`", f"`{remedy.code.name}`", meanings[reason], remedy.next_step)
            for reason, remedy in REMEDIES.items()
        ],
    )
    yield ""
    yield "## Refused answers"
    yield ""
    yield REFUSALS_INTRODUCTION
    yield from _table(("Refusal", "What it means"), [(f"`{refusal}`", REFUSALS[refusal]) for refusal in Refusal])


def _read_meanings() -> dict[Reason, str]:
    """What happened, for each reason: the comment above it in the protocol."""
    lines = [line.strip() for line in PROTO.read_text(encoding="utf-8").splitlines()]
    comments: dict[Reason, str] = {}
    comment: list[str] = []
    for line in lines:
        if line.startswith("//"):
            comment.append(line.removeprefix("//").strip())
            continue
        name = line.partition(" = ")[0]
        number = dict(reason_pb2.Reason.items()).get(name)
        if number:
            comments[Reason(number)] = " ".join(comment)
        comment = []
    return comments


def _metrics_lines() -> Iterator[str]:
    yield from ("# Metrics", "", _made_by(), "")
    yield METRICS_INTRODUCTION
    for role in Role:
        yield from ("", f'## {_TITLES[role]} (`role="{role}"`)', "")
        families = [family for group in GROUPS[role] for family in group.families]
        yield from _table(("Metric", "Kind", "Label", "Meaning"), [_metric_row(family) for family in families])


_TITLES = {Role.GATEWAY: "Gateway", Role.MATCH_SERVICE: "Match service", Role.DIRECTOR: "Director"}


def _metric_row(family: Family) -> tuple[str, ...]:
    values = ", ".join(f"`{value}`" for value in family.values)
    label = f"`{family.label}`: {values}" if family.label else ""
    suffixes = " (`_bucket`, `_sum`, `_count`)" if family.kind is Kind.HISTOGRAM else ""
    return f"`{family.name}`", f"{family.kind}{suffixes}", label, family.sentence


def _made_by() -> str:
    return f"<!-- Made from the code by `{COMMAND}`; a test compares. Change the code, then run it. -->"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


@click.command(help=__doc__)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when a page is out of date.")
def main(check: bool) -> None:
    """The command."""
    stale = []
    for name, make in PAGES.items():
        path, text = DOCS / name, make()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            path.write_text(text, encoding="utf-8")
    if stale:
        names = ", ".join(f"docs/{name}" for name in stale)
        click.echo(f"out of date: {names}; run {COMMAND}" if check else f"written: {names}")
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
