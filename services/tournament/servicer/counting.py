"""Which results count once a bot is excluded: always whole deal blocks, for everybody alike. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable

from services.ledger.values import Exclusion
from services.tournament.schedule import ScheduledMatch, Timetable
from services.tournament.spec import TournamentSpec


class Counting:
    """What counts, by what the ledger says.

    Of a bot whose results are annulled no match counts, for nobody who sat in it: all matches of a set of five have
    the same five in them, so whole blocks go. Of one whose results are kept a block counts when all its matches with
    the bot have been played, and not otherwise: the rest of it will never be, and whoever has held the good hands of a
    block must have held the bad ones as well.
    """

    def __init__(
        self, spec: TournamentSpec, schedule: Timetable, exclusions: Iterable[Exclusion], done: Container[int]
    ) -> None:
        """`done` are the numbers of the matches with results; asked for often, so quick at `in`."""
        indices = {name: index for index, name in enumerate(spec.entrants)}
        self._schedule = schedule
        self._done = done
        self._annulled: set[int] = set()
        self._kept: set[int] = set()
        for exclusion in exclusions:
            (self._annulled if exclusion.annulled else self._kept).add(indices[exclusion.name])
        self._whole: dict[tuple[int, int], bool] = {}

    def counts(self, match: ScheduledMatch) -> bool:
        """Whether the result of the match, which has one, counts."""
        if self._annulled.intersection(match.entrants):
            return False
        return all(self._is_whole(match.group, entrant) for entrant in self._kept.intersection(match.entrants))

    def _is_whole(self, group: int, entrant: int) -> bool:
        known = self._whole.get((group, entrant))
        if known is None:
            known = all(
                number in self._done or entrant not in self._schedule.match(number).entrants
                for number in self._schedule.numbers(group)
            )
            self._whole[group, entrant] = known
        return known
