"""When records and results may be seen: nobody may know anything of deals that are still to be played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from services.common.errors import PlatformError, Reason
from services.ledger.ledger import Ledger
from services.ledger.values import Result, Tournament, TournamentState
from services.tournament.schedule import Timetable

_ROUNDS = 1024
"""Rounds that are remembered while results are gone through; pools take turns, so one of each is under way."""
_NOT_OVER = tuple(state for state in TournamentState if not state.is_final)


def read_record(ledger: Ledger, tournament: Tournament, schedule: Timetable, number: int) -> bytes:
    """The compressed record of a match.

    Every match with the same deals must have a result, or the tournament must be over, so that there will be none; and
    no other tournament that is not over may play the deals of the same seed.

    Raises:
        PlatformError: MALFORMED without such a match; STATE_CONFLICT if the record must be kept back, or is not there.
    """
    name = tournament.name
    if not 0 <= number < len(schedule):
        last = len(schedule) - 1
        raise PlatformError(
            Reason.MALFORMED, f"number: {name!r} has no match {number}; it has 0 to {last}.", field="number"
        )
    group, _ = schedule.place(number)
    numbers = schedule.numbers(group)
    done = ledger.done_among(name, numbers)
    if number not in done:
        yet = "" if tournament.state.is_final else " yet"
        raise _conflict(name, number, f"Match {number} of {name!r} has no result{yet}.")
    left = 0 if tournament.state.is_final else len(numbers) - len(done)
    if left:
        others = "another match" if left == 1 else f"{left} other matches"
        raise _kept_back(name, number, f"its deals are still to be played in {others}")
    if (other := _same_seed(ledger, tournament)) is not None:
        raise _kept_back(name, number, f"{other} has the same seed, so the same deals, and is not over")
    record = ledger.match_record(name, number)
    if record is None:
        raise _conflict(name, number, f"Match {number} of {name!r} was played by a version that kept no records.")
    return record


def holds_back_rounds(tournament: Tournament, schedule: Timetable) -> bool:
    """Whether results are kept back while other tables of their round still play the same deals.

    What a seat made of its hand at one table says something about that hand to whoever holds it at another.
    """
    return schedule.field > 1 and not tournament.state.is_final


def without_open_rounds(
    ledger: Ledger, tournament: Tournament, schedule: Timetable, results: Iterable[Result]
) -> Iterator[Result]:
    """Results, in the order of the schedule, less those that are kept back (`holds_back_rounds`)."""
    if not holds_back_rounds(tournament, schedule):
        yield from results
        return

    @lru_cache(_ROUNDS)
    def is_over(group: int) -> bool:
        numbers = schedule.numbers(group)
        return len(ledger.done_among(tournament.name, numbers)) == len(numbers)

    for result in results:
        if is_over(schedule.place(result.number)[0]):
            yield result


def _same_seed(ledger: Ledger, tournament: Tournament) -> str | None:
    """Another tournament that plays the same deals and is not over; the names of drafts are for operators alone."""
    for other in ledger.tournaments_in(_NOT_OVER):
        if other.secret == tournament.secret and other.name != tournament.name:
            return "another tournament" if other.state is TournamentState.DRAFT else repr(other.name)
    return None


def _kept_back(name: str, number: int, reason: str) -> PlatformError:
    return _conflict(name, number, f"The record of match {number} of {name!r} is kept back: {reason}.")


def _conflict(name: str, number: int, message: str) -> PlatformError:
    return PlatformError(Reason.STATE_CONFLICT, message, tournament=name, number=str(number))
