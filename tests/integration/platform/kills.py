"""When what is killed in a test that kills: at moments by the progress of a tournament, drawn from a seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random


class Victim(StrEnum):
    """What is killed; the values are titles of processes, where it is one that Ray has started."""

    DIRECTOR = "ray::DirectorActor"
    MATCH_SERVICE = "ray::MatchServiceActor"
    GATEWAY = "ray::GatewayActor"
    SERVE = "serve"
    """The process that somebody started, and nothing else: the others have to end by themselves."""
    WHOLE = "whole"
    """Every process of the platform at once, those of Ray too, and those that see to the end of others."""

    @property
    def is_actor(self) -> bool:
        """Whether Ray starts it again."""
        return self.value.startswith("ray::")


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill, `delay` seconds after there are so many results; `choice`, below 1, picks one where there are more."""

    victim: Victim
    results: int
    delay: float
    choice: float

    def __str__(self) -> str:
        return f"{self.victim.name} at {self.results} results and {self.delay:.2f} s"


def plan_kills(seed: str, victims: Mapping[Victim, int], *, results: int, delay: float) -> list[Kill]:
    """So many kills of each victim, in any order, at any moments before there are so many `results`."""
    random = Random(seed)
    order = [victim for victim, times in victims.items() for _ in range(times)]
    random.shuffle(order)
    moments = sorted(random.randrange(results) for _ in order)
    return [
        Kill(victim, moment, random.uniform(0, delay), random.random())
        for victim, moment in zip(order, moments, strict=True)
    ]
