"""Matches that are played for long, or never: a table costs no more for them, and says what it says without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest

from services.ledger.ledger import Ledger
from services.ledger.values import TournamentState
from services.tournament.schedule import PoolSchedule
from services.tournament.servicer.counting import Counting
from services.tournament.servicer.plans import Plan, drawn, make_plan
from services.tournament.servicer.promotion import qualify_from
from services.tournament.servicer.releases import without_open_rounds
from services.tournament.servicer.tables import Tables, fold_of, played_match
from services.tournament.spec import format_spec, parse_spec
from services.tournament.standings import Order, Standing
from services.tournament.standings.skills import Game, Skills
from tests.unit.tournament.watched import WatchedLedger, make_outcome

BOTS = "bots: [ada, bob, cem, dan, eva, fay, gus, hal, ida, jon]"
DUPLICATES = {
    "rotation": "schedule: {kind: balanced, matches: 200}\nduplicate: rotation",
    "none": "schedule: {kind: balanced, matches: 100}\nduplicate: none",
    "field": "schedule: {kind: rounds, rounds: 60}\nduplicate: field",
    "par": "schedule: {kind: balanced, matches: 100}\nduplicate: par",
}
LOOKS = 10


@dataclass
class House:
    """A running tournament, its table, and what that has cost so far."""

    plan: Plan
    ledger: Ledger
    watched: WatchedLedger
    tables: Tables
    rated: Callable[[], int]

    def record(self, *numbers: int) -> None:
        """These matches have results now."""
        self.ledger.record([make_outcome(number) for number in numbers])

    def exclude(self, name: str, *, annulled: bool) -> None:
        """A bot plays no more."""
        self.ledger.exclude("cup", name, annulled=annulled, reason="")

    def with_bot(self, name: str) -> set[int]:
        """The matches in which it was to play."""
        index = self.plan.spec.entrants.index(name)
        return {match.number for match in self.plan.schedule if index in match.entrants}

    def cost(self) -> tuple[int, int]:
        """Results read and games rated for a table."""
        read, rated = self.watched.read, self.rated()
        self.tables.of(self.plan, Order.POINTS)
        return self.watched.read - read, self.rated() - rated

    def verify(self) -> None:
        """The table is that of the ledger to the last digit."""
        assert self.tables.of(self.plan, Order.POINTS) == self.anew()

    def anew(self) -> list[Standing]:
        """The table from nothing but the ledger, each result after the other."""
        tournament, exclusions = self.ledger.tournament("cup"), self.ledger.rulings("cup").exclusions
        plan, fold = self.plan, fold_of(self.plan)
        counting = Counting(plan.spec, plan.schedule, exclusions, self.ledger.done_numbers("cup"))
        for result in without_open_rounds(self.ledger, tournament, plan.schedule, self.ledger.results("cup")):
            if counting.counts(plan.schedule.match(result.number)):
                fold.add(played_match(plan, result))
        return fold.standings()


@pytest.fixture
def house(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    rate, count = Skills.add, 0

    def counted(skills: Skills, game: Game) -> None:
        nonlocal count
        count += 1
        rate(skills, game)

    monkeypatch.setattr(Skills, "add", counted)
    monkeypatch.setattr("services.tournament.standings.fold.FRESH", 10_000)  # ratings are renewed at each look
    monkeypatch.setattr("services.tournament.standings.rating.DRAWS", 50)  # how sure they are is not the question here
    text = f"name: cup\nprofile: qingdao\n{BOTS}\n{DUPLICATES[request.param]}\ndeals: 2\nseed: s\n"
    plan = make_plan(parse_spec(text))
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.create_tournament("cup", format_spec(replace(plan.spec, seed=None)), b"s")
        ledger.transition("cup", tuple(TournamentState), TournamentState.RUNNING)
        watched = WatchedLedger(ledger)
        yield House(plan, ledger, watched, Tables(watched), lambda: count)  # type: ignore[arg-type]  # all it uses


ALL = pytest.mark.parametrize("house", DUPLICATES, indirect=True)
PLAYED = 60


@ALL
def test_a_match_that_is_played_for_long_has_nothing_read_or_rated_again(house: House) -> None:
    """Given a match that is still played, when others get results, then each look takes these and nothing else."""
    house.record(*(number for number in range(PLAYED) if number != 3))
    house.cost()
    looks = []
    for number in range(PLAYED, PLAYED + LOOKS):
        house.record(number)
        looks.append(house.cost())
    assert sum(read for read, _ in looks) == LOOKS
    assert sum(rated for _, rated in looks) <= LOOKS
    house.verify()
    # Those behind it were rated without it: once more, and that is all.
    house.record(3)
    read, rated = house.cost()
    assert read <= 2
    assert PLAYED // 3 < rated <= PLAYED + LOOKS
    house.verify()
    house.record(PLAYED + LOOKS, PLAYED + LOOKS + 1)
    assert max(house.cost()) <= 2


@ALL
@pytest.mark.parametrize("annulled", [True, False])
def test_matches_that_are_never_played_have_nothing_read_or_rated_again(house: House, annulled: bool) -> None:
    """Given a bot that was excluded, when others play on, then all is gone through once, and then no more."""
    house.record(*range(PLAYED))
    house.cost()
    house.exclude("ada", annulled=annulled)
    read, _ = house.cost()
    assert read <= PLAYED
    left_out = house.with_bot("ada")
    rest = [number for number in range(PLAYED, len(house.plan.schedule)) if number not in left_out]
    looks = []
    for number in rest[:LOOKS]:
        house.record(number)
        looks.append(house.cost())
    assert sum(read for read, _ in looks) <= LOOKS
    assert sum(rated for _, rated in looks) <= LOOKS
    house.verify()
    # The rounds that it misses are shown when all is over.
    house.record(*rest[LOOKS:])
    house.verify()
    house.ledger.transition("cup", [TournamentState.RUNNING], TournamentState.FINISHED)
    house.verify()


@ALL
def test_what_an_excluded_bot_still_plays_makes_blocks_whole(house: House) -> None:
    """Given matches on the way when a bot is excluded, when they end, then what counts by them is taken in."""
    on_the_way = set(range(10, PLAYED, 7)) & house.with_bot("ada")
    house.record(*(number for number in range(PLAYED) if number not in on_the_way))
    house.exclude("ada", annulled=False)
    house.verify()
    for number in sorted(on_the_way, reverse=True):
        house.record(number)
        house.verify()
    house.exclude("ada", annulled=True)
    house.verify()


@ALL
@pytest.mark.parametrize("seed", range(2))
def test_whatever_happens_the_table_is_that_of_the_ledger(house: House, seed: int) -> None:
    draw = Random(seed)
    left = list(range(len(house.plan.schedule)))
    # As on the way: about in order, some much later.
    left.sort(key=lambda number: number + draw.choice((0, 0, 0, 3, 8, 40)) * draw.random())
    while left:
        some, left = left[: (many := draw.randint(1, 20))], left[many:]
        house.record(*some)
        if draw.random() < 0.1:
            name = draw.choice(("ada", "bob"))
            house.exclude(name, annulled=draw.random() < 0.5)
            gone = house.with_bot(name)
            left = [number for number in left if number not in gone or draw.random() < 0.05]
        if draw.random() < 0.2:
            number = draw.choice(some)
            sharing = house.plan.schedule.numbers(house.plan.schedule.place(number)[0])
            if len(house.ledger.done_among("cup", sharing)) < len(sharing):
                house.ledger.retract("cup", number, sharing, "")
                house.ledger.record([make_outcome(number, f"again-{len(left)}")])
        house.verify() if draw.random() < 0.3 else house.cost()
    house.ledger.transition("cup", [TournamentState.RUNNING], TournamentState.FINISHED)
    house.verify()


@pytest.mark.parametrize("house", ["none"], indirect=True)
def test_what_could_not_be_read_is_read_the_next_time(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.record(*range(10))
    house.cost()
    house.record(*range(10, 20))
    with monkeypatch.context() as failing:
        failing.setattr(Ledger, "results_of", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            house.cost()
    house.verify()


POOLS = """\
name: cup
profile: qingdao
bots: [ada, bob, cem, dan, eva, fay, gus, hal, ida, jon, kim, leo]
schedule: {kind: pool, pools: 2, draw: snake, each: full, advance: 3, rest: 1, final: {kind: full}%s}
duplicate: none
deals: 2
seed: secret
"""


@pytest.mark.parametrize("counts", ["", ", counts: all"])
@pytest.mark.parametrize("annulled", [True, False])
def test_pools_and_finals_are_read_once(tmp_path: Path, counts: str, annulled: bool) -> None:
    """Given tables of stages that are looked at all along, then they are those of a first look."""
    plan = make_plan(parse_spec(POOLS % counts))
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.create_tournament("cup", format_spec(replace(plan.spec, seed=None)), b"secret")
        watched = WatchedLedger(ledger)
        tables = Tables(watched)  # type: ignore[arg-type]  # all of a ledger that it uses

        def look(stage: int, numbers: Iterable[int]) -> None:
            order = sorted(numbers, key=lambda number: number + (30 if number % 9 == 4 else 0))
            for start in range(0, len(order), 6):
                ledger.record([make_outcome(number) for number in order[start : start + 6]])
                for one in range(1, stage + 1):
                    shown = tables.of(plan, Order.POINTS, one)
                    if draw.random() < 0.3:
                        assert shown == Tables(ledger).of(plan, Order.POINTS, one)

        draw = Random(4)
        assert isinstance(plan.schedule, PoolSchedule)
        before_final = plan.schedule.before_final
        look(1, range(before_final))
        assert watched.read == before_final
        ledger.exclude("cup", "ada", annulled=annulled, reason="")
        exclusions = ledger.rulings("cup").exclusions
        qualified = ledger.qualify("cup", qualify_from(ledger, plan.spec, plan.schedule, exclusions), exclusions)
        plan = replace(plan, schedule=drawn(plan.schedule, plan.spec, qualified))
        tables.of(plan, Order.POINTS, 1)
        tables.of(plan, Order.POINTS, 2)
        read = watched.read
        look(2, range(before_final, len(plan.schedule)))
        assert watched.read - read == len(plan.schedule) - before_final
