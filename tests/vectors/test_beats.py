"""Pairs of plays, and whether one may follow the other, as an independent program sees it."""

from __future__ import annotations

from typing import Any

import pytest

from bots_sdk.rules.cards import RANKS
from bots_sdk.rules.options import Options
from bots_sdk.rules.plays import NO_RANK, Shape, beats
from bots_sdk.rules.profiles import change_options
from tests.vectors.vector_files import groups

GROUPS = groups("beats", "overrides")


@pytest.mark.parametrize("lines", [lines for _, lines in GROUPS], ids=[label for label, _ in GROUPS])
def test_beats(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        options = change_options(Options(), line["overrides"])
        table, play = parse_shape(options, line["table"]), parse_shape(options, line["play"])
        assert beats(options, table, play) is line["beats"], line


def parse_shape(options: Options, pattern: list[Any]) -> Shape:
    rank, number, small, big, guard = pattern
    # Without the special card the guard card is one of the cards counted.
    return Shape(RANKS.index(rank) if rank else NO_RANK, number, small, big, guard if options.special_card else 0)
