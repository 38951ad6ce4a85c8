"""What a tournament must come to whatever was killed: its ledger beside the run that nothing disturbs."""

from __future__ import annotations

import json
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bots_sdk.client import Tls
from bots_sdk.replay import decompress_record, record_from_bytes
from services.common.matches import DealScore, Ending
from services.ledger.ledger import Access, Ledger
from services.ledger.values import Attempt

from .serving import verify_ledger
from .undisturbed import PureMatch

_Found = tuple[int, tuple[str, ...], tuple[DealScore, ...], int]
"""The number of a match, the names in its seats, what its deals came to, and after how many decisions."""


def verify_every_match(data: Path, name: str, played: Sequence[PureMatch], *, deals: int) -> list[Attempt]:
    """The ledger has the results of the run that nothing disturbed, `played`, and no others; all attempts.

    Every attempt is there once, has one outcome, and no match has been tried again after it had its result.
    """
    matches = len(played)
    verify_ledger(data, name, matches, deals)
    with Ledger.open(data / "ledger.db", access=Access.READER) as ledger:
        expected = [(match.scheduled.number, match.names, match.deals, match.decisions) for match in played]
        assert list(_results(ledger, name)) == expected
        attempts = [attempt for number in range(matches) for attempt in ledger.attempts(name, number)]
        totals = ledger.totals(name)
    assert len({attempt.attempt for attempt in attempts}) == len(attempts) == totals.attempts
    counted = Counter(attempt.number for attempt in attempts if attempt.ending.counts)
    assert counted == Counter(range(matches)), "each has exactly one attempt that counts"
    assert {attempt.ending for attempt in attempts if not attempt.ending.counts} <= {Ending.VOID}
    assert totals.faults == 0, "what was killed cost no bot anything"
    return attempts


def _results(ledger: Ledger, name: str) -> Iterator[_Found]:
    """Every result, in the order of the schedule; who sat where is in the records alone."""
    for result in ledger.results(name):
        compressed = ledger.match_record(name, result.number)
        assert compressed is not None
        record = record_from_bytes(decompress_record(compressed))
        assert (record.number, record.match_id) == (result.number, result.attempt)
        assert result.ending is Ending.COMPLETED
        yield result.number, tuple(player.name for player in record.players), result.deals, result.decisions


def lost_by_service(attempts: list[Attempt]) -> Mapping[str, int]:
    """How many attempts were void because their match service was lost."""
    return Counter(attempt.match_service for attempt in attempts if "was lost" in attempt.message)


def moved(attempts: list[Attempt]) -> set[int]:
    """The matches that were lost with one match service and have their result from another."""
    played = {attempt.number: attempt.match_service for attempt in attempts if attempt.ending.counts}
    lost = [attempt for attempt in attempts if "was lost" in attempt.message]
    return {attempt.number for attempt in lost if attempt.match_service != played[attempt.number]}


def gauges(http: str, name: str, tls: Tls | None = None) -> dict[str, float]:
    """A gauge of every match service, by its name; those that do not answer are left out."""
    found: dict[str, float] = {}
    for group in discovered(http, tls):
        if group["labels"]["role"] != "match-service":
            continue
        try:
            text = _read(group["targets"][0], "/metrics", tls)
        except OSError:
            continue
        lines = [line for line in text.splitlines() if line.startswith((f"{name} ", f"{name}{{"))]
        found[group["labels"]["name"]] = sum(float(line.rpartition(" ")[2]) for line in lines)
    return found


def discovered(http: str, tls: Tls | None = None) -> list[dict[str, Any]]:
    """All processes, as Prometheus is told of them."""
    groups: list[dict[str, Any]] = json.loads(_read(http, "/sd", tls))
    return groups


def _read(address: str, path: str, tls: Tls | None) -> str:
    context = None
    if tls is not None:
        context = tls.context()
        context.set_alpn_protocols(["http/1.1"])
    url = f"{'http' if tls is None else 'https'}://{address}{path}"
    with urllib.request.urlopen(url, timeout=10, context=context) as response:
        return str(response.read().decode())
