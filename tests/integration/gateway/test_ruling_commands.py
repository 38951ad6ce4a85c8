"""`baohuang tournament requeue | exclude | in-flight`, against a real gateway and what is in its ledger afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from services.ledger.exporting import RETRACTIONS, LineUp, rows_of
from services.ledger.ledger import Access, Ledger
from services.ledger.values import Tournament, TournamentState
from tests.integration.gateway.house import OPEN, house_of
from tests.integration.gateway.test_gateway import SPEC
from tests.integration.gateway.test_token_commands import Desk, desk_of
from tests.unit.ledger.outcomes import make_outcome


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with house_of(tmp_path, OPEN) as house:
        yield desk_of(house, tmp_path)


@pytest.fixture
def ledger(desk: Desk, tmp_path: Path) -> Iterator[Ledger]:
    """That of the platform, with a paused tournament of five matches over the same deals, one of them played."""
    with Ledger.open(tmp_path / "ledger.db", access=Access.MEMBER) as opened:
        opened.create_tournament("cup", SPEC, b"seed", state=TournamentState.PAUSED)
        opened.record([make_outcome(3)])
        yield opened


def nobody_seated(_: Tournament) -> Callable[[int], LineUp]:
    raise AssertionError("nobody's seat matters")


async def test_a_match_is_put_back_and_says_why(desk: Desk, ledger: Ledger) -> None:
    reason = "the wrong build"
    shown = await desk.json("tournament", "requeue", "cup", "3", "--reason", reason)
    assert (shown["name"], shown["progress"].get("matches_done", 0)) == ("cup", 0)
    assert list(ledger.done_numbers("cup")) == []
    ((_, number, attempt, why, _),) = rows_of(ledger, RETRACTIONS, nobody_seated)
    assert (number, attempt, why) == (3, "first-3", reason)
    refused = await desk.type("tournament", "requeue", "cup", "5", code=1)
    assert "'cup' has no match 5; it has 0 to 4" in refused.err


async def test_a_bot_is_taken_out_and_less_is_played_at_once(desk: Desk, ledger: Ledger) -> None:
    await desk.type(
        "tournament", "exclude", "cup", "house:random", "--results", "annulled", "--reason", "two of a kind"
    )
    shown = await desk.type("tournament", "in-flight", "cup", "7")
    assert "two of a kind" in shown.out, "all can read it"
    rulings = ledger.rulings("cup")
    assert [(one.name, one.annulled, one.reason) for one in rulings.exclusions] == [
        ("house:random", True, "two of a kind")
    ]
    assert rulings.in_flight == 7
    refused = await desk.type("tournament", "exclude", "cup", "nobody", "--results", "kept", code=1)
    assert "No bot named 'nobody' is entered in 'cup'" in refused.err
