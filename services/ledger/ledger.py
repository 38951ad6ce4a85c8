"""The ledger: what must survive, and the only place where it is kept.

Every method is synchronous, thread-safe and one transaction; coroutines call it through `asyncio.to_thread`. What a
method reports as written is on the disk; what raises has changed nothing and may be tried again.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from services.common.clock import Clock, SystemClock
from services.common.errors import PlatformError, Reason
from services.common.ledger_urls import format_place, is_database_url
from services.common.matches import MatchOutcome
from services.common.metrics import LedgerMetrics
from services.common.qualifiers import Qualifier
from services.common.scopes import Scope
from services.common.settings import LEDGER_FILE
from services.ledger import access_tokens, bots, entries, reading, recording, rulings, tournaments, upgrade
from services.ledger.database import WRITES, Access, Database
from services.ledger.ranges import Ranges
from services.ledger.sqlite import SqliteDatabase
from services.ledger.values import (
    AccessToken,
    Attempt,
    Bot,
    Entry,
    Exclusion,
    Page,
    PastAttempt,
    Recorded,
    Result,
    Rulings,
    Side,
    Totals,
    Tournament,
    TournamentState,
)

__all__ = ["LEDGER_FILE", "WAIT", "Access", "Ledger", "make_database"]

WAIT = timedelta(seconds=5)
"""How long a write waits for another process before it fails."""

_PAGE = 500  # results read at once: a reader holds no transaction longer than that


_FAILURES = frozenset({Reason.LEDGER_LOCKED, Reason.LEDGER_UNWRITABLE, Reason.LEDGER_UNREACHABLE})
"""What counts as a failure of the ledger; what else is raised is an answer."""


@dataclass(slots=True)
class _Write:
    """A transaction that writes, and how many rows for the metrics."""

    connection: Connection
    rows: int = 1


class Ledger:
    """An open ledger; `open` makes one."""

    def __init__(self, database: Database, clock: Clock, metrics: LedgerMetrics) -> None:
        self._database = database
        self._clock = clock
        self._metrics = metrics
        self._writing = threading.Lock()

    @classmethod
    def open(
        cls,
        place: str | Path,
        *,
        access: Access = Access.PLATFORM,
        clock: Clock | None = None,
        metrics: LedgerMetrics | None = None,
        wait: timedelta = WAIT,
    ) -> Ledger:
        """Opens the ledger in a file or a PostgreSQL database; the platform makes its tables, and upgrades older ones.

        Raises PlatformError: LEDGER_LOCKED if another platform has it, LEDGER_VERSION if it is newer or no ledger at
        all, LEDGER_UNWRITABLE if the place is missing or cannot be written, LEDGER_UNREACHABLE if its server is away.
        """
        clock = clock or SystemClock()
        database = make_database(place, access, wait)
        try:
            database.prepare(access, clock)
            if access is Access.PLATFORM:
                upgrade.upgrade(database)
            else:
                upgrade.verify_current(database)
        except BaseException as error:
            database.close()
            plain = None if isinstance(error, PlatformError) else database.error_from(error, shown=database.place)
            if plain is not None:
                raise plain from error
            raise
        return cls(database, clock, metrics or LedgerMetrics())

    @property
    def place(self) -> str:
        """Where it is, as its operator knows it; never with a password."""
        return self._database.place

    def verify_held(self) -> None:
        """Raises PlatformError LEDGER_LOCKED if another platform has got this ledger: call it now and then."""
        self._database.verify_held()

    def close(self) -> None:
        """Gives everything back; a ledger may be closed twice."""
        self._database.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------------------- results

    def record(self, outcomes: Sequence[MatchOutcome]) -> Recorded:
        """Writes outcomes, all or none, and none twice: the first that counts is the result of its match for ever.

        Raises PlatformError TOURNAMENT_UNKNOWN if one is of a tournament that is not there.
        """
        with self._write() as write:
            recorded = recording.record(write.connection, outcomes)
            write.rows = recorded.attempts
        return recorded

    def done_numbers(self, tournament: str, span: range | None = None) -> Ranges:
        """The numbers of the matches that have a result; with a span those in it."""
        with self._read() as connection:
            return Ranges(reading.done_numbers(connection, tournaments.id_of(connection, tournament), span))

    def done_counts(self, tournament: str, span: range, size: int) -> dict[int, int]:
        """How many matches of a span have a result, for every `size` numbers: by number // size, where there are any.

        So who remembers which there were finds new ones, wherever they are, and reads next to nothing.
        """
        with self._read() as connection:
            return reading.done_counts(connection, tournaments.id_of(connection, tournament), span, size)

    def done_among(self, tournament: str, numbers: Collection[int]) -> set[int]:
        """Those of some numbers, up to a few hundred, whose matches have a result."""
        with self._read() as connection:
            return reading.done_among(connection, tournaments.id_of(connection, tournament), numbers)

    def results(self, tournament: str, *, after: int = -1) -> Iterator[Result]:
        """The results in the order of their numbers, beyond the number `after`, read in parts as they are asked for.

        What is recorded meanwhile appears if its number is still to come. No transaction is open between two parts, so
        a slow reader hinders nobody.
        """
        while part := self.results_page(tournament, after=after, limit=_PAGE):
            yield from part
            after = part[-1].number

    def results_page(self, tournament: str, *, after: int = -1, limit: int = 100) -> list[Result]:
        """At most `limit` results in the order of their numbers, from the one after `after` on."""
        with self._read() as connection:
            return reading.results_after(connection, tournaments.id_of(connection, tournament), after, limit)

    def results_of(self, tournament: str, numbers: Collection[int]) -> list[Result]:
        """The results of some matches, up to a few hundred, in the order of their numbers; of those that have one."""
        with self._read() as connection:
            return reading.results_of(connection, tournaments.id_of(connection, tournament), numbers)

    def match_record(self, tournament: str, number: int) -> bytes | None:
        """The compressed `MatchRecord` of a match that has a result; None if it has none.

        The secret of its deals is in it: whoever serves records must hold this one back until every match of the
        tournament with the same deals has a result.
        """
        with self._read() as connection:
            return reading.record_of(connection, tournaments.id_of(connection, tournament), number)

    def attempts(self, tournament: str, number: int) -> list[Attempt]:
        """Every recorded attempt at one match, in the order of starting."""
        with self._read() as connection:
            return reading.attempts_at(connection, tournaments.id_of(connection, tournament), number)

    def past_attempts(self, tournament: str, most: int) -> list[PastAttempt]:
        """How the last attempts ended, up to so many, in the order of ending."""
        with self._read() as connection:
            return reading.past_attempts(connection, tournaments.id_of(connection, tournament), most)

    def totals(self, tournament: str) -> Totals:
        """How far the tournament is; costs the same however long it is."""
        with self._read() as connection:
            return reading.totals_of(connection, tournaments.id_of(connection, tournament))

    def recount(self, tournament: str) -> Totals:
        """The same as `totals`, counted anew from all rows: to check them."""
        with self._read() as connection:
            return reading.recount(connection, tournaments.id_of(connection, tournament))

    # --------------------------------------------------------------------------------------------------- tournaments

    def create_tournament(
        self,
        name: str,
        spec_yaml: str,
        secret: bytes,
        *,
        state: TournamentState = TournamentState.RUNNING,
        message: str = "",
        entrants: Collection[str] = (),
    ) -> Tournament:
        """Stores a tournament with those who are entered from the start. Raises PlatformError TOURNAMENT_EXISTS."""
        now = self._clock.now()
        tournament = Tournament(name, spec_yaml, secret, state, message, created_at=now, updated_at=now)
        with self._write() as write:
            tournaments.create(write.connection, tournament)
            entries.fill(write.connection, name, entrants, now)
        return tournament

    def tournament(self, name: str) -> Tournament:
        """One tournament. Raises PlatformError TOURNAMENT_UNKNOWN."""
        with self._read() as connection:
            return tournaments.named(connection, name)

    def tournaments(
        self, *, after: str = "", limit: int = 100, hidden: Collection[TournamentState] = ()
    ) -> Page[Tournament]:
        """Tournaments less those in `hidden` states, the newest first; `after` is that of the page before."""
        with self._read() as connection:
            return tournaments.page(connection, after, limit, hidden)

    def tournaments_in(self, states: Collection[TournamentState]) -> list[Tournament]:
        """All tournaments in one of the states, the oldest first: what a platform that starts has to go on with."""
        with self._read() as connection:
            return tournaments.in_states(connection, states)

    def transition(
        self, name: str, allowed: Collection[TournamentState], state: TournamentState, message: str = ""
    ) -> Tournament:
        """Brings a tournament from one of the `allowed` states to another; of two that try at once, one succeeds.

        Raises PlatformError STATE_CONFLICT, naming the state it is in and those allowed, or TOURNAMENT_UNKNOWN.
        """
        with self._write() as write:
            return tournaments.transition(
                write.connection, name, allowed, state, message=message, now=self._clock.now()
            )

    # ------------------------------------------------------------------------------------------------------- entries

    def entries(self, tournament: str) -> tuple[Entry, ...]:
        """Who has entered, by name, and who was withdrawn again."""
        with self._read() as connection:
            return entries.read(connection, tournament)

    def enter(self, tournament: str, name: str, by: Side, most: int) -> None:
        """A bot will play in a tournament that is open; said twice it is done once.

        Raises PlatformError STATE_CONFLICT if it is not open, has `most` entrants already, or an operator has withdrawn
        the bot that enters itself.
        """
        with self._write() as write:
            entries.enter(write.connection, tournament, name, by, self._clock.now(), most)

    def withdraw(self, tournament: str, name: str, by: Side) -> None:
        """A bot will not play after all. Raises PlatformError STATE_CONFLICT, or BOT_UNKNOWN if it never entered."""
        with self._write() as write:
            entries.withdraw(write.connection, tournament, name, by, self._clock.now())

    def replace_draft(self, tournament: str, spec_yaml: str, secret: bytes, entrants: Collection[str]) -> None:
        """Puts another specification in the place of a draft's. Raises PlatformError STATE_CONFLICT."""
        with self._write() as write:
            entries.replace_draft(write.connection, tournament, spec_yaml, secret, entrants, self._clock.now())

    def start_tournament(self, tournament: str, seen: Tournament, entered: Collection[str], spec_yaml: str) -> None:
        """Settles who plays, by a specification that names them, and sets the tournament running; all or nothing.

        Raises PlatformError STATE_CONFLICT if it has begun, or is not any more what was `seen`, with those `entered`.
        """
        with self._write() as write:
            entries.start(write.connection, tournament, seen, entered, spec_yaml, self._clock.now())

    def qualify(
        self, tournament: str, qualified: Sequence[Qualifier], exclusions: Sequence[Exclusion]
    ) -> tuple[Qualifier, ...]:
        """Settles for good who plays the final of a tournament; the answer is who does, by whoever said it first.

        It is empty, and nothing is written, if the exclusions are not any more those that were seen: look again.
        """
        with self._write() as write:
            tournaments.id_of(write.connection, tournament, hold=True)
            seen = rulings.read(write.connection, tournament).exclusions == tuple(exclusions)
            if seen and tournaments.qualify(write.connection, tournament, qualified):
                rulings.keep_at_final(write.connection, tournament)
            return tournaments.named(write.connection, tournament).qualified

    # ------------------------------------------------------------------------------------------------------- rulings

    def rulings(self, tournament: str) -> Rulings:
        """What operators decided in the course of a tournament."""
        with self._read() as connection:
            return rulings.read(connection, tournament)

    def exclude(
        self, tournament: str, name: str, *, annulled: bool, reason: str, unless_excluded: bool = False
    ) -> None:
        """An entrant plays no more. Said twice, the last word counts; with `unless_excluded` the first."""
        exclusion = Exclusion(name, annulled, reason, self._clock.now())
        with self._write() as write:
            rulings.exclude(write.connection, tournament, exclusion, unless_excluded=unless_excluded)

    def set_in_flight(self, tournament: str, in_flight: int | None) -> None:
        """So many matches at once from now on; None: as the specification says."""
        with self._write() as write:
            rulings.set_in_flight(write.connection, tournament, in_flight)

    def retract(self, tournament: str, number: int, sharing: Collection[int], reason: str) -> bool:
        """Takes the result of a match back, which is then to be played again; whether it had one.

        Raises PlatformError STATE_CONFLICT once all matches `sharing` its deals have results: the deals are known then.
        """
        row: dict[str, object] = {"reason": reason, "retracted_at": self._clock.now()}
        with self._write() as write:
            return rulings.retract(write.connection, tournament, number, sharing, row)

    def retracted_count(self, tournament: str) -> int:
        """How many results have been taken back: whoever remembers results has to read them again when that grows."""
        with self._read() as connection:
            return rulings.retracted_count(connection, tournaments.id_of(connection, tournament))

    # ---------------------------------------------------------------------------------------------------------- bots

    def create_bot(self, bot_id: str, name: str, *, owner: str, version: str, token_hash: bytes) -> Bot:
        """Stores a bot. Raises PlatformError NAME_TAKEN."""
        now = self._clock.now()
        bot = Bot(bot_id, name, owner, version, created_at=now, token_since=now)
        with self._write() as write:
            bots.create(write.connection, bot, token_hash)
        return bot

    def rotate_token(self, bot_id: str, token_hash: bytes, *, shown: bytes | None = None) -> Bot | None:
        """Gives a bot another token; the old one is no more. Raises PlatformError BOT_UNKNOWN.

        With the hash of the token that was `shown`: only if the bot still has that one, otherwise None. So whoever
        holds a token that is being taken away gets no new one for it.
        """
        with self._write() as write:
            return bots.set_token(write.connection, bot_id, token_hash, self._clock.now(), shown)

    def revoke_token(self, bot_id: str, *, shown: bytes | None = None) -> Bot | None:
        """Takes a bot's token away; `shown` as in `rotate_token`. Raises PlatformError BOT_UNKNOWN."""
        with self._write() as write:
            return bots.set_token(write.connection, bot_id, None, self._clock.now(), shown)

    def bots_with_ended_tokens(self, since: datetime) -> list[Bot]:
        """The bots whose tokens were replaced or revoked after `since`, once or more."""
        with self._read() as connection:
            return bots.changed_since(connection, since)

    def bot_with_token(self, token_hash: bytes) -> Bot | None:
        """Whose token has this hash, if anybody's."""
        with self._read() as connection:
            return bots.with_token(connection, token_hash)

    def bot(self, bot_id: str) -> Bot | None:
        """The bot with an id, if there is one."""
        with self._read() as connection:
            return bots.with_id(connection, bot_id)

    def bots_named(self, names: Collection[str]) -> dict[str, Bot]:
        """Those of the names that are bots."""
        with self._read() as connection:
            return {bot.name: bot for bot in bots.with_names(connection, names)}

    def bots(self, *, after: str = "", limit: int = 100) -> Page[Bot]:
        """Bots in the order of their names; `after` is that of the page before."""
        with self._read() as connection:
            return bots.page(connection, after, limit)

    # ------------------------------------------------------------------------------------------------- access tokens

    def create_access_token(self, name: str, scopes: frozenset[Scope], token_hash: bytes) -> AccessToken:
        """Stores an access token. Raises PlatformError NAME_TAKEN, also for a name of a revoked one."""
        token = AccessToken(name, scopes, self._clock.now())
        with self._write() as write:
            access_tokens.create(write.connection, token, token_hash)
        return token

    def rotate_access_token(self, name: str, token_hash: bytes) -> AccessToken:
        """Puts another in its place, also of a revoked one. Raises PlatformError ACCESS_TOKEN_UNKNOWN."""
        with self._write() as write:
            return access_tokens.rotate(write.connection, name, token_hash, self._clock.now())

    def revoke_access_token(self, name: str) -> AccessToken:
        """Ends an access token; its name stays. Raises PlatformError ACCESS_TOKEN_UNKNOWN."""
        with self._write() as write:
            return access_tokens.revoke(write.connection, name, self._clock.now())

    def access_token_with(self, token_hash: bytes) -> AccessToken | None:
        """The access token with this hash, if there is one."""
        with self._read() as connection:
            return access_tokens.with_hash(connection, token_hash)

    def access_token(self, name: str) -> AccessToken | None:
        """The access token of a name, if there is or was one."""
        with self._read() as connection:
            return access_tokens.named(connection, name)

    def access_tokens(self, *, after: str = "", limit: int = 100) -> Page[AccessToken]:
        """Access tokens in the order of their names; `after` is that of the page before."""
        with self._read() as connection:
            return access_tokens.page(connection, after, limit)

    # -------------------------------------------------------------------------------------------------- transactions

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that sees the ledger at one moment, for what goes through it row by row in this package."""
        return self._read()

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        """A transaction that sees the ledger at one moment."""
        with self._plain_errors(), self._database.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def _write(self) -> Iterator[_Write]:
        """A transaction that may write; the only one at a time."""
        start = self._clock.monotonic()
        try:
            with self._plain_errors(), self._writing, self._database.engine.connect() as plain:
                write = _Write(plain.execution_options(**{WRITES: True}))
                with write.connection.begin():
                    yield write
        except PlatformError as error:
            if error.reason in _FAILURES:
                self._metrics.failures += 1
            raise
        self._metrics.wrote(write.rows, self._clock.monotonic() - start)

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """Errors of the database as what they mean; its name alone, since a message may reach a client."""
        try:
            yield
        except DBAPIError as error:
            plain = self._database.error_from(error, shown=self._database.name)
            if plain is None:
                raise
            raise plain from error


def make_database(place: str | Path, access: Access, wait: timedelta) -> Database:
    """The database of a path or a URL, which nobody has looked into yet. Raises PlatformError LEDGER_UNWRITABLE."""
    if isinstance(place, str) and is_database_url(place):
        try:
            from services.ledger.postgres import PostgresDatabase
        except ImportError as error:
            if (error.name or "psycopg").partition(".")[0] != "psycopg":
                raise
            shown = format_place(place)
            message = (
                f"The ledger {shown} needs the driver of PostgreSQL: pip install 'baohuang-arena[server,postgres]'."
            )
            raise PlatformError(Reason.LEDGER_UNWRITABLE, message, ledger=shown, detail="psycopg") from None
        return PostgresDatabase(place, access, wait)
    return SqliteDatabase(Path(place), access, wait)
