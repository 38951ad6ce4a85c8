"""Whatever bots and directors do, in whatever order: no bot has more tables than it takes, each attempt ends once."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from services.common.errors import Reason
from services.common.tickets import TokenEnd
from tests.unit.match.hall import Hall, Visitor, order_for

BOTS = ("ann", "ben", "cid", "dee")
TOURNAMENTS = ("t1", "t2")
bots = st.sampled_from(BOTS)
tournaments = st.sampled_from(TOURNAMENTS)


class FloorMachine(RuleBasedStateMachine):
    """Directors submit and withdraw, bots come, come again with another capacity, play, go; time passes."""

    @initialize()
    def begin(self) -> None:
        self.hall = Hall()
        self.visitors: dict[str, Visitor] = {}
        self.submitted: dict[str, str] = {}
        self.withdrawn: set[str] = set()
        self.seen: dict[str, set[int]] = {bot: set() for bot in BOTS}

    # ---- directors

    @rule(tournament=tournaments, entrants=st.lists(st.sets(bots, min_size=1, max_size=3), min_size=1, max_size=4))
    def submit(self, tournament: str, entrants: list[set[str]]) -> None:
        """Several matches are handed out at the same instant."""
        orders = [
            order_for(*sorted(some), attempt=f"{tournament}/{len(self.submitted) + number}", tournament=tournament)
            for number, some in enumerate(entrants)
        ]
        self.submitted.update((order.attempt, tournament) for order in orders)
        self.hall.floor.submit(orders, self.hall.now)
        # A director that is not sure sends again what has not come back.
        self.hall.floor.submit([one for one in orders if one.attempt not in self._ended()], self.hall.now)
        self.hall.settle()

    @rule(tournament=tournaments)
    def withdraw(self, tournament: str) -> None:
        self.withdrawn |= {attempt for attempt, of in self.submitted.items() if of == tournament}
        self.hall.floor.withdraw(tournament)
        self.hall.settle()

    # ---- bots

    @rule(bot=bots, tables=st.integers(1, 3))
    def come(self, bot: str, tables: int) -> None:
        """The bot opens a stream, whether it has one or not."""
        older = self.visitors.get(bot)
        self.visitors[bot] = self.hall.come(bot, tables)
        if older is not None and older.session.farewell is None:
            raise AssertionError("the older stream goes on")
        if older is not None:
            older.leave()
            assert self.hall.floor.sessions[bot] is self.visitors[bot].session

    @rule(bot=bots)
    def leave(self, bot: str) -> None:
        if visitor := self.visitors.pop(bot, None):
            visitor.leave()

    @rule(bot=bots)
    def end_token(self, bot: str) -> None:
        """The stream is closed by the service, and lasts a little longer."""
        end = TokenEnd(bot, datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC))
        self.hall.floor.dismiss(end)
        if visitor := self.visitors.get(bot):
            assert visitor.session.farewell is not None
            assert visitor.session.farewell.reason is Reason.TOKEN_UNKNOWN

    @rule(bot=bots, answers=st.integers(0, 5))
    def play(self, bot: str, answers: int) -> None:
        if visitor := self.visitors.get(bot):
            visitor.read()
            visitor.ready()
            for _ in range(answers):
                visitor.read()
                visitor.answer()

    @rule()
    def play_on(self) -> None:
        """Everybody plays for a while."""
        for _ in range(40):
            for visitor in self.visitors.values():
                visitor.read()
                visitor.ready()
                visitor.answer(10)

    @rule(seconds=st.sampled_from([0.2, 2.0, 8.0]))
    def pass_time(self, seconds: float) -> None:
        self.hall.advance(seconds)

    # ---- what holds after each of these

    def _ended(self) -> Counter[str]:
        return Counter(one.attempt for name in TOURNAMENTS for one in self.hall.outcomes(name))

    @invariant()
    def no_bot_has_more_tables_than_it_takes(self) -> None:
        for bot, seen in self.seen.items():
            tables = set(self.hall.floor.seats_of(bot))
            if tables - seen:
                # Something was seated: by the capacity of the stream that is here now, and was not on its way out.
                session = self.hall.floor.sessions[bot]
                assert len(tables) <= session.terms.tables
                assert session.farewell is None
            self.seen[bot] = tables

    @invariant()
    def each_attempt_is_in_one_place(self) -> None:
        floor = self.hall.floor
        playing = Counter(table.order.attempt for table in floor._tables.values())
        waiting = Counter(attempt for attempt in self.submitted if attempt in floor._waiting)
        places = playing + waiting + self._ended()
        assert set(places.values()) <= {1}
        assert not any(
            "fault of the platform" in one.message for name in TOURNAMENTS for one in self.hall.outcomes(name)
        )
        assert set(places) | self.withdrawn == set(self.submitted) | self.withdrawn

    @invariant()
    def seats_wires_and_counts_agree(self) -> None:
        floor = self.hall.floor
        for bot in BOTS:
            for number, seat in floor.seats_of(bot).items():
                assert any(one is seat for one in floor._tables[number].seats)
                assert seat.entrant.bot_id == bot
                assert seat.wire is floor.sessions.get(bot)
        sitting = sum(not seat.entrant.is_house for table in floor._tables.values() for seat in table.seats)
        assert sitting == sum(len(floor.seats_of(bot)) for bot in BOTS)
        assert self.hall.metrics.tables_live == len(floor._tables)
        assert self.hall.metrics.sessions_live == len(floor.sessions)

    def teardown(self) -> None:
        """Everything ends, whoever is still there: by play, by clocks, or because bots do not come."""
        if not hasattr(self, "hall"):
            return
        if len(self.submitted) % 2:
            self.hall.floor.drain(1.0)
        for bot in list(self.visitors):
            self.leave(bot)
        for _ in range(30):
            self.hall.advance(10.0)
        self.each_attempt_is_in_one_place()
        assert self.hall.floor.is_idle
        assert set(self._ended()) | self.withdrawn == set(self.submitted) | self.withdrawn
        assert not any(self.hall.floor.seats_of(bot) for bot in BOTS)


TestFloor = FloorMachine.TestCase
TestFloor.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
