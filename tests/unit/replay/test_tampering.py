"""Whatever is changed in a record is found, and the first wrong step is named."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from baohuang.match.v1 import match_service_pb2
from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.replay import Cause, RecordError, RecordNotSupported, RecordUnreadable, digest_of, verify_record
from bots_sdk.rules.shuffle import commitment
from tests.unit.replay.matches import GAMES, record_of

some = settings(max_examples=40)
games = st.sampled_from(list(GAMES))
randoms = st.randoms(use_true_random=False)


def first_wrong_step(record: pb.MatchRecord) -> str:
    """What `verify_record` names after the digest has been made to fit, as a forger would."""
    record.digest = digest_of(record)
    with pytest.raises(RecordError) as caught:
        verify_record(record)
    assert str(caught.value) == f"{caught.value.step}: {caught.value.what}"
    assert "\n" not in str(caught.value)
    return caught.value.step


def decisions_before_and_after(
    game: str, rng: Random, change: Callable[[list[pb.Decision], int], None]
) -> tuple[str, str]:
    """Changes the decisions of one deal; the step that is named, and the first that is different."""
    record = record_of(game)
    index = rng.randrange(len(record.deals))
    deal = record.deals[index]
    before = list(deal.decisions)
    after = [pb.Decision.FromString(one.SerializeToString()) for one in before]
    change(after, rng.randrange(len(before)))
    assume(before != after)  # the same seat may well have said the same in the same time
    different = next(
        (at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other),
        min(len(before), len(after)),
    )
    del deal.decisions[:]
    deal.decisions.extend(after)
    step = first_wrong_step(record)
    found = re.match(r"deals\[\d+\]\.decisions\[\d+\]", step)
    return found.group() if found else step, f"deals[{index}].decisions[{different}]"


@some
@given(game=games, rng=randoms)
def test_another_answer(game: str, rng: Random) -> None:
    def change(decisions: list[pb.Decision], at: int) -> None:
        others = [one.answer for one in decisions if one.answer != decisions[at].answer]
        decisions[at].answer.CopyFrom(rng.choice(others))

    named, wrong = decisions_before_and_after(game, rng, change)
    assert named == wrong


@some
@given(game=games, rng=randoms)
def test_answers_in_another_order(game: str, rng: Random) -> None:
    def change(decisions: list[pb.Decision], at: int) -> None:
        other = (at + rng.choice([1, 2, 50])) % len(decisions)
        decisions[at], decisions[other] = decisions[other], decisions[at]

    named, wrong = decisions_before_and_after(game, rng, change)
    assert named == wrong


@some
@given(game=games, rng=randoms)
def test_an_answer_left_out_or_said_twice(game: str, rng: Random) -> None:
    def change(decisions: list[pb.Decision], at: int) -> None:
        if rng.random() < 0.5:
            del decisions[at]
        else:
            decisions.insert(at, decisions[at])

    named, wrong = decisions_before_and_after(game, rng, change)
    assert named == wrong


@some
@given(game=games, rng=randoms, name=st.sampled_from(["seat", "phase", "cause", "refused", "charged_us", "elapsed_us"]))
def test_another_field_of_an_answer(game: str, rng: Random, name: str) -> None:
    def change(decisions: list[pb.Decision], at: int) -> None:
        value = getattr(decisions[at], name)
        setattr(decisions[at], name, (value + 1) % 5 if name == "seat" else value + 1)

    named, wrong = decisions_before_and_after(game, rng, change)
    assert named == wrong


@some
@given(game=games, rng=randoms)
def test_results_that_do_not_follow(game: str, rng: Random) -> None:
    record = record_of(game)
    index = rng.randrange(len(record.deals))
    result = record.deals[index].result
    name = rng.choice(["places", "points", "emperor", "kicked", "declaration", "stakes", "voided"])
    if name == "places":
        result.places[0], result.places[4] = result.places[4], result.places[0]
    elif name in ("points", "stakes"):
        getattr(result, name)[rng.randrange(5)] += 1
    elif name in ("kicked", "voided"):
        setattr(result, name, not getattr(result, name))
    else:
        setattr(result, name, (getattr(result, name) + 1) % 4)
    assert first_wrong_step(record) == f"deals[{index}].result.{name}"


def test_beans_tribute_titles_and_totals_that_do_not_follow() -> None:
    record = record_of("everything")
    record.deals[0].result.beans.beans[0] += 1
    assert first_wrong_step(record) == "deals[0].result.beans"
    record = record_of("everything")
    record.deals[0].result.tribute.pay.add(seat=1, cards=1)
    assert first_wrong_step(record) == "deals[0].result.tribute"
    record = record_of("everything")
    record.deals[1].ClearField("tribute")
    assert first_wrong_step(record) == "deals[1].tribute"
    for name in ("points", "beans"):
        record = record_of("everything")
        getattr(record.outcome, name)[2] += 1
        assert first_wrong_step(record) == f"outcome.{name}"
    record = record_of("everything")
    record.outcome.titles[0] = "起义军"
    assert first_wrong_step(record) == "outcome.titles"


@pytest.mark.parametrize("name", ["shuffle", "number", "dealer"])
def test_deals_that_begin_otherwise(name: str) -> None:
    record = record_of("qingdao")
    setattr(record.deals[1], name, getattr(record.deals[1], name) + 1)
    assert first_wrong_step(record) == f"deals[1].{name}"


@some
@given(game=games, at=st.integers(0, 32), again=st.booleans())
def test_another_secret(game: str, at: int, again: bool) -> None:
    record = record_of(game)
    record.secret = record.secret[:at] + bytes([record.secret[at] ^ 1]) + record.secret[at + 1 :]
    if again:  # a commitment that fits; who was told another one knows, and the deals do not fit either
        record.commitment = commitment(record.nonce, record.secret)
    step = first_wrong_step(record)
    assert step.startswith("deals[0]") if again else step == "commitment"


def test_deals_left_out_or_added() -> None:
    record = record_of("qingdao")
    del record.deals[1]
    assert first_wrong_step(record) == "deals[1]"
    record = record_of("qingdao")
    record.deals.add().CopyFrom(record.deals[1])
    assert first_wrong_step(record) == "deals[2]"
    record = record_of("qingdao")
    record.length = 1
    assert first_wrong_step(record) == "deals[1]"
    record = record_of("qingdao")
    del record.players[4]
    assert first_wrong_step(record) == "players"


def test_checks_cut_short_or_prolonged() -> None:
    record = record_of("qingdao")
    record.deals[0].checks += b"x"
    assert first_wrong_step(record) == "deals[0].checks"
    record = record_of("qingdao")
    last = len(record.deals[0].decisions) - 1
    record.deals[0].checks = record.deals[0].checks[:-1]
    assert first_wrong_step(record) == f"deals[0].decisions[{last}]"


def test_faults_that_are_not_those_of_the_answers() -> None:
    for name in ("timeouts", "illegal_answers", "failures"):
        record = record_of("everything")
        faults = record.outcome.faults[1]
        setattr(faults, name, getattr(faults, name) + 1)
        assert first_wrong_step(record) == f"outcome.faults[1].{name}"
    record = record_of("everything")
    seat = next(d.seat for deal in record.deals for d in deal.decisions if d.cause == int(Cause.TAKEN_OVER))
    record.outcome.faults[seat].taken_over = False
    assert first_wrong_step(record) == f"outcome.faults[{seat}].taken_over"
    record = record_of("everything")
    del record.outcome.faults[0]
    assert first_wrong_step(record) == "outcome.faults"


def test_endings_that_cannot_be() -> None:
    record = record_of("everything")
    record.outcome.ending = match_service_pb2.ENDING_VOID
    assert first_wrong_step(record) == "outcome.ending"
    record = record_of("everything")
    record.outcome.ending = match_service_pb2.ENDING_COMPLETED
    assert first_wrong_step(record) == "outcome.blamed"
    record = record_of("everything")
    record.outcome.blamed.append(7)
    assert first_wrong_step(record) == "outcome.blamed"


def test_a_default_that_is_none() -> None:
    record = record_of("qingdao", faults=False)
    deal = record.deals[0]
    at, played = next((i, d) for i, d in enumerate(deal.decisions) if len(d.answer.cards) > 2)
    played.cause = pb.CAUSE_TIMED_OUT
    record.digest = digest_of(record)
    with pytest.raises(RecordError, match="after timed_out the default must be played") as caught:
        verify_record(record)
    assert caught.value.step == f"deals[0].decisions[{at}]"


def test_cards_that_are_none() -> None:
    record = record_of("qingdao")
    record.deals[0].decisions[9].answer.cards = b"\xf0"
    assert first_wrong_step(record) == "deals[0].decisions[9].answer.cards"
    record = record_of("qingdao")
    record.options.grab = 9  # type: ignore[assignment]  # what came over the wire may be anything
    assert first_wrong_step(record) == "options.grab"


def test_a_forger_who_makes_everything_fit_must_still_play_by_the_rules() -> None:
    """Without checks and digest only the rules are left, and they still find it, if later."""
    record = record_of("qingdao", faults=False)
    deal = record.deals[0]
    at = next(i for i, d in enumerate(deal.decisions) if d.answer.cards)
    deal.decisions[at].answer.cards = bytes([51, 51])
    step = first_wrong_step(record)
    assert step == f"deals[0].decisions[{at}]"


def refit_checks(deal: pb.Deal) -> None:
    """Make the checks fit the answers again, as a forger would."""
    crc, checks = 0, b""
    for decision in deal.decisions:
        crc = zlib.crc32(decision.SerializeToString(), crc)
        checks += (crc & 0xFFFF).to_bytes(2, "big")
    deal.checks = checks


@some
@given(game=games, rng=randoms)
def test_what_a_forger_of_checks_cannot_change(game: str, rng: Random) -> None:
    """Who was asked what follows from the rules, and the faults from the answers."""
    record = record_of(game, faults=False)
    index = rng.randrange(len(record.deals))
    deal = record.deals[index]
    at = rng.randrange(len(deal.decisions))
    decision = deal.decisions[at]
    name = rng.choice(["phase", "refused", "cause"])
    setattr(decision, name, getattr(decision, name) % 9 + 1 if name == "phase" else 5 if name == "cause" else 2)
    refit_checks(deal)
    step = f"deals[{index}].decisions[{at}].phase"
    if name == "refused":
        step = f"outcome.faults[{decision.seat}].illegal_answers"
    elif name == "cause":
        step = f"outcome.faults[{decision.seat}].taken_over"
    assert first_wrong_step(record) == step


def leaves(message: Message, path: str = "") -> Iterator[tuple[str, Callable[[], None]]]:
    """Every value in a message: its path, and what changes it."""
    for field, value in message.ListFields():
        name = f"{path}.{field.name}" if path else field.name
        if isinstance(value, Message):
            yield from leaves(value, name)
        elif isinstance(value, int | str | bytes):
            yield name, partial(setattr, message, field.name, other(value))
        else:
            for index, item in enumerate(value):
                if isinstance(item, Message):
                    yield from leaves(item, f"{name}[{index}]")
                else:
                    yield f"{name}[{index}]", partial(value.__setitem__, index, other(item))


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value - 1 if value > 0 else value + 1
    return value[:-1]


@some
@given(game=games, rng=randoms)
def test_any_value_changed_is_found_where_it_is(game: str, rng: Random) -> None:
    record = record_of(game)
    everything = list(leaves(record))
    # Decisions are by far the most: half of the time something else.
    few = [leaf for leaf in everything if "decisions" not in leaf[0]]
    path, change = rng.choice(rng.choice([everything, few]))
    change()
    with pytest.raises((RecordError, RecordNotSupported, RecordUnreadable)) as caught:
        verify_record(record)
    if path.startswith("deals[") and isinstance(caught.value, RecordError):
        part = path.partition(".")[0] if ".checks" in path else path.partition(".answer")[0]
        assert caught.value.step.startswith(part) or part.startswith(caught.value.step)
