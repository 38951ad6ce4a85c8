"""Whether a stored tournament has said enough: the rule of its file, on what the ledger has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from services.ledger.ledger import Ledger
from services.tournament.schedule import Schedule
from services.tournament.servicer.tables import datum_for
from services.tournament.spec import TournamentSpec
from services.tournament.standings import (
    PlayedMatch,
    StandingsTable,
    StopDecision,
    bean_unit,
    decide,
    looks_at,
)

_DECIDED = re.compile(r"Ended early: .+ after the first (\d+) of \d+ sets of deals \(look \d+ of \d+\)", re.ASCII)


class Stopping:
    """Takes the looks of one tournament in their order, each once all its matches have results.

    A look depends on nothing but those results, so after a crash they are all taken again, and say the same.
    """

    def __init__(self, ledger: Ledger, spec: TournamentSpec, schedule: Schedule, message: str = "") -> None:
        """`message` is that of the tournament in the ledger, which has the decision if there was one."""
        self.recorded = message if parse_decided_groups(message) is not None else ""
        self._ledger = ledger
        self._spec = spec
        self._schedule = schedule
        self._looks = looks_at(schedule.groups) if spec.stop is not None else ()
        self._look = 0
        self._numbers = self._numbers_of_look()
        self._awaited: int | None = next(self._numbers, None)
        self._last = -1
        self.decision: StopDecision | None = None

    def is_due(self, is_done: Callable[[int], bool]) -> bool:
        """Whether the next look can be taken. `is_done`: whether a match has its result."""
        while self._awaited is not None and is_done(self._awaited):
            self._last = max(self._last, self._awaited)
            self._awaited = next(self._numbers, None)
        return self._awaited is None and self._look < len(self._looks) and self.decision is None

    def take_look(self) -> str:
        """Takes the look that is due: a sentence if the tournament has said enough, empty if not. Blocks.

        While somebody is excluded nothing is decided: who is first would be so among others than the file names.
        """
        assert self._spec.stop is not None
        if not self._ledger.rulings(self._spec.name).exclusions:
            self.decision = decide(self._spec.stop, self._look, self._looks, self._table().blocks())
        self._look += 1
        self._numbers = self._numbers_of_look()
        self._awaited = next(self._numbers, None)
        return format_decision(self.decision, self._spec, self._schedule) if self.decision is not None else ""

    def _numbers_of_look(self) -> Iterator[int]:
        """The matches that the next look waits for, beyond those of the one before."""
        if self._look < len(self._looks):
            before = self._looks[self._look - 1] if self._look else 0
            for group in range(before, self._looks[self._look]):
                yield from self._schedule.numbers(group)

    def _table(self) -> StandingsTable:
        """The table of the groups of this look alone."""
        spec, groups = self._spec, self._looks[self._look]
        datum = datum_for(spec, self._schedule)
        table = StandingsTable(spec.entrants, faults=spec.faults, bean_unit=bean_unit(spec.options), datum=datum)
        for result in self._ledger.results(spec.name):
            if result.number > self._last:
                break
            match = self._schedule.match(result.number)
            if match.group < groups:
                table.add(PlayedMatch(result.number, match.group, match.entrants, result.deals, result.faults))
        return table


def format_decision(decision: StopDecision, spec: TournamentSpec, schedule: Schedule) -> str:
    """The decision as a sentence, which is the message of the tournament from then on."""
    assert spec.stop is not None
    names = ", ".join(spec.entrants[entrant] for entrant in decision.first)
    are = "is" if len(decision.first) == 1 else "are"
    return (
        f"Ended early: {names} {are} ahead of all others, {spec.stop.level} % sure, after the first "
        f"{decision.groups} of {schedule.groups} sets of deals (look {decision.look + 1} of {decision.looks})"
    )


def parse_decided_groups(message: str) -> int | None:
    """After how many groups of its schedule a tournament with this message has ended early; None if it has not."""
    found = _DECIDED.fullmatch(message)
    return None if found is None else int(found[1])
