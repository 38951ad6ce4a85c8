"""What a seat is sent stays byte for byte the same when hidden cards are exchanged: requests, resumption and all."""

from __future__ import annotations

from random import Random

import pytest

import services.match.table
from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.convert import answer_to_proto
from bots_sdk.rules.answers import SILENT, Answer, Word
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.options import End
from bots_sdk.rules.view import View
from services.common.matches import FaultRules
from tests.properties.random_deals import GAMES
from tests.properties.test_no_leak import Story, exchange
from tests.unit.match.fakes import Play

MOST_SEEDS = 2000


class Recorder:
    """A wire that keeps what it is sent."""

    def __init__(self, *, list_legal: bool) -> None:
        self.list_legal = list_legal
        self.sent: list[bytes] = []

    def push(self, record: bytes) -> None:
        self.sent.append(record)

    push_now = push

    def push_request(self, record: bytes, seat: object) -> None:
        self.sent.append(record)


class Retelling:
    """A table with given hands, and what one seat of it is sent."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        story: Story,
        hands: tuple[bytes, ...],
        list_legal: bool,
        *,
        faults: FaultRules | None = None,
        wire: type[Recorder] = Recorder,
    ) -> None:
        cards = sum(map(len, hands))
        deck = bytes(hands[at % SEATS][at // SEATS] for at in range(cards))
        monkeypatch.setattr(services.match.table, "decks_of", lambda options, secret, suits: lambda number: deck)
        self.play = Play(options=story.options, faults=faults)
        self.wires = {seat: wire(list_legal=list_legal) for seat in range(SEATS)}
        self.play.wires = {}
        self.play.table.open(dict(self.wires), 0.0)
        for seat in self.play.table.seats:
            self.play.table.ready(seat, 0.0)

    def tell(self, answers: list[tuple[int, Answer]]) -> bool:
        """Gives the answers; False if a seat could not have given one of them."""
        table = self.play.table
        for at, answer in answers:
            seat = table.seats[at]
            view = table._match.deal.view(at)
            legal = {one for one in (answer, *_secretly(answer)) if _is_legal(view, one)}
            if not legal:
                return False
            said = answer if answer in legal else next(iter(legal))
            table.decide(seat, pb.Decision(request=seat.request, answer=answer_to_proto(said)), 0.5)
        return True

    def resume(self, seat: int) -> None:
        """The seat loses its wire and comes back."""
        self.play.table.detach(self.play.table.seats[seat], 0.5)
        self.play.table.attach(self.play.table.seats[seat], self.wires[seat], 0.6)


def _secretly(answer: Answer) -> tuple[Answer, ...]:
    """What may have been said in secret instead: dark for call, silence for a rebel's call that came to nothing."""
    word = {Word.CALL: Word.DARK, Word.DARK: Word.CALL}.get(answer.word)
    if word is not None:
        return (answer._replace(word=word),)
    return (SILENT,) if answer.word is Word.REBEL else ()


def _is_legal(view: View, answer: Answer) -> bool:
    try:
        view.verify(answer)
    except ValueError:
        return False
    return True


def compare(monkeypatch: pytest.MonkeyPatch, name: str, seed: int) -> str:
    """One exchange; its kind, or why there was none."""
    if Random(seed).randrange(SEATS) != 0:
        return "not the first deal of a match"  # the story would begin with another dealer
    rng = Random(seed)
    story = Story(GAMES[name], rng)
    watcher = rng.randrange(SEATS)
    if story.dealer != 0 or story.tribute is not None:
        return "not the first deal of a match"
    exchanged = exchange(story, watcher, rng)
    if exchanged is None:
        return "nothing to exchange"
    hands, kind = exchanged
    list_legal = bool(seed % 2)
    told = Retelling(monkeypatch, story, story.hands, list_legal)
    assert told.tell(story.answers)
    other = Retelling(monkeypatch, story, hands, list_legal)
    if not other.tell(story.answers):
        return "could not have been answered so"
    if story.options.end is End.SIDE_OUT and other.play.host.outcomes:
        return "would have ended"
    for one in (told, other):
        one.resume(watcher)
    assert told.wires[watcher].sent == other.wires[watcher].sent
    # The same number of records reaches every other seat too: not even how busy the wires are tells anything.
    assert [len(told.wires[seat].sent) for seat in range(SEATS)] == [
        len(other.wires[seat].sent) for seat in range(SEATS)
    ]
    return kind


@pytest.mark.parametrize("name", GAMES)
def test_the_wire_tells_nothing_hidden(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert exchanges(monkeypatch, name, {"plain", "guard", "dark"}, 8) == 8


@pytest.mark.parametrize("kind", ["guard", "dark"])
@pytest.mark.parametrize("name", ["qingdao", "classic-marked"])
def test_it_does_not_tell_who_is_guard_nor_that_there_is_none(
    monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    assert exchanges(monkeypatch, name, {kind}, 2) == 2


def exchanges(monkeypatch: pytest.MonkeyPatch, name: str, kinds: set[str], wanted: int) -> int:
    """Compares until so many exchanges of these kinds have been seen; how many there were."""
    seen = 0
    for seed in range(MOST_SEEDS):
        if seen == wanted:
            break
        seen += compare(monkeypatch, name, seed) in kinds
    return seen
