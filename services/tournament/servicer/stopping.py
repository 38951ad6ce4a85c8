"""Whether a stored tournament has said enough: the rule of its file, on what the ledger has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from services.ledger.ledger import Ledger
from services.tournament.schedule import PoolSchedule, Timetable
from services.tournament.servicer.plans import drawn
from services.tournament.servicer.scopes import Scope, last_section
from services.tournament.spec import TournamentSpec
from services.tournament.standings import StandingsTable, StopDecision, decide, looks_at

_DECIDED = re.compile(r"Ended early: .+ after the first (\d+) of \d+ sets of deals \(look \d+ of \d+\)", re.ASCII)


class Stopping:
    """Takes the looks of one tournament in their order, each once all its matches have results.

    A look depends on nothing but those results, so after a crash they are all taken again, and say the same. With pools
    only the final is looked at, once it is known who plays it.
    """

    def __init__(
        self, ledger: Ledger, spec: TournamentSpec, schedule: Timetable, message: str = "", *, again: bool = False
    ) -> None:
        """`message` is that of the tournament in the ledger, which has the decision if there was one.

        `again`: what was decided is to be computed again, when whoever is excluded by now was not yet.
        """
        self.recorded = message if parse_decided_groups(message) is not None else ""
        self._ledger = ledger
        self._spec = spec
        self._timetable = schedule
        self._schedule = schedule.stages[-1][0].schedule
        self._looks = looks_at(self._schedule.groups) if spec.stop is not None else ()
        self._again = again
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
        if isinstance(self._timetable, PoolSchedule) and self._timetable.finalists is None:
            qualified = self._ledger.tournament(self._spec.name).qualified
            self._timetable = drawn(self._timetable, self._spec, qualified)
        scope = last_section(self._spec, self._timetable)
        if self._again or self._ledger.rulings(self._spec.name).excluded.isdisjoint(scope.names):
            self.decision = decide(self._spec.stop, self._look, self._looks, self._table(scope).blocks())
        self._look += 1
        self._numbers = self._numbers_of_look()
        self._awaited = next(self._numbers, None)
        if self.decision is None:
            return ""
        return format_decision(self.decision, self._spec.stop.level, scope.names, self._schedule.groups)

    def _numbers_of_look(self) -> Iterator[int]:
        """The matches that the next look waits for, beyond those of the one before."""
        if self._look < len(self._looks):
            before = self._looks[self._look - 1] if self._look else 0
            for group in range(before, self._looks[self._look]):
                for inner in self._schedule.numbers(group):
                    yield self._timetable.number(len(self._timetable.stages) - 1, 0, inner)

    def _table(self, scope: Scope) -> StandingsTable:
        """The table of the groups of this look alone."""
        table = scope.table()
        for result in self._ledger.results(self._spec.name, after=scope.outer(0) - 1):
            if result.number > self._last:
                break
            match = scope.played(result)
            if match.group < self._looks[self._look]:
                table.add(match)
        return table


def decided_by(ledger: Ledger, spec: TournamentSpec, schedule: Timetable) -> str:
    """The sentence with which a tournament has ended early by what the ledger has; empty if it has not. Blocks.

    Nobody was excluded then, as nothing would have been decided otherwise, and who is excluded remains so.
    """
    stopping, done = Stopping(ledger, spec, schedule, again=True), ledger.done_numbers(spec.name)
    said = ""
    while not said and stopping.is_due(done.__contains__):
        said = stopping.take_look()
    return said


def format_decision(decision: StopDecision, level: int, names: Sequence[str], groups: int) -> str:
    """The decision as a sentence, which is the message of the tournament from then on; `names` and `groups` are those
    of the table that was looked at.
    """
    first = ", ".join(names[entrant] for entrant in decision.first)
    are = "is" if len(decision.first) == 1 else "are"
    return (
        f"Ended early: {first} {are} ahead of all others, {level} % sure, after the first "
        f"{decision.groups} of {groups} sets of deals (look {decision.look + 1} of {decision.looks})"
    )


def parse_decided_groups(message: str) -> int | None:
    """After how many groups of its schedule a tournament with this message has ended early; None if it has not."""
    found = _DECIDED.fullmatch(message)
    return None if found is None else int(found[1])
