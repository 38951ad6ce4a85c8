"""One match between five bots in this process, surviving whatever they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from bots_sdk.asking import ask, call_hook, describe_illegal, synchronous
from bots_sdk.bot import AnyBot, MatchResult, Seating, has_hook
from bots_sdk.errors import BotFailed
from bots_sdk.house import HOUSE_BOTS
from bots_sdk.rules.answers import Answer
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.errors import IllegalAnswer
from bots_sdk.rules.events import DealEnded, DealStarted, Event, HandDealt
from bots_sdk.rules.match import Match
from bots_sdk.rules.options import Options
from bots_sdk.rules.result import DealResult
from bots_sdk.rules.shuffle import deck_order
from bots_sdk.rules.view import View

if TYPE_CHECKING:
    from bots_sdk.arena.recording import Came, MatchRecorder


@dataclass(frozen=True, slots=True)
class Mishap:
    """A bot raised, or answered what is not legal, and the default was played instead.

    Attributes:
        seat: of the bot.
        deal: the deal of the match, from 0.
        message: what it was and where in the bot's file.
    """

    seat: int
    deal: int
    message: str


def play_match(  # noqa: PLR0913 - everything that is wanted beside the result is told by a function of its own
    bots: Sequence[AnyBot],
    options: Options,
    deals: int,
    secret: bytes,
    *,
    names: Sequence[str] = (),
    on_mishap: Callable[[Mishap], None] | None = None,
    on_record: Callable[[bytes], None] | None = None,
) -> list[DealResult]:
    """Play a match to its end.

    Args:
        bots: five, by seat; each keeps its object, `seated` tells it that a match begins.
        options: the rules.
        deals: how many deals; void ones are dealt again and not counted.
        secret: what the shuffles come from, any number of bytes.
        names: five names by seat; the classes' names if left out.
        on_mishap: told of each mishap.
        on_record: given the match record at the end, see `bots_sdk.replay`.

    Raises:
        ValueError: there are not five bots.
    """
    if len(bots) != SEATS:
        raise ValueError(f"a match has {SEATS} bots, not {len(bots)}")
    shown = tuple(names) or tuple(type(bot).__name__ for bot in bots)
    match_id = secret.hex()[:16]
    match = Match(options, deals, partial(deck_order, options, secret))
    if on_record is None:
        return _LocalMatch(bots, match, on_mishap, None).play(shown, match_id)
    from bots_sdk.arena.recording import MatchRecorder

    recorder = MatchRecorder(match, shown, match_id, secret)
    results = _LocalMatch(bots, match, on_mishap, recorder).play(shown, match_id)
    on_record(recorder.finish())
    return results


class _LocalMatch:
    """A match being played; hooks are called only on bots that have them."""

    def __init__(
        self,
        bots: Sequence[AnyBot],
        match: Match,
        on_mishap: Callable[[Mishap], None] | None,
        recorder: MatchRecorder | None,
    ) -> None:
        self._hooked = bots
        self._bots = tuple(synchronous(bot) for bot in bots)
        self._is_house = tuple(type(bot) in HOUSE_BOTS.values() for bot in bots)
        self._match = match
        self._on_mishap = on_mishap
        self._recorder = recorder
        self._watchers = [seat for seat in range(SEATS) if has_hook(bots[seat], "event_seen")]
        self._enders = [seat for seat in range(SEATS) if has_hook(bots[seat], "deal_ended")]

    def play(self, names: tuple[str, ...], match_id: str) -> list[DealResult]:
        match = self._match
        for seat, bot in enumerate(self._hooked):
            seating = Seating(match_id, seat, match.options, match.deals, names)
            self._hook(seat, partial(bot.seated, seating))
        events = match.start()
        while True:
            if self._watchers or self._enders:
                self._tell(events)
            if match.deal.result is None:
                seat = match.deal.asked[0]
                events = self._answer(seat)
            elif match.over:
                break
            else:
                events = match.next_deal()
        for seat, bot in enumerate(self._hooked):
            self._hook(seat, partial(bot.match_ended, MatchResult(True, match.points)))
        return match.results

    def _answer(self, seat: int) -> list[Event]:
        """Let the seat answer; the default where its bot fails. Whether it is legal only the match checks, and once."""
        match = self._match
        try:
            answer = ask(self._bots[seat], self._shown(seat))
        except BotFailed as failed:
            self._count(seat, str(failed))
            return self._apply(seat, match.deal.default(seat), "failed")
        try:
            return self._apply(seat, answer, "answered")
        except IllegalAnswer as refused:
            self._count(seat, describe_illegal(answer, refused))
            return self._apply(seat, match.deal.default(seat), "illegal")

    def _shown(self, seat: int) -> View:
        """The seat's view. The match plays by it, so a bot that may write into it gets one of its own."""
        view = self._match.deal.view(seat)
        return view if self._is_house[seat] else view.copy()

    def _apply(self, seat: int, answer: Answer, came: Came) -> list[Event]:
        match, recorder = self._match, self._recorder
        if recorder is None:
            return match.answer(seat, answer)
        answer = recorder.verified(seat, answer)
        recorder.note(seat, answer, came)
        events = match.answer(seat, answer)
        if match.deal.is_over:
            recorder.end_deal()
        return events

    def _tell(self, events: list[Event]) -> None:
        views = {seat: self._shown(seat) for seat in {*self._watchers, *self._enders}}
        for event in events:
            for seat in self._watchers:
                view = views[seat]
                self._hook(seat, partial(self._hooked[seat].event_seen, event, view))
                if isinstance(event, DealStarted):
                    self._hook(seat, partial(self._hooked[seat].event_seen, HandDealt(view.hand), view))
            if isinstance(event, DealEnded):
                for seat in self._enders:
                    self._hook(seat, partial(self._hooked[seat].deal_ended, event, views[seat]))

    def _hook(self, seat: int, hook: Callable[[], None]) -> None:
        try:
            call_hook(hook)
        except BotFailed as failed:
            self._count(seat, str(failed))

    def _count(self, seat: int, message: str) -> None:
        if self._on_mishap is not None:
            self._on_mishap(Mishap(seat, len(self._match.results), message))
