"""How a fault is dealt with tells nobody what role the faulty seat has.

A story is told twice, with hidden cards exchanged so that another seat is the guard, or an emperor alone who was not.
Where one of the two seats comes to answer it does so late, illegally, or over a wire that breaks; all that the other
seats are sent, in what order and how urgently, must be the same both times.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from baohuang.match.v1 import match_service_pb2 as pb
from bots_sdk.convert import answer_to_proto
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.options import End
from services.common.matches import FaultRules
from tests.properties.random_deals import GAMES
from tests.properties.test_no_leak import Story, exchange
from tests.properties.test_no_leak_on_the_wire import Recorder, Retelling

MOST_SEEDS = 3000
WANTED = 6
LATER = 100.0


class Attentive(Recorder):
    """Keeps not only what it is sent, but also how urgently."""

    def push(self, record: bytes) -> None:
        self.sent.append(b"may wait: " + record)

    def push_now(self, record: bytes) -> None:
        self.sent.append(b"at once: " + record)

    def push_request(self, record: bytes, seat: object) -> None:
        self.sent.append(b"asked: " + record)


class FaultyTelling(Retelling):
    """A table with given hands, at which a seat may do something wrong."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, story: Story, hands: tuple[bytes, ...], faults: FaultRules
    ) -> None:
        super().__init__(monkeypatch, story, hands, list_legal=False, faults=faults, wire=Attentive)

    def default_of(self, seat: int) -> Answer:
        """What would be played for the seat now."""
        return self.play.table._match.deal.default(seat)

    def faults_of(self, seat: int) -> tuple[int, int, int]:
        """Timeouts, illegal answers, disconnects."""
        faults = self.play.table.seats[seat].faults
        return faults.timeouts, faults.illegal_answers, faults.disconnects

    def say_nonsense(self, seat: int) -> None:
        """An answer of another phase, to the open request."""
        at = self.play.table.seats[seat]
        nonsense = answer_to_proto(Answer(Word.KICK, amount=9))
        self.play.table.decide(at, pb.Decision(request=at.request, answer=nonsense), 0.5)

    def be_late(self, seat: int) -> None:
        """Says nothing until its time is over."""
        at = self.play.table.seats[seat]
        assert self.play.table.overdue(at, LATER) is None

    def lose_its_wire(self, seat: int) -> None:
        """Is gone for a moment."""
        at = self.play.table.seats[seat]
        self.play.table.detach(at, 0.3)
        self.play.table.attach(at, self.wires[seat], 0.4)


Misconduct = Callable[[FaultyTelling, int], bool]
"""Does it; True if the seat has been answered for, False if it is still to answer."""


def mended(told: FaultyTelling, seat: int) -> bool:
    told.say_nonsense(seat)
    return False


def away(told: FaultyTelling, seat: int) -> bool:
    told.lose_its_wire(seat)
    return False


def illegal(told: FaultyTelling, seat: int) -> bool:
    told.say_nonsense(seat)
    told.say_nonsense(seat)
    return True


def late(told: FaultyTelling, seat: int) -> bool:
    told.be_late(seat)
    return True


CASES: dict[str, tuple[Misconduct, FaultRules]] = {
    "an illegal answer, mended": (mended, FaultRules(illegal_limit=2)),
    "illegal answers until the default is played": (illegal, FaultRules(illegal_limit=2)),
    "no answer": (late, FaultRules(takeover_after=0)),
    "no answer, and a house bot takes over": (late, FaultRules(takeover_after=1)),
    "a broken wire": (away, FaultRules()),
}


def compare(monkeypatch: pytest.MonkeyPatch, name: str, seed: int, case: str) -> str:
    """One story told twice; what was exchanged, or why there was nothing to compare."""
    misconduct, rules = CASES[case]
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
    suspects = [seat for seat in range(SEATS) if sorted(hands[seat]) != sorted(story.hands[seat])]
    turns = [at for at, (seat, _) in enumerate(story.answers) if seat in suspects]
    if kind == "plain" or not turns:
        return "no role was exchanged, or nobody with one is asked"
    turn = rng.choice(turns[len(turns) // 2 :])
    faulty, answer = story.answers[turn]

    told = FaultyTelling(monkeypatch, story, story.hands, rules)
    assert told.tell(story.answers[:turn])
    other = FaultyTelling(monkeypatch, story, hands, rules)
    if story.options.end is End.SIDE_OUT or not other.tell(story.answers[:turn]):
        return "could not have come to this"
    default = told.default_of(faulty)
    if default != other.default_of(faulty):
        return "the rules play another card for it"  # which is play, and not how a fault is dealt with
    was_answered_for = misconduct(told, faulty)
    assert misconduct(other, faulty) == was_answered_for
    rest = story.answers[turn + was_answered_for :]
    if was_answered_for and (default != answer or rules.takeover_after):
        rest = []  # from here on it is another story
    if not (told.tell(rest) and other.tell(rest)):
        return "could not have been answered so"
    for one in (told, other):
        assert one.faults_of(faulty) == told.faults_of(faulty) != (0, 0, 0)
    assert told.wires[watcher].sent == other.wires[watcher].sent
    # The same number of records reaches every other seat too, the faulty one included.
    assert [len(told.wires[seat].sent) for seat in range(SEATS)] == [
        len(other.wires[seat].sent) for seat in range(SEATS)
    ]
    return kind


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["qingdao", "classic-marked"])
def test_it_tells_nothing_of_the_role_of_the_faulty_seat(monkeypatch: pytest.MonkeyPatch, name: str, case: str) -> None:
    kinds: list[str] = []
    for seed in range(MOST_SEEDS):
        if len(kinds) == WANTED:
            break
        kind = compare(monkeypatch, name, seed, case)
        if kind in ("guard", "dark"):
            kinds.append(kind)
    assert len(kinds) == WANTED
