"""A bot that does not come back is noticed while it hangs, with the place in its file."""

from __future__ import annotations

import threading
import time

import pytest

from bots_sdk.asking import ask, call_hook
from bots_sdk.bot import Bot
from bots_sdk.cli.hosting import StallWatch
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.options import Options
from bots_sdk.rules.view import View

VIEW = View(Options(), 0)


class Waits(Bot):
    """Answers when it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()

    def answer(self, view: View) -> Answer:
        assert self.let_go.wait(20)
        return Answer(Word.PASS)


def test_a_decision_that_lasts_is_said_with_its_place_and_again_when_the_time_has_doubled() -> None:
    bot = Waits()
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            bot.let_go.set()

    with StallWatch(say, first_s=0.05):
        ask(bot, VIEW)
    assert len(said) == 2
    assert all(line.startswith("A bot has been thinking for ") for line in said)
    assert all("(test_hosting.py, line " in line and line.endswith(", in answer).") for line in said)


def test_a_hook_that_lasts_is_said_too() -> None:
    let_go = threading.Event()

    def hook() -> None:
        assert let_go.wait(20)

    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        let_go.set()

    with StallWatch(say, first_s=0.05):
        call_hook(hook)
    assert ", in hook)" in said[0]


def test_many_quick_decisions_are_no_stall() -> None:
    class Quick(Bot):
        def answer(self, view: View) -> Answer:
            return Answer(Word.PASS)

    said: list[str] = []
    until = time.monotonic() + 1.2
    with StallWatch(said.append, first_s=0.6):
        while time.monotonic() < until:
            ask(Quick(), VIEW)
    assert not said


def test_giving_up_interrupts_even_what_sleeps() -> None:
    class Sleeps(Bot):
        def answer(self, view: View) -> Answer:
            time.sleep(60)
            return Answer(Word.PASS)

    with StallWatch(lambda line: None, first_s=1, give_up_s=0.2) as watch, pytest.raises(KeyboardInterrupt):
        ask(Sleeps(), VIEW)
    assert watch.given_up is not None
    assert watch.given_up.startswith("test_hosting.py, line ")


def test_nothing_is_given_up_that_came_back() -> None:
    with StallWatch(lambda line: None, first_s=0.1, give_up_s=0.2) as watch:
        time.sleep(0.4)
    assert watch.given_up is None
