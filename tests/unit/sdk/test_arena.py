"""Local play: the same deals for everybody, honest intervals, and bots that fail are survived."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from bots_sdk.arena import LocalStandings, Mishap, mean_interval, play_deals, play_match
from bots_sdk.bot import AsyncBot, Bot, MatchResult, Seating
from bots_sdk.house import HOUSE_BOTS, GreedyBot, RandomBot, make_house_bot
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.events import DealEnded, DealStarted, Event, HandDealt
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.profiles import PROFILES
from bots_sdk.rules.view import View

QINGDAO = PROFILES["qingdao"]
SECRET = b"a secret of the tests"


class Recorder(GreedyBot):
    """Notes what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.seatings: list[Seating] = []
        self.events: list[Event] = []
        self.ended: list[DealEnded] = []
        self.results: list[MatchResult] = []

    def seated(self, seating: Seating) -> None:
        self.seatings.append(seating)

    def event_seen(self, event: Event, view: View) -> None:
        self.events.append(event)

    def deal_ended(self, result: DealEnded, view: View) -> None:
        self.ended.append(result)

    def match_ended(self, result: MatchResult) -> None:
        self.results.append(result)


def four_greedy_and(bot: Any) -> list[Any]:
    return [bot, *(GreedyBot() for _ in range(4))]


def mishaps_with(bot: Any, deals: int = 1) -> list[Mishap]:
    found: list[Mishap] = []
    results = play_match(four_greedy_and(bot), QINGDAO, deals, SECRET, on_mishap=found.append)
    assert len(results) == deals  # whatever the bot does, the match is played
    return found


def test_greedy_beats_random_clearly_over_a_thousand_deals() -> None:
    names = ["greedy", "greedy", "random", "random", "random"]
    standings = LocalStandings(names)
    for block in play_deals([make_house_bot(name, f"test/{i}") for i, name in enumerate(names)], 1000, QINGDAO, 5):
        standings.add(block)
    assert (standings.deals, standings.blocks) == (1000, 200)
    for greedy in (0, 1):
        for rival in (2, 3, 4):
            mean, low, high = standings.difference(greedy, rival)
            assert low > 5, f"{mean:.2f} points per deal, 95 % [{low:.2f}, {high:.2f}]"
    assert sum(score.mishaps for score in standings.scores()) == 0


@pytest.mark.parametrize("profile", PROFILES)
def test_greedy_beats_random_in_every_profile(profile: str) -> None:
    names = ["greedy", "greedy", "random", "random", "random"]
    standings = LocalStandings(names)
    bots = [make_house_bot(name, f"test/{i}") for i, name in enumerate(names)]
    for block in play_deals(bots, 100, PROFILES[profile], 5, deals_per_match=1):
        standings.add(block)
    greedy, _, *rivals = standings.scores()
    assert all(greedy.mean > rival.mean for rival in rivals)
    assert sum(score.mishaps for score in standings.scores()) == 0


def test_greedy_does_not_need_the_solos_of_random_bots_to_win() -> None:
    names = ["greedy", "greedy", "random", "random", "random"]
    standings = LocalStandings(names)
    bots = [make_house_bot(name, f"test/{i}") for i, name in enumerate(names)]
    for block in play_deals(bots, 200, replace(PROFILES["bean"]), 5):
        standings.add(block)
    assert all(standings.difference(0, rival)[1] > 0 for rival in (2, 3, 4))


def test_the_same_seed_plays_the_same_and_another_does_not() -> None:
    def points(seed: int) -> list[tuple[int, ...]]:
        bots = [make_house_bot("random", f"{seed}/{i}") for i in range(5)]
        return [block.points for block in play_deals(bots, 20, QINGDAO, seed)]

    assert points(1) == points(1)
    assert points(1) != points(2)


def test_equal_bots_that_leave_nothing_to_chance_score_nothing_in_every_block() -> None:
    # Everybody holds every hand against the same four others, so what is left is not luck but a fault.
    for block in play_deals([GreedyBot() for _ in range(5)], 25, QINGDAO, 3):
        assert block.points == (0, 0, 0, 0, 0)


def test_whole_blocks_are_played_and_points_add_up_to_nothing() -> None:
    lengths: list[int] = []
    bots = [RandomBot(i) for i in range(5)]
    blocks = list(play_deals(bots, 11, QINGDAO, 0, deals_per_match=2, on_match=lengths.append))
    assert [block.deals for block in blocks] == [10, 10]
    assert lengths == [2] * 10
    assert all(sum(block.points) == 0 for block in blocks)


@pytest.mark.parametrize(("bots", "deals"), [(4, 1), (6, 1), (5, 0)])
def test_a_line_up_has_five_bots_and_there_is_something_to_play(bots: int, deals: int) -> None:
    with pytest.raises(ValueError, match="5 bots"):
        play_deals([RandomBot(i) for i in range(bots)], deals, QINGDAO)


def test_hooks_are_told_everything_in_order() -> None:
    bot = Recorder()
    assert mishaps_with(bot, deals=2) == []
    (seating,) = bot.seatings
    assert (seating.seat, seating.deals, seating.options, len(seating.names)) == (0, 2, QINGDAO, 5)
    assert isinstance(bot.events[0], DealStarted)
    assert isinstance(bot.events[1], HandDealt)
    assert len(bot.events[1].cards) == bot.events[0].sizes[0]
    assert [event for event in bot.events if isinstance(event, DealEnded)] == bot.ended
    assert len(bot.ended) == 2
    (result,) = bot.results
    assert result == MatchResult(True, tuple(map(sum, zip(*(end.points for end in bot.ended), strict=True))))


def test_a_bot_folding_the_events_itself_sees_the_same() -> None:
    class Folding(GreedyBot):
        mine: View
        compared = 0

        def seated(self, seating: Seating) -> None:
            self.mine = View(seating.options, seating.seat)

        def event_seen(self, event: Event, view: View) -> None:
            self.mine.apply(event)

        def answer(self, view: View) -> Answer:
            assert self.mine.hand == view.hand
            assert self.mine.legal() == view.legal()
            self.mine.note_answered()
            Folding.compared += 1
            return super().answer(view)

    assert mishaps_with(Folding()) == []
    assert Folding.compared > 10


class Raises(Bot):
    def answer(self, view: View) -> Answer:
        return self.helper(view.hand)

    def helper(self, hand: bytes) -> Answer:
        raise LookupError("nothing in my book")


class Exits(Bot):
    def answer(self, view: View) -> Answer:
        raise SystemExit(3)


class Fixed(Bot):
    def __init__(self, answer: Any) -> None:
        self.fixed = answer

    def answer(self, view: View) -> Answer:
        return self.fixed  # type: ignore[no-any-return]


def test_a_bot_that_raises_is_counted_with_the_place_in_its_file() -> None:
    found = mishaps_with(Raises())
    assert found
    line = Raises.helper.__code__.co_firstlineno + 1
    assert {mishap.message for mishap in found} == {
        f"LookupError: nothing in my book (test_arena.py, line {line}, in helper)"
    }
    assert {(mishap.seat, mishap.deal) for mishap in found} == {(0, 0)}


def test_a_bot_that_exits_is_counted_too() -> None:
    assert "SystemExit: 3" in mishaps_with(Exits())[0].message


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "answer() returned None"),
        ("pass", "answer() returned 'pass'"),
        (Answer(Word.PLAY, [3]), "answer() returned Answer"),  # type: ignore[arg-type]
        (Answer(Word.PLAY, b"\xff"), "answer() returned Answer"),
        (Answer(15, b"\x03"), "answer() returned Answer"),  # type: ignore[arg-type]
        (Answer(Word.STAKE, b"", -1), "answer() returned Answer"),
        (Answer(Word.TAKE, b"\x03"), "illegal answer 'take 3s' (wrong_word)"),
        ("x" * 5000, "x…"),
    ],
    ids=repr,
)
def test_whatever_a_bot_returns_ends_in_a_sentence(answer: Any, says: str) -> None:
    found = mishaps_with(Fixed(answer))
    assert found
    assert says in found[0].message
    assert len(found[0].message) < 400


def test_a_hook_that_raises_is_counted_and_the_match_goes_on() -> None:
    class Careless(GreedyBot):
        def seated(self, seating: Seating) -> None:
            raise ZeroDivisionError

        def deal_ended(self, result: DealEnded, view: View) -> None:
            raise KeyError("mine")

    messages = [mishap.message for mishap in mishaps_with(Careless())]
    assert len(messages) == 2
    assert messages[0].startswith("ZeroDivisionError (test_arena.py, line")
    assert messages[1].startswith("KeyError: 'mine' (test_arena.py, line")


def test_messages_are_kept_with_their_numbers() -> None:
    standings = LocalStandings(["mine", *"abcd"])
    for block in play_deals(four_greedy_and(Raises()), 5, QINGDAO):
        standings.add(block)
    mine, *others = standings.scores()
    ((message, number),) = mine.messages
    assert "nothing in my book" in message
    assert number == mine.mishaps > 5
    assert [score.mishaps for score in others] == [0] * 4


def test_ctrl_c_inside_a_bot_is_the_users() -> None:
    class Interrupted(Bot):
        def answer(self, view: View) -> Answer:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mishaps_with(Interrupted())


def test_an_async_bot_plays_locally_too() -> None:
    class Asking(AsyncBot):
        async def answer(self, view: View) -> Answer:
            if view.phase is Phase.CALL:
                raise RuntimeError("no line")
            return view.legal()[-1]

    class AsyncAnswer(Bot):
        async def answer(self, view: View) -> Answer:  # type: ignore[override]
            return view.default()

    found = mishaps_with(Asking())
    assert all(mishap.message.startswith("RuntimeError: no line (test_arena.py") for mishap in found)
    assert mishaps_with(AsyncAnswer()) == []


@pytest.mark.parametrize("name", HOUSE_BOTS)
def test_house_bots_play_the_same_given_their_seed(name: str) -> None:
    def points() -> list[tuple[int, ...]]:
        bots = [make_house_bot(name, f"s/{i}") for i in range(5)]
        return [result.points for result in play_match(bots, QINGDAO, 3, SECRET)]

    assert points() == points()


def test_the_interval_is_students() -> None:
    assert mean_interval([]) == (0.0, -math.inf, math.inf)
    assert mean_interval([2.0]) == (2.0, -math.inf, math.inf)
    # Quantiles from the tables: 12.706, 4.303, 3.182, 2.262, 1.984.
    for number, quantile in ((2, 12.706), (3, 4.303), (4, 3.182), (10, 2.262), (101, 1.984)):
        values = [float(i) for i in range(number)]
        mean, low, high = mean_interval(values)
        deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (number - 1))
        assert (high - low) / 2 / (deviation / math.sqrt(number)) == pytest.approx(quantile, rel=2e-3)


def test_a_bot_that_writes_into_its_view_changes_nothing_but_its_own() -> None:
    class Writes(Recorder):
        def answer(self, view: View) -> Answer:
            answer = super().answer(view)
            self.spoil(view)
            return answer

        def event_seen(self, event: Event, view: View) -> None:
            self.spoil(view)

        def spoil(self, view: View) -> None:
            view.hand = b""
            view.public.history.clear()

    clean = [block.points for block in play_deals(four_greedy_and(GreedyBot()), 5, QINGDAO)]
    spoilt = [block.points for block in play_deals(four_greedy_and(Writes()), 5, QINGDAO)]
    assert spoilt == clean
