"""The client of the platform: the lobby, and one stream for each match service."""

from bots_sdk.client.lobby import ListedBot, LobbyClient, Registered, Ticket
from bots_sdk.client.play import PlayClient
from bots_sdk.client.statistics import ClientStatistics
from bots_sdk.client.thinking import AsyncThinker, BotPool, InlineThinker, Thinker
from bots_sdk.client.threads import Crew, ThreadThinker
from bots_sdk.client.tls import Tls

__all__ = [
    "AsyncThinker",
    "BotPool",
    "ClientStatistics",
    "Crew",
    "InlineThinker",
    "ListedBot",
    "LobbyClient",
    "PlayClient",
    "Registered",
    "Thinker",
    "ThreadThinker",
    "Ticket",
    "Tls",
]
