"""Blocks of matches: the same deals with the line-up moved on by one seat each time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from bots_sdk.arena.match import Mishap, play_match
from bots_sdk.bot import AnyBot
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.options import Options
from bots_sdk.rules.result import DealResult

TRIBUTE_DEALS = 10
"""Deals of a match where one deal bears on the next; otherwise a match is one deal."""


@dataclass(frozen=True, slots=True)
class BlockPlayed:
    """Five matches with the same shuffles, in which every bot held every seat once.

    Attributes:
        number: of the block, from 0.
        deals: how many deals were played in all.
        points: for each bot of the line-up its points of all these deals.
        mishaps: for each bot what went wrong.
    """

    number: int
    deals: int
    points: tuple[int, ...]
    mishaps: tuple[tuple[Mishap, ...], ...]


def play_deals(  # noqa: PLR0913 - everything that is wanted beside the blocks is told by a function of its own
    bots: Sequence[AnyBot],
    deals: int,
    options: Options,
    seed: int | str = 0,
    *,
    deals_per_match: int | None = None,
    on_match: Callable[[int], None] | None = None,
    on_record: Callable[[bytes], None] | None = None,
) -> Iterator[BlockPlayed]:
    """Play at least so many deals, in whole blocks, and yield each block when it is over.

    Args:
        bots: the line-up, five. Each object plays match after match, told of each by `seated`.
        deals: how many deals at least, all rotations counted.
        options: the rules.
        seed: what the shuffles come from; the same seed gives the same deals.
        deals_per_match: 1 if left out, or with tribute `TRIBUTE_DEALS`.
        on_match: called after each match with the number of its deals.
        on_record: given the record of each match, see `bots_sdk.replay`.

    Raises:
        ValueError: there are not five bots, or a number is below 1.
    """
    length = deals_per_match or (TRIBUTE_DEALS if options.tribute else 1)
    if len(bots) != SEATS or deals < 1 or length < 1:
        raise ValueError(f"a line-up has {SEATS} bots, and there is at least one deal")
    blocks = -(-deals // (length * SEATS))
    return _play_blocks(bots, options, (seed, blocks, length), on_match, on_record)


def _play_blocks(
    bots: Sequence[AnyBot],
    options: Options,
    plan: tuple[int | str, int, int],
    on_match: Callable[[int], None] | None,
    on_record: Callable[[bytes], None] | None,
) -> Iterator[BlockPlayed]:
    seed, blocks, length = plan
    for number in range(blocks):
        secret = hashlib.sha256(f"baohuang local play/{seed}/{number}".encode()).digest()
        order = Random(secret).sample(range(SEATS), SEATS)
        points = [0] * SEATS
        mishaps: list[list[Mishap]] = [[] for _ in bots]
        for shift in range(SEATS):
            line_up = order[shift:] + order[:shift]
            for result in _play_once(bots, options, line_up, (length, secret, on_record), mishaps):
                for seat, index in enumerate(line_up):
                    points[index] += result.points[seat]
            if on_match is not None:
                on_match(length)
        yield BlockPlayed(number, length * SEATS, tuple(points), tuple(tuple(one) for one in mishaps))


def _play_once(
    bots: Sequence[AnyBot],
    options: Options,
    line_up: list[int],
    match: tuple[int, bytes, Callable[[bytes], None] | None],
    mishaps: list[list[Mishap]],
) -> list[DealResult]:
    def count(mishap: Mishap) -> None:
        mishaps[line_up[mishap.seat]].append(mishap)

    length, secret, on_record = match
    seated = [bots[index] for index in line_up]
    return play_match(seated, options, length, secret, on_mishap=count, on_record=on_record)
