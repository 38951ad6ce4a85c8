"""Asking a bot and surviving it: whatever its code raises or returns ends in a `BotFailed` with one clear sentence."""

from __future__ import annotations

import asyncio
import atexit
import importlib
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from types import FrameType
from typing import TypeGuard, cast

from bots_sdk.bot import AnyBot, AsyncBot, Bot, is_async
from bots_sdk.errors import BotFailed
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.cards import CARD_CODES
from bots_sdk.rules.errors import IllegalAnswer
from bots_sdk.rules.notation import format_answer
from bots_sdk.rules.view import View

_MACHINERY = tuple(Path(file).parent for file in (__file__, asyncio.__file__, importlib.__file__))
_LONGEST_TEXT = 200
_MOST_CARDS = 216
# A bot that ends the interpreter has failed too; Ctrl-C is the user's.
_BOT_ERRORS = (Exception, SystemExit)


def ask(bot: Bot, view: View) -> Answer:
    """What the bot answers. That it is legal is still to be verified.

    Raises:
        BotFailed: it raised, or returned what is no answer at all.
    """
    try:
        answer = bot.answer(view)
    except _BOT_ERRORS as error:
        raise BotFailed(describe_error(error)) from error
    return verify_type(answer)


async def ask_async(bot: AsyncBot, view: View) -> Answer:
    """What a bot answers that has to be awaited; see `ask`."""
    try:
        answer = await bot.answer(view)
    except _BOT_ERRORS as error:
        raise BotFailed(describe_error(error)) from error
    return verify_type(answer)


def call_hook(hook: Callable[[], None]) -> None:
    """Call a hook of a bot.

    Raises:
        BotFailed: it raised.
    """
    try:
        hook()
    except _BOT_ERRORS as error:
        raise BotFailed(describe_error(error)) from error


_ASKING = (ask.__code__, call_hook.__code__)


def verify_type(answer: object) -> Answer:
    """The answer, if it is one.

    Raises:
        BotFailed: it is not.
    """
    if _is_answer(answer):
        return answer
    raise BotFailed(f"answer() returned {_shortened(repr(answer))}; it must return an Answer, one of view.legal()")


def verify_legal(answer: Answer, view: View) -> Answer:
    """The answer in its normal form.

    Raises:
        BotFailed: it is not legal now.
    """
    try:
        return view.verify(answer)
    except IllegalAnswer as refused:
        raise BotFailed(describe_illegal(answer, refused)) from refused


def _is_answer(answer: object) -> TypeGuard[Answer]:
    """Whether it has all the right types: a bot in Python may return anything."""
    if not isinstance(answer, Answer):
        return False
    word, cards, amount, special = cast("tuple[object, ...]", answer)
    return (
        isinstance(word, Word)
        and isinstance(cards, bytes)
        and len(cards) <= _MOST_CARDS
        and max(cards, default=0) < CARD_CODES
        and isinstance(amount, int)
        and 0 <= amount < 2**32
        and isinstance(special, bool)
    )


def describe_illegal(answer: Answer, refused: IllegalAnswer) -> str:
    """The answer, why it was refused, and the label of the refusal."""
    return f"illegal answer {_shortened(format_answer(answer))!r} ({refused.refusal}): {refused}"


def describe_error(error: BaseException) -> str:
    """Type, text and place of an error in the bot's own file: `ValueError: empty (my_bot.py, line 12, in answer)`."""
    text = str(error)
    said = f"{type(error).__name__}: {_shortened(text)}" if text else type(error).__name__
    place = place_in_bot(traceback.extract_tb(error.__traceback__))
    return f"{said} ({place})" if place else said


def place_in_bot(frames: Sequence[traceback.FrameSummary]) -> str:
    """Where in the bot's own file the innermost of these frames, outermost first, are; empty if they are nowhere in it.

    A bot may well be inside a library or the rules: its file is the first one that is neither ours nor Python's.
    """
    outside = [frame for frame in frames if not _is_machinery(frame.filename)]
    if not outside:
        return ""
    file = outside[0].filename
    frame = [frame for frame in outside if frame.filename == file][-1]
    return f"{Path(file).name}, line {frame.lineno}, in {frame.name}"


def frames_of_call(thread: int) -> list[FrameType]:
    """Where in a bot a thread is now, from there out to the call that asked it; empty if it is in none."""
    innermost = sys._current_frames().get(thread)
    frames = [frame for frame, _ in traceback.walk_stack(innermost)] if innermost is not None else []
    inside = list(takewhile(lambda frame: frame.f_code not in _ASKING, frames))
    return frames[: len(inside) + 1] if len(inside) < len(frames) else []


def place_of_call(frames: Sequence[FrameType]) -> str:
    """The place in the bot's own file, of what `frames_of_call` gives: `my_bot.py, line 12, in search`."""
    summary = traceback.StackSummary.extract(((frame, frame.f_lineno) for frame in frames), lookup_lines=False)
    return place_in_bot(list(reversed(summary))) or "not in its own file"


def _is_machinery(filename: str) -> bool:
    return filename.startswith("<frozen") or any(Path(filename).is_relative_to(folder) for folder in _MACHINERY)


def synchronous(bot: AnyBot) -> Bot:
    """The bot itself, or for one that has to be awaited a `Bot` that waits for it."""
    return _Awaited(bot) if is_async(bot) else bot  # type: ignore[arg-type,return-value]


class _Awaited(Bot):
    """Waits for the answers of an `AsyncBot`."""

    def __init__(self, bot: AsyncBot) -> None:
        self._bot = bot

    def answer(self, view: View) -> Answer:
        return _runner().run(self._bot.answer(view))


@cache
def _runner() -> asyncio.Runner:
    """The one event loop of local play: what a bot has opened in it lasts from match to match."""
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    atexit.register(runner.close)
    return runner


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_TEXT else f"{line[:_LONGEST_TEXT]}…"
