"""`baohuang tournament create | edit | open | enter | withdraw | start` and `bot enter`, against a real gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.gateway.house import OPEN, house_of
from tests.integration.gateway.test_token_commands import Desk, desk_of

SPEC = "name: cup\nprofile: qingdao\nschedule: {kind: full}\ndeals: 1\nentries: {min: 2, max: 3}\n"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with house_of(tmp_path, OPEN) as house:
        made = desk_of(house, tmp_path)
        (made.folder / "cup.yaml").write_text(SPEC)
        (made.folder / "bot.token").write_text(house.tokens["bot"])
        yield made


async def test_a_draft_is_written_changed_and_opened(desk: Desk) -> None:
    assert (await desk.json("tournament", "create", "cup.yaml", "--draft"))["state"] == "STATE_DRAFT"
    assert "cup" not in (await desk.type("tournament", "list", BAOHUANG_TOKEN=desk.house.tokens["reader"])).out
    (desk.folder / "cup.yaml").write_text(SPEC.replace("max: 3", "max: 9"))
    assert (await desk.json("tournament", "edit", "cup.yaml"))["max_entrants"] == 9
    assert "cup: open (0 entered, 2 to 9 may play)" in (await desk.type("tournament", "open", "cup")).out


async def test_a_bot_enters_and_leaves_with_its_own_token(desk: Desk) -> None:
    assert (await desk.json("tournament", "create", "cup.yaml", "--open"))["state"] == "STATE_OPEN"
    entered = await desk.type("bot", "enter", "cup", BAOHUANG_TOKEN=desk.house.tokens["bot"])
    assert entered.out == "Entered in cup; 1 bot entered so far, 2 to 3 may play.\n"
    left = await desk.json("bot", "withdraw", "cup", "--token-file", "bot.token")
    assert left == {"tournament": "cup", "entrants": [], "least": 2, "most": 3}
    again = await desk.type("tournament", "enter", "cup", BAOHUANG_TOKEN=desk.house.tokens["bot"])
    assert "  entered  bot, by itself, " in again.out


async def test_an_operator_enters_whom_it_likes_and_starts(desk: Desk) -> None:
    (desk.folder / "cup.yaml").write_text(SPEC + "bots: [bot]\n")
    assert "it has 1 entrant and needs 2 at least" in (await desk.type("tournament", "create", "cup.yaml", code=1)).err
    await desk.type("tournament", "create", "cup.yaml", "--open")
    shown = await desk.type("tournament", "enter", "cup", "house:random")
    assert "  entered  house:random, by an operator, " in shown.out
    started = await desk.json("tournament", "start", "cup", "--detach")
    assert (started["state"], started["plan"]["entrants"][:2]) == ("STATE_RUNNING", ["bot", "house:random"])
    refused = await desk.type("tournament", "withdraw", "cup", "bot", code=1)
    assert "The tournament 'cup' is running, it cannot be left: an operator can exclude a bot" in refused.err
    assert "Allowed are: pause, cancel, exclude, requeue, in-flight." in refused.err
