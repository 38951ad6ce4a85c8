"""Who is in, and since when. The time is passed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Presence(StrEnum):
    """Whether a bot is in. One that was never seen has none."""

    HERE = "here"
    AWAY = "away"


@dataclass(frozen=True, slots=True)
class Sighting:
    """Since when a bot is in or away, and how many tables it takes at once: 0 while it is away."""

    presence: Presence
    since: datetime
    tables: int


class PresenceBoard:
    """Every bot that came in since the platform started."""

    def __init__(self) -> None:
        self._sightings: dict[str, Sighting] = {}

    def arrive(self, bot_id: str, tables: int, now: datetime) -> None:
        """The bot is in. If it was already, it has been since then, and only its tables change."""
        before = self._sightings.get(bot_id)
        since = before.since if before and before.presence is Presence.HERE else now
        self._sightings[bot_id] = Sighting(Presence.HERE, since, tables)

    def leave(self, bot_id: str, now: datetime) -> None:
        """The bot is away."""
        self._sightings[bot_id] = Sighting(Presence.AWAY, now, 0)

    def of(self, bot_id: str) -> Sighting | None:
        """What is known of a bot; None if it was never seen."""
        return self._sightings.get(bot_id)

    def here(self) -> dict[str, Sighting]:
        """The bots that are in, by id."""
        return {bot_id: sighting for bot_id, sighting in self._sightings.items() if sighting.presence is Presence.HERE}
