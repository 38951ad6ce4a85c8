"""Points, tribute and beans of given results, as an independent program settles them."""

from __future__ import annotations

from typing import Any

import pytest

from bots_sdk.rules.beans import settle
from bots_sdk.rules.events import Declaration, SoloKind
from bots_sdk.rules.profiles import make_options
from bots_sdk.rules.scoring import Standing, points_of
from bots_sdk.rules.tribute import NO_TRIBUTE, cards_of, tribute_of
from tests.vectors.test_deals import parse_tribute
from tests.vectors.vector_files import groups

GROUPS = groups("settlements", "profile")


@pytest.mark.parametrize("lines", [lines for _, lines in GROUPS], ids=[label for label, _ in GROUPS])
def test_settlements(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        settle_one(line)


def settle_one(line: dict[str, Any]) -> None:
    options = make_options(line["profile"], line.get("overrides", {}))
    declaration = Declaration.NONE
    if line["revealed"]:
        declaration = Declaration.REVEAL
    elif line["rebelled"]:
        declaration = Declaration.REBELLION
    standing = Standing(
        tuple(line["places"]),
        line["emperor"],
        line["guard"],
        SoloKind[line["solo"].upper()] if line["solo"] else None,
        declaration,
        line["kicked"],
    )
    assert list(points_of(options, standing)) == line["points"], line
    tribute = tribute_of(options, standing) if options.tribute else NO_TRIBUTE
    assert tribute == parse_tribute(line["tribute"]), line
    assert cards_of(tribute) == line["tribute_cards"], line
    if "settlement" in line:
        beans = settle(options, standing, line["room"], tuple(line["stake"]), cards_of(tribute))
        told = {"total": beans.total, "game_multiplier": beans.game, "beans": list(beans.beans)}
        assert told == line["settlement"], line
