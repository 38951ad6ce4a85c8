"""The fixtures of a real tournament: its schedule, its entrants, and the deals that follow from its secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from services.common.matches import Entrant, MatchOrder
from services.tournament.schedule import Timetable, deal_secret, match_nonce
from services.tournament.spec import Duplicate, TournamentSpec, house_bot_id


class ScheduledFixtures:
    """Matches of a schedule as orders. `secret` is what all deals of the tournament come from."""

    def __init__(self, spec: TournamentSpec, schedule: Timetable, secret: bytes, bot_ids: Mapping[str, str]) -> None:
        self._spec = spec
        self._schedule = schedule
        self._secret = secret
        self._players = [Entrant(house_bot_id(name) or bot_ids[name], name) for name in spec.players]
        # A match is looked at again and again while its bots are busy; finding a line-up costs a numpy call.
        self._lineup = lru_cache(maxsize=1024)(self._find_lineup)

    def enter(self, schedule: Timetable) -> None:
        """The same schedule with the line-up of its final: from now on its matches are here as well."""
        self._schedule = schedule

    @property
    def matches(self) -> int:
        """How many there are, as far as it is known who plays them."""
        return self._schedule.known

    @property
    def bots(self) -> Sequence[Entrant]:
        """The remote bots that are to play yet."""
        return [entrant for index in self._schedule.playing if not (entrant := self._players[index]).is_house]

    def among(self, name: str) -> frozenset[str]:
        """Who plays in the same pool, or the final, or all of the tournament; nobody for one that plays no more."""
        now = [stage for stage in self._schedule.stages if all(section.members is not None for section in stage)][-1]
        for section in now:
            names = frozenset(self._spec.entrants[member] for member in section.members or ())
            if name in names:
                return names
        return frozenset()

    def seats(self, number: int) -> tuple[Entrant, Entrant, Entrant, Entrant, Entrant]:
        """Who plays the match, by seat."""
        return self._lineup(number)

    def sharing(self, number: int) -> Sequence[int]:
        """The numbers of all matches with the same deals, this one among them."""
        group, _ = self._schedule.place(number)
        return self._schedule.numbers(group)

    def order(self, number: int, attempt: str) -> MatchOrder:
        """The match, as an attempt of this id."""
        group, rotation = self._schedule.place(number)
        return MatchOrder(
            tournament=self._spec.name,
            number=number,
            attempt=attempt,
            seats=self._lineup(number),
            options=self._spec.options,
            deals=self._spec.deals,
            secret=deal_secret(self._secret, group),
            nonce=match_nonce(self._secret, attempt),
            # Other matches may be played with the same deals, here or in another tournament of the same seed: what the
            # deals came from is told by the record alone, which is kept back as long as anything is to be played.
            withhold=True,
            clock=self._spec.clock,
            faults=self._spec.faults,
            # The same five see each deal again: with other suits every time, and with the same in every attempt.
            suits=rotation if self._spec.duplicate is Duplicate.ROTATION else 0,
        )

    def _find_lineup(self, number: int) -> tuple[Entrant, Entrant, Entrant, Entrant, Entrant]:
        one, two, three, four, five = (self._players[index] for index in self._schedule.match(number).entrants)
        return (one, two, three, four, five)
