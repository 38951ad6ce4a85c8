"""Local play, without network and clock: thousands of deals in seconds.

The five bots of a line-up play every match five times, each time moved on by one seat, so that every bot holds every
hand. These five are one block, and one observation: intervals are taken over blocks, never over single deals. The order
of the line-up changes from block to block, because it matters who sits before whom.
"""

from bots_sdk.arena.blocks import BlockPlayed, play_deals
from bots_sdk.arena.match import Mishap, play_match
from bots_sdk.arena.standings import LEAST_BLOCKS, BotScore, LocalStandings, mean_interval

__all__ = [
    "LEAST_BLOCKS",
    "BlockPlayed",
    "BotScore",
    "LocalStandings",
    "Mishap",
    "mean_interval",
    "play_deals",
    "play_match",
]
