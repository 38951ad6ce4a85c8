"""Compares who went on from pools to a final with what the results come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from services.common.qualifiers import Qualifier
from services.ledger.ledger import Ledger
from services.ledger.values import Exclusion, Tournament

Recount = Callable[[Ledger, Sequence[Exclusion]], Sequence[Qualifier]]
"""Who goes on by the results of a ledger, if these bots are excluded."""


def final_differences(ledger: Ledger, tournament: Tournament, recount: Recount) -> Iterator[str]:
    """In a few words, if those who went on are others than the results come to, with the exclusions of that time."""
    if not tournament.qualified:
        return
    exclusions = [
        replace(one, annulled=one.at_final)
        for one in ledger.rulings(tournament.name).exclusions
        if one.at_final is not None
    ]
    counted = tuple(recount(ledger, exclusions))
    if counted != tournament.qualified:
        yield f"{_listed(tournament.qualified)} went on, and by the results it is {_listed(counted)}"


def _listed(qualified: Sequence[Qualifier]) -> str:
    return ", ".join(f"{one.name} ({one.rank}. of pool {one.pool}, {one.way})" for one in qualified) or "nobody"
