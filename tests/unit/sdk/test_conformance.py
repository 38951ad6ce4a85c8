"""A check finds what makes a bot unfit, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from bots_sdk.bot import AsyncBot, Bot, MatchResult, Seating
from bots_sdk.house import GreedyBot
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.events import Event
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.profiles import PROFILES
from bots_sdk.rules.view import View
from bots_sdk.testing import check_bot
from bots_sdk.testing.conformance import MOST_SLOW


def test_a_fit_bot_is_called_fit() -> None:
    report = check_bot(GreedyBot, 12)
    assert report.is_fit
    assert report.deals == 2 * len(PROFILES)
    assert report.decisions > 100
    assert report.sentences()[0].startswith(f"{report.deals} deals, {report.decisions} decisions, ")
    assert len(report.sentences()) == 1


def test_an_answer_that_is_legal_in_some_profiles_only_is_found() -> None:
    class Forgets(Bot):
        """Never heard of stickers."""

        def answer(self, view: View) -> Answer:
            return Answer(Word.PASS) if view.phase is Phase.THRONE else view.default()

    assert check_bot(Forgets, 2, profiles=["qingdao"], seed=2).is_fit
    report = check_bot(Forgets, 12, profiles=["bean"])
    assert not report.is_fit
    assert all(message.startswith("illegal answer 'pass' (wrong_card)") for message in report.mishaps)
    assert any("times: illegal answer" in sentence for sentence in report.sentences())


def test_a_bot_that_keeps_something_of_the_deal_before_is_found() -> None:
    class Stale(GreedyBot):
        def seated(self, seating: Seating) -> None:
            self.calls = 0

        def answer(self, view: View) -> Answer:
            self.calls += 1
            if self.calls > 1 and view.public.number > 0:
                raise LookupError("cards of the deal before")
            return super().answer(view)

    report = check_bot(Stale, 2, profiles=["qingdao"])
    (message,) = report.mishaps
    assert message.startswith("LookupError: cards of the deal before (test_conformance.py, line")


def test_slow_decisions_are_counted_by_the_clock_that_is_given() -> None:
    def ticks() -> Iterator[float]:
        now = 0.0
        for number in range(1_000_000):
            now += 1.5 if number % 101 == 0 else 0.001
            yield now

    clock = ticks()
    report = check_bot(GreedyBot, 2, profiles=["qingdao"], timer=lambda: next(clock))
    assert report.slow > 0
    assert report.most_s > 1
    assert not report.is_fit
    assert f"{report.slow} decisions took longer than 1 s; the usual limit is 2 s." in report.sentences()


def test_hooks_that_fail_are_found() -> None:
    class BadHook(GreedyBot):
        def event_seen(self, event: Event, view: View) -> None:
            raise KeyError("event")

        def match_ended(self, result: MatchResult) -> None:
            raise ZeroDivisionError

    report = check_bot(BadHook, 2, profiles=["qingdao"])
    assert {message.partition(" ")[0].rstrip(":") for message in report.mishaps} == {"KeyError", "ZeroDivisionError"}


def test_an_async_bot_is_checked_too() -> None:
    class Asks(AsyncBot):
        async def answer(self, view: View) -> Answer:
            return view.legal()[0]

    assert check_bot(Asks, 2, profiles=["special"]).is_fit


def test_a_bot_that_writes_into_its_view_is_found_and_harms_nobody() -> None:
    class Writes(GreedyBot):
        def answer(self, view: View) -> Answer:
            answer = super().answer(view)
            view.hand = b""
            return answer

    report = check_bot(Writes, 2, profiles=["qingdao"])
    assert list(report.mishaps) == ["answer() changed the view (hand), which is to be read; view.copy() is yours"]

    class Clears(GreedyBot):
        def answer(self, view: View) -> Answer:
            answer = super().answer(view)
            view.public.history.clear()
            return answer

    (message,) = check_bot(Clears, 2, profiles=["qingdao"]).mishaps
    assert "(history)" in message


def test_a_check_ends_when_it_has_seen_enough_slow_decisions() -> None:
    now = iter(range(1_000_000))
    told: list[int] = []
    report = check_bot(GreedyBot, 1000, timer=lambda: 2.0 * next(now), on_match=told.append)
    assert (report.slow, report.decisions) == (MOST_SLOW, MOST_SLOW)
    assert not told
    assert "That was enough; the check ended early." in report.sentences()
