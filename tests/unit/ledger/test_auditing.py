"""A ledger that fits is said to fit, and of each thing that does not it is said where and what."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import pytest

from bots_sdk.replay import compress_record, record_from_bytes, record_to_bytes
from bots_sdk.rules.events import SoloKind
from services.common.matches import DealScore, Ending, MatchOutcome, SeatFaults
from services.ledger.auditing import Finding, Seen, audit
from services.ledger.expected import Expected
from services.ledger.ledger import Ledger
from services.ledger.record_checks import Dealt
from services.ledger.values import TournamentState
from tests.databases.postgres import Cluster
from tests.unit.ledger.outcomes import make_outcome
from tests.unit.match.test_spoiled_deals import recomputed
from tests.unit.replay.matches import GAMES, recorded

EXPECTED = Expected(matches=20, deals=2)
SAID = "Ended early: ada is ahead"
Tamper = Callable[[str], None]


def outcome_of(data: bytes, attempt: str) -> MatchOutcome:
    """What a match service hands in with this record."""
    record = record_from_bytes(data)
    scores = []
    for number in range(record.length):
        dealt = [deal.result for deal in record.deals if deal.number == number]
        result = dealt[-1]
        scores.append(
            DealScore(
                number=number,
                points=tuple(result.points),
                places=tuple(result.places),
                emperor=result.emperor if result.HasField("emperor") else None,
                guard=result.guard if result.HasField("guard") else None,
                solo=SoloKind(result.solo) if result.solo else None,
                voided=len(dealt) - (not result.voided),
                beans=tuple(result.beans.beans) if result.HasField("beans") else None,
            )
        )
    faults = [
        SeatFaults(one.timeouts, one.illegal_answers, one.disconnects, one.taken_over) for one in record.outcome.faults
    ]
    outcome = replace(
        make_outcome(record.number, attempt=attempt, faults=dict(enumerate(faults)), record=compress_record(data)),
        ending=Ending.COMPLETED_WITH_FAULTS if record.outcome.blamed else Ending.COMPLETED,
        blamed=tuple(record.outcome.blamed),
        decisions=sum(len(deal.decisions) for deal in record.deals),
    )
    told = zip(scores, recomputed(outcome), strict=True)
    return replace(outcome, deals=tuple(replace(deal, spoiled=who, faults=what) for deal, (who, what) in told))


def found(ledger: Ledger, expected: Expected | None = EXPECTED, *, replay: bool = False) -> list[Finding]:
    def expectation(_: object) -> Expected:
        if expected is None:
            raise ValueError("no such profile")
        return expected

    return list(audit(ledger, expectation, Seen(), replay=replay))


@pytest.fixture
def sound(ledger: Ledger) -> Ledger:
    """One match with its record, and an attempt that did not count."""
    ledger.record([make_outcome(12, attempt="void", ending=Ending.VOID, message="a match service was lost")])
    ledger.record([outcome_of(recorded(), "m-0")])
    return ledger


@pytest.fixture
def tamper(backend: str, place: str, request: pytest.FixtureRequest) -> Tamper:
    """Changes rows past the ledger, and past what the database itself would not let happen."""

    def change(statement: str) -> None:
        if backend == "sqlite":
            with closing(sqlite3.connect(place)) as file, file:
                file.execute(statement)
        else:
            cluster: Cluster = request.getfixturevalue("cluster")
            cluster.execute(f"SET session_replication_role = replica; {statement}", "ledger")

    return change


def test_what_fits_is_not_found(sound: Ledger) -> None:
    seen = Seen()
    assert list(audit(sound, lambda _: EXPECTED, seen, replay=True)) == []
    assert seen == Seen(tournaments=1, results=1, deals=2, records=1)


def test_a_result_that_was_taken_back_is_missed_by_nobody(sound: Ledger, tamper: Tamper) -> None:
    assert sound.retract("cup", 12, [12, 13], "the wrong build")
    assert found(sound) == [], "it waits to be played again"

    sound.transition("cup", [sound.tournament("cup").state], TournamentState.CANCELLED)
    assert found(sound) == [], "and never will be"

    tamper("DELETE FROM retractions")
    assert [one.what for one in found(sound)] == ["the attempt m-0 counts, and the match has no result"]


@pytest.mark.parametrize("backend", ["sqlite"])
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("faults", [False, True])
def test_every_game_fits_with_the_record_that_it_leaves(ledger: Ledger, game: str, faults: bool) -> None:
    ledger.record([outcome_of(recorded(game, 3, faults=faults), "m-3")])
    assert found(ledger) == []


def test_what_was_written_before_there_were_records_is_counted_and_no_fault(ledger: Ledger) -> None:
    outcome = outcome_of(recorded(), "m-0")
    ledger.record([replace(outcome, record=b"")])
    seen = Seen()
    assert list(audit(ledger, lambda _: EXPECTED, seen)) == []
    assert seen.without_record == 1


DEAL = "UPDATE deals SET {} WHERE deal = 1"


@pytest.mark.parametrize(
    ("statement", "where", "what"),
    [
        (DEAL.format("points_0 = points_0 + 1"), "match 12, deal 1", "add up to 1, not to 0"),
        (DEAL.format("points_0 = points_0 + 1, points_1 = points_1 - 1"), "match 12, record", "deal 1: points"),
        (DEAL.format("places = '01233'"), "match 12, deal 1", "not each seat once"),
        (DEAL.format("guard = emperor, solo = NULL"), "match 12, deal 1", "is emperor and guard"),
        (DEAL.format("guard = 2, solo = 'grab'"), "match 12, deal 1", "not both or neither"),
        (DEAL.format("beans_3 = NULL"), "match 12, deal 1", "some seats have beans and some have none"),
        (DEAL.format("beans_3 = beans_3 + 1"), "match 12, record", "deal 1: beans"),
        (DEAL.format("spoiled = ''"), "match 12, record", "in the record, none in the rows"),
        (DEAL.format("faults_4 = faults_4 - 1"), "match 12, record", "deal 1: faults"),
        (DEAL.format("faults_4 = NULL"), "match 12, record", "deal 1: faults"),
        ("UPDATE attempts SET blamed = '' WHERE attempt = 'm-0'", "match 12, record", "to blame"),
        ("UPDATE attempts SET decisions = 1 WHERE attempt = 'm-0'", "match 12, record", "decisions"),
        ("DELETE FROM deals WHERE deal = 0", "match 12", "it has the deals 1 and should have 2, from 0 on"),
        ("DELETE FROM attempts WHERE attempt = 'm-0'", "match 12", "its attempt m-0 is not there"),
        (
            "UPDATE attempts SET ending = 'void' WHERE attempt = 'm-0'",
            "match 12",
            "ended as void, which does not count",
        ),
        ("UPDATE attempts SET number = 3 WHERE attempt = 'm-0'", "match 12", "is one at another match"),
        ("UPDATE attempts SET ending = 'strange' WHERE attempt = 'm-0'", "rows", "a row cannot be read"),
        ("DELETE FROM results", "match 12", "the attempt m-0 counts, and the match has no result"),
        ("DELETE FROM results", "deals: tournament_id 1, number 12", "there is no such row in results"),
        ("DELETE FROM results", "records: tournament_id 1, number 12", "there is no such row in results"),
        ("DELETE FROM attempts WHERE attempt = 'm-0'", "faults: attempt m-0, seat", "there is no such row in attempts"),
        ("UPDATE faults SET timeouts = timeouts + 1 WHERE seat = 4", "match 12, record", "faults of seat 4"),
        ("DELETE FROM faults WHERE seat = 4", "match 12, record", "faults of seat 4"),
        ("UPDATE totals SET deals = 7", "totals", "deals is 7, and the rows come to 2"),
        ("UPDATE totals SET attempts = 1", "totals", "attempts is 1, and the rows come to 2"),
        ("DELETE FROM totals", "totals", "there are none"),
        ("UPDATE results SET attempt = 'void'", "match 12", "its attempt void ended as void"),
    ],
)
def test_what_does_not_fit_is_found(sound: Ledger, tamper: Tamper, statement: str, where: str, what: str) -> None:
    tamper(statement)
    findings = found(sound)
    assert any(where in one.where and what in one.what for one in findings), findings


@pytest.mark.parametrize("backend", ["sqlite"])
def test_another_kind_of_solo_than_that_of_the_record_is_found(ledger: Ledger) -> None:
    outcomes = (outcome_of(recorded("special", seed), f"m-{seed}") for seed in range(100))
    outcome, deal = next((one, deal) for one in outcomes for deal in one.deals if deal.solo is SoloKind.BRIGHT)
    changed = tuple(replace(one, solo=SoloKind.DARK if one is deal else one.solo) for one in outcome.deals)
    ledger.record([replace(outcome, deals=changed)])
    assert [one.what for one in found(ledger)] == [f"deal {deal.number}: solo bright in the record, dark in the rows"]


@pytest.mark.parametrize("backend", ["sqlite"])
def test_deals_from_before_faults_were_kept_by_deal_are_no_fault(sound: Ledger, tamper: Tamper) -> None:
    tamper(f"UPDATE deals SET spoiled = NULL, {', '.join(f'faults_{seat} = NULL' for seat in range(5))}")
    assert found(sound) == []


@pytest.mark.parametrize("backend", ["sqlite"])
def test_a_match_that_others_played_than_its_schedule_says_is_found(sound: Ledger) -> None:
    names = [player.name for player in record_from_bytes(recorded()).players]
    assert found(sound, replace(EXPECTED, names=lambda _: names)) == []
    (one,) = found(sound, replace(EXPECTED, names=lambda _: names[1:] + names[:1]))
    assert one.where == "match 12, record"
    assert one.what.startswith(f"its players are {' '.join(names)}, and the schedule seats {names[1]} ")


@pytest.mark.parametrize("backend", ["sqlite"])
def test_a_match_with_other_cards_than_its_schedule_says_is_found(sound: Ledger) -> None:
    record = record_from_bytes(recorded())
    right = Dealt(record.secret, record.nonce, record.suits)

    def dealt(*, others: Dealt) -> list[str]:
        return [one.what for one in found(sound, replace(EXPECTED, dealt=lambda _, __: others))]

    assert dealt(others=right) == []
    assert dealt(others=replace(right, secret=bytes(32))) == ["its deals are not those of the schedule"]
    assert dealt(others=replace(right, nonce=bytes(32))) == ["its nonce is not that of its attempt"]
    (what,) = dealt(others=replace(right, suits=record.suits + 1))
    assert what.startswith(f"its suits are exchanged as {record.suits}, and the schedule says {record.suits + 1}")


@pytest.mark.parametrize("backend", ["sqlite"])
@pytest.mark.parametrize("cut", ["end", "start", "nothing left", "another number", "another name", "a digest"])
def test_a_record_that_was_changed_is_found(ledger: Ledger, cut: str) -> None:
    outcome = outcome_of(recorded(), "m-0")
    record = record_from_bytes(recorded())
    if cut == "another number":
        record.number = 13
    elif cut == "another name":
        record.players[0].name = "somebody"
    else:
        record.digest = bytes(32)
    changed = {"end": outcome.record[:-9], "start": outcome.record[1:], "nothing left": b"x"}
    data = changed.get(cut) or compress_record(record_to_bytes(record))
    ledger.record([replace(outcome, record=data)])
    (first, *_) = found(ledger)
    assert first.where == "match 12, record"


@pytest.mark.parametrize("backend", ["sqlite"])
def test_a_record_that_fits_itself_and_not_the_rules_is_found_by_playing_it_again(ledger: Ledger) -> None:
    from bots_sdk.replay import digest_of

    record = record_from_bytes(recorded())
    record.secret = bytes(32)
    record.digest = digest_of(record)
    ledger.record([replace(outcome_of(recorded(), "m-0"), record=compress_record(record_to_bytes(record)))])
    assert found(ledger) == []
    (one,) = found(ledger, replay=True)
    assert "the rules say something else" in one.what


@pytest.mark.parametrize("backend", ["sqlite"])
def test_what_was_to_be_played_is_compared(sound: Ledger) -> None:
    assert "no such match in a schedule of 12" in found(sound, Expected(12, 2))[0].what
    assert "should have 3" in found(sound, Expected(20, 3))[0].what
    (unreadable,) = found(sound, None)
    assert unreadable == Finding("cup", "specification", "it cannot be read: no such profile")
    sound.transition("cup", {TournamentState.RUNNING}, TournamentState.FINISHED)
    assert found(sound)[0].what == "it is finished with 1 of 20 matches"
    # Without a word why, a rule to end early is no excuse.
    assert found(sound, replace(EXPECTED, decided=lambda _: SAID))[0].what == "it is finished with 1 of 20 matches"
    sound.transition("cup", {TournamentState.FINISHED}, TournamentState.FINISHED, SAID)
    assert found(sound, replace(EXPECTED, decided=lambda _: SAID)) == []
    # And by the results it must be so.
    assert "it does not end early" in found(sound, replace(EXPECTED, decided=lambda _: ""))[0].what


@pytest.mark.parametrize("backend", ["sqlite"])
def test_hundreds_of_results_are_looked_at_in_parts(ledger: Ledger) -> None:
    outcome = outcome_of(recorded(), "m-0")
    ledger.record([replace(outcome, number=number, attempt=f"a{number}", record=b"") for number in range(450)])
    seen = Seen()
    assert list(audit(ledger, lambda _: Expected(450, 2), seen)) == []
    assert (seen.results, seen.deals) == (450, 900)
