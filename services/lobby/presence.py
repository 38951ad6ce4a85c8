"""Who is in, and since when. The time is passed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Presence(StrEnum):
    """Whether a bot is in. One that was never seen has none."""

    HERE = "here"
    AWAY = "away"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Sighting:
    """Since when a bot is in or away, and how many tables it takes at once: 0 while it is not here.

    Who is gone has been away since then, or lost its token then.
    """

    presence: Presence
    since: datetime
    tables: int


class PresenceBoard:
    """Every bot that came in since the platform started. Who is away for `gone_after` counts as gone."""

    def __init__(self, gone_after: timedelta) -> None:
        self._gone_after = gone_after
        self._sightings: dict[str, Sighting] = {}

    def arrive(self, bot_id: str, tables: int, now: datetime) -> None:
        """The bot is in. If it was already, it has been since then, and only its tables change."""
        before = self._sightings.get(bot_id)
        since = before.since if before and before.presence is Presence.HERE else now
        self._sightings[bot_id] = Sighting(Presence.HERE, since, tables)

    def leave(self, bot_id: str, now: datetime) -> None:
        """The bot is away; or still gone, if it leaves because its token has ended."""
        before = self._sightings.get(bot_id)
        if before is None or before.presence is Presence.HERE:
            self._sightings[bot_id] = Sighting(Presence.AWAY, now, 0)

    def end(self, bot_id: str, now: datetime) -> None:
        """The bot's token has ended: it is gone, until it comes in with another one."""
        self._sightings[bot_id] = Sighting(Presence.GONE, now, 0)

    def of(self, bot_id: str, now: datetime) -> Sighting | None:
        """What is known of a bot; None if it was never seen."""
        known = self._sightings.get(bot_id)
        if known is not None and known.presence is Presence.AWAY and now - known.since >= self._gone_after:
            return Sighting(Presence.GONE, known.since, 0)
        return known

    def here(self) -> dict[str, Sighting]:
        """The bots that are in, by id."""
        return {bot_id: sighting for bot_id, sighting in self._sightings.items() if sighting.presence is Presence.HERE}
