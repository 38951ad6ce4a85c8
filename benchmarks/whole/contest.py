"""What is played: one tournament, by the same bots, whether a whole platform is around the match service or nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

from services.tournament.director.scheduled import ScheduledFixtures
from services.tournament.schedule import make_schedule, tournament_secret
from services.tournament.spec import TournamentSpec, parse_spec

PROFILE = "qingdao"
SEED = "benchmark"
SETS = 5
"""Matches over the same deals, one for each rotation of the line-up: their number is a multiple of it."""


@dataclass(frozen=True, slots=True)
class Contest:
    """So many bots (`greedy`) in so many processes, each at `tables` tables at most, play `matches` matches.

    `in_flight` matches are played at once, by as many match services as are there.
    """

    bots: int
    processes: int
    matches: int
    deals: int
    in_flight: int
    tables: int

    @property
    def names(self) -> list[str]:
        """The bots."""
        return [f"bot-{number:03d}" for number in range(self.bots)]

    def shares(self) -> list[list[str]]:
        """The bots by process."""
        return [self.names[part :: self.processes] for part in range(self.processes)]


def spec_text(contest: Contest, name: str) -> str:
    """The tournament file. Clocks are such that nobody times out on a busy machine."""
    return (
        f"name: {name}\nprofile: {PROFILE}\nbots: [{', '.join(contest.names)}]\n"
        f"schedule: {{kind: balanced, matches: {contest.matches}}}\ndeals: {contest.deals}\nseed: {SEED}\n"
        f"clock: {{limit: 120s, ready: 120s}}\nin_flight: {contest.in_flight}\n"
    )


def spec_of(contest: Contest, name: str) -> TournamentSpec:
    """The same, read."""
    return replace(parse_spec(spec_text(contest, name)), seed=SEED)


def fixtures_of(contest: Contest, name: str) -> ScheduledFixtures:
    """The matches as a director would order them, each bot under its name."""
    spec = spec_of(contest, name)
    ids = {bot: bot for bot in contest.names}
    return ScheduledFixtures(spec, make_schedule(spec), tournament_secret(SEED), ids)
