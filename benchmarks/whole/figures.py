"""What is measured, as values."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Alone:
    """Match services alone: decisions a second; processor time of them and of the bots, microseconds for each.

    `batch` is decisions for each message to a bot.

    Decisions are counted, as few deals end in a short time, and those that are short first. How many a deal has is
    known of the tournament that plays the same matches.
    """

    per_s: float
    server_us: float
    bots_us: float
    batch: float

    @property
    def all_us(self) -> float:
        """Processor time of everybody for each decision."""
        return self.server_us + self.bots_us

    def sentence(self) -> str:
        """For people."""
        return (
            f"{self.per_s:7.0f} decisions/s  processor time for each: match services {self.server_us:.1f} us, "
            f"bots {self.bots_us:.1f} us; {self.batch:.2f} for each message"
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at a platform that plays: deals so far, and resident bytes by role."""

    at: float
    deals: int
    resident: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Played:
    """A whole tournament, from the call that creates it until it is finished.

    `steady_per_s` leaves out how it begins and ends. `cpu_ms` is processor time for each deal by role, `bots` among
    them; `first_s` is when the first deal was in the ledger, `batch` is decisions for each message to a bot,
    `busy` the part of the matches in flight that was at tables, on average in between.
    """

    deals: int
    decisions: int
    seconds: float
    first_s: float
    steady_per_s: float
    batch: float
    busy: float
    cpu_ms: Mapping[str, float]
    samples: Sequence[Sample]

    @property
    def deals_per_s(self) -> float:
        """The whole of it."""
        return self.deals / self.seconds

    @property
    def all_ms(self) -> float:
        """Processor time of everybody for each deal."""
        return sum(self.cpu_ms.values())

    @property
    def decisions_each(self) -> float:
        """Decisions in a deal."""
        return self.decisions / self.deals

    def growth_mib(self, role: str) -> float:
        """By how much a role has grown from the second fifth of the deals to the last tenth."""
        warm = self._resident(role, 0.2, 0.4)
        end = self._resident(role, 0.9, 1.01)
        return (end - warm) / MIB

    def resident_mib(self, role: str) -> float:
        """What it had in the end."""
        return self._resident(role, 0.9, 1.01) / MIB

    def _resident(self, role: str, start: float, stop: float) -> float:
        found = [
            sample.resident[role]
            for sample in self.samples
            if role in sample.resident and start * self.deals <= sample.deals < stop * self.deals
        ]
        if not found:
            found = [sample.resident[role] for sample in self.samples if role in sample.resident][-1:]
        return statistics.median(found) if found else 0.0

    def sentence(self) -> str:
        """For people."""
        costs = ", ".join(f"{role} {cost:.2f}" for role, cost in sorted(self.cpu_ms.items(), key=lambda it: -it[1]))
        return (
            f"{self.deals_per_s:7.1f} deals/s ({self.deals} in {self.seconds:.1f} s, the first after "
            f"{self.first_s:.1f} s; {self.steady_per_s:.1f} in between; {self.batch:.2f} decisions "
            f"for each message, {self.busy:.0%} of the tables busy)  ms of processors for each: {costs}"
        )
