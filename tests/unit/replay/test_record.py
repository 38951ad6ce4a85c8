"""Records of whole matches: made, read in every form, verified, shown, refused."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baohuang.match.v1 import match_service_pb2
from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.convert import answer_to_proto, phase_to_proto
from bots_sdk.replay import (
    Cause,
    RecordBuilder,
    RecordEnd,
    RecordError,
    RecordHead,
    RecordNotSupported,
    RecordUnreadable,
    compress_record,
    decompress_record,
    digest_of,
    format_replay,
    forms,
    record_from_bytes,
    record_from_json,
    record_to_bytes,
    record_to_json,
    verify_record,
)
from bots_sdk.replay.results import write_totals
from bots_sdk.rules.answers import Answer, Word
from bots_sdk.rules.beans import Beans
from bots_sdk.rules.cards import SEATS
from bots_sdk.rules.match import MAX_VOIDS, Match
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.profiles import PROFILES, make_options
from bots_sdk.rules.public import PublicState
from bots_sdk.rules.result import DealResult
from bots_sdk.rules.shuffle import commitment, deck_order, pack
from bots_sdk.rules.version import RULES_VERSION
from tests.unit.replay.matches import GAMES, NAMES, NONCE, SECRET, START, record_of, record_with_void_deals, recorded


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("faults", [True, False])
def test_a_record_holds_together(game: str, faults: bool) -> None:
    record = record_of(game, 3, faults=faults)
    verified = verify_record(record, commitment(record.nonce, record.secret))
    assert verified.deals == record.length == 2
    assert verified.shuffles == len(record.deals)
    assert verified.decisions == sum(len(deal.decisions) for deal in record.deals)
    assert list(verified.points) == list(record.outcome.points)
    assert verified.names == NAMES
    assert record.digest == digest_of(record)


def test_beans_and_titles_are_in_the_record() -> None:
    record = record_of("everything")
    sums = [sum(deal.result.beans.beans[seat] for deal in record.deals) for seat in range(SEATS)]
    assert list(record.outcome.beans) == sums
    assert any(sums)
    assert len(record.outcome.titles) == SEATS
    assert record.deals[1].HasField("tribute")
    assert record.outcome.started_at.ToMicroseconds() == int(START.timestamp() * 1_000_000)


@pytest.mark.parametrize("game", GAMES)
def test_a_record_is_small(game: str) -> None:
    packed = compress_record(recorded(game, 3))
    decisions = sum(len(deal.decisions) for deal in record_of(game, 3).deals)
    assert len(packed) < 1000 + 10 * decisions  # with two random numbers of three bytes each in every decision


@pytest.mark.parametrize("game", GAMES)
def test_every_form_gives_the_same_record(game: str) -> None:
    data = recorded(game, 1)
    record = record_from_bytes(decompress_record(compress_record(data)))
    assert record_to_bytes(record) == data
    assert record_to_bytes(record_from_json(record_to_json(record))) == data
    assert json.loads(record_to_json(record))["players"][2]["name"] == "保皇"


ANSWERS = st.builds(
    Answer,
    st.sampled_from(Word),
    st.binary(max_size=216),
    st.sampled_from([0, 1, 300]),
    st.booleans(),
)


@given(
    seat=st.integers(0, 4),
    phase=st.sampled_from([phase for phase in Phase if phase < Phase.ENDED]),
    answer=ANSWERS,
    cause=st.sampled_from(Cause),
    refused=st.sampled_from([0, 1, 200]),
    times=st.tuples(st.integers(0, 10**11), st.integers(0, 10**11)),
)
def test_a_decision_put_together_by_hand_is_what_protobuf_writes(
    seat: int, phase: Phase, answer: Answer, cause: Cause, refused: int, times: tuple[int, int]
) -> None:
    builder = RecordBuilder(HEAD)
    charged, elapsed = times
    builder.answered(seat, phase, answer, cause, charged_us=charged, elapsed_us=elapsed, refused=refused)
    expected = pb.Decision(
        seat=seat,
        phase=phase_to_proto(phase),
        answer=answer_to_proto(answer),
        cause=pb.Cause.ValueType(cause),
        refused=refused,
        charged_us=min(charged, 2**32 - 1),
        elapsed_us=min(elapsed, 2**32 - 1),
    )
    builder._encode()
    assert bytes(builder._decisions) == pb.Deal(decisions=[expected]).SerializeToString()
    assert bytes(builder._checks) == (zlib.crc32(expected.SerializeToString()) & 0xFFFF).to_bytes(2, "big")


HEAD = RecordHead("m", tuple(("b", "n") for _ in range(SEATS)), PROFILES["qingdao"], 1, SECRET, NONCE)


def test_a_match_of_void_deals_has_a_record() -> None:
    # Nobody can accept without three of a face; in a pack that is not shuffled nobody has them.
    options = make_options("qingdao", {"grab": "none"})
    builder = RecordBuilder(HEAD)
    match = Match(options, 1, lambda _: pack(options))
    match.start()
    while True:
        while not match.deal.is_over:
            seat = match.deal.asked[0]
            builder.answered(seat, match.deal.phase, match.deal.default(seat), Cause.TIMED_OUT)
            match.answer(seat, match.deal.default(seat))
        builder.end_deal(match.deal)
        if match.over:
            break
        match.next_deal()
    blamed = RecordEnd(ending=match_service_pb2.ENDING_COMPLETED_WITH_FAULTS, blamed=(0, 1, 2, 3, 4))
    record = record_from_bytes(builder.finish(blamed))
    assert len(record.deals) == MAX_VOIDS
    assert all(deal.result.voided for deal in record.deals)
    with pytest.raises(RecordError, match=r"^deals\[0\]"):  # the deck is not that of the secret
        verify_record(record)


def test_void_deals_are_verified_and_shown() -> None:
    record = record_with_void_deals()
    verified = verify_record(record)
    assert (verified.deals, verified.shuffles) == (2, 4)
    assert [deal.result.voided for deal in record.deals] == [True, True, False, False]
    assert [(deal.shuffle, deal.number, deal.dealer) for deal in record.deals[:3]] == [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
    assert "\n".join(format_replay(record, 0)).count("void: nobody became emperor") == 2
    assert "void" not in "\n".join(format_replay(record, 1)).partition("\n")[2]


def test_an_unfinished_deal_cannot_be_ended() -> None:
    match = Match(PROFILES["qingdao"], 1, lambda number: deck_order(PROFILES["qingdao"], SECRET, number))
    match.start()
    with pytest.raises(ValueError, match="the deal is not over"):
        RecordBuilder(HEAD).end_deal(match.deal)


# ------------------------------------------------------------------------------------------------------------- showing


def test_a_record_is_shown_trick_by_trick() -> None:
    record = record_of("everything", 0)
    lines = list(format_replay(record))
    text = "\n".join(lines)
    assert lines[0] == (
        "Match m-0 of cup, number 12: 2 deals, "
        "rules bean-qingdao stakes=1,2,3 hold_back=6 beans=true room=5 titles=true"
    )
    phases = ["window ", "throne ", "call ", "stake ", "trick 1 ", "beans ", "owed ", "is the guard"]
    notes = ["timed out", "house bot", "illegal answers", "the bot failed"]
    for wanted in ["Deal 0, shuffle 0", "Deal 1, shuffle 100", *phases, *notes]:
        assert wanted in text, wanted
    tricks = [line.split()[1] for line in text.splitlines() if line.startswith("  trick")]
    first = tricks.index("1", 1)
    assert tricks[:first] == [str(number) for number in range(1, first + 1)]
    assert max(map(len, text.splitlines()[2:])) < 140
    assert all(f" {card}" in text for card in ("EJ", "BJ", "SJ"))


def test_one_deal_is_shown() -> None:
    text = "\n".join(format_replay(record_of("everything", 0), 1))
    assert "Deal 1, " in text
    assert "Deal 0, " not in text
    with pytest.raises(RecordError, match="deal 2: the match has the deals 0 to 1"):
        list(format_replay(record_of("everything", 0), 2))


def test_a_record_from_anybody_moves_no_cursor() -> None:
    record = record_of("qingdao")
    record.players[1].name = "a\x1b[2Jb"
    record.match_id = record.tournament = "c\nd"
    text = "".join(format_replay(record, 0))
    assert "\x1b" not in text
    assert "a?[2Jb" in text
    assert "Match c?d of c?d" in text


# ------------------------------------------------------------------------------------------------------------ refusals


def changed(change: Callable[[pb.MatchRecord], None]) -> pb.MatchRecord:
    record = record_of("qingdao")
    change(record)
    return record


def test_other_versions_are_refused_by_name() -> None:
    rules, form = record_of("qingdao"), record_of("qingdao")
    rules.rules_version, rules.platform = "2", ""
    form.format = 7
    with pytest.raises(RecordNotSupported, match=r"^this record was made with rules version 2; this version reads 1$"):
        verify_record(rules)
    with pytest.raises(
        RecordNotSupported, match=r"by baohuang-arena/\S+ in format 7; this version reads formats 1 and 2$"
    ):
        record_from_bytes(record_to_bytes(form))
    with pytest.raises(RecordNotSupported):
        record_from_json(record_to_json(form))
    with pytest.raises(RecordNotSupported):
        list(format_replay(form))


@pytest.mark.parametrize("data", [b"", b"hello", b"\xff" * 50, b"\x00"])
def test_bytes_that_are_no_record_are_refused(data: bytes) -> None:
    with pytest.raises(RecordUnreadable, match="no match record"):
        record_from_bytes(data)


@pytest.mark.parametrize("text", ["", "hello", "[]", "{}", '{"format": "x"}', '{"cards": 1}', "[" * 100_000])
def test_texts_that_are_no_record_are_refused(text: str) -> None:
    with pytest.raises(RecordUnreadable, match="no match record"):
        record_from_json(text)


def test_compressed_records_that_are_damaged_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = compress_record(recorded("qingdao"))
    with pytest.raises(RecordUnreadable, match="no compressed match record"):
        decompress_record(b"hello")
    with pytest.raises(RecordUnreadable, match="cut off"):
        decompress_record(packed[:-5])
    with pytest.raises(RecordUnreadable, match="3 bytes stand behind"):
        decompress_record(packed + b"abc")
    monkeypatch.setattr(forms, "MOST_BYTES", 1000)
    with pytest.raises(RecordUnreadable, match="too large"):
        decompress_record(packed)


@settings(max_examples=60)
@given(st.data())
def test_a_changed_byte_is_found_in_every_form(data: st.DataObject) -> None:
    for form, read in ((recorded("bean"), bytes), (compress_record(recorded("bean")), decompress_record)):
        at = data.draw(st.integers(0, len(form) - 1))
        bit = 1 << data.draw(st.integers(0, 7))
        broken = form[:at] + bytes([form[at] ^ bit]) + form[at + 1 :]
        with pytest.raises((RecordUnreadable, RecordNotSupported, RecordError)):
            verify_record(record_from_bytes(read(broken)))


def test_a_commitment_that_was_not_the_one_told_is_found() -> None:
    with pytest.raises(RecordError, match="the seats were told another one") as caught:
        verify_record(record_of("qingdao"), b"x" * 32)
    assert caught.value.step == "commitment"


def test_a_record_without_a_secret_cannot_be_checked() -> None:
    with pytest.raises(RecordError, match="nothing can be checked") as caught:
        verify_record(changed(lambda record: record.ClearField("secret")))
    assert caught.value.step == "secret"


def test_the_largest_settlement_there_can_be_has_a_record() -> None:
    options = make_options("bean-qingdao", {"room": 1_000_000, "stakes": [50], "beans": True})
    head = RecordHead("m", HEAD.players, options, 2, SECRET, NONCE)
    match = Match(options, 2, lambda number: deck_order(options, SECRET, number))
    builder = RecordBuilder(head)
    match.start()
    while not match.over:
        if match.deal.is_over:
            match.next_deal()
        seat, phase = match.deal.asked[0], match.deal.phase
        answer = match.deal.legal(seat)[-1]  # reveals, kicks: whatever doubles
        match.answer(seat, answer)
        builder.answered(seat, phase, answer)
        if match.deal.is_over:
            builder.end_deal(match.deal)
    record = record_from_bytes(builder.finish(RecordEnd()))
    verify_record(record)
    worst = 1_000_000 * 12 * 2**4 * 12 * 50**5
    assert 0 < max(map(abs, record.outcome.beans)) < worst < 2**63


def test_beans_of_a_match_that_no_field_can_hold_stay_at_its_end() -> None:
    options = make_options("bean", {"beans": True})
    void = DealResult.void(PublicState(options))
    results = [replace(void, beans=Beans(0, 1, (2**62, -(2**62), 7, 0, 0)))] * 4
    outcome = pb.Outcome()
    write_totals(options, results, outcome)
    assert list(outcome.beans) == [2**63 - 1, 1 - 2**63, 28, 0, 0]


def test_counts_that_no_field_can_hold_are_no_traceback() -> None:
    record = record_of("qingdao", faults=False)
    for decision in record.deals[0].decisions:
        decision.refused = 2**32 - 1
    crc, checks = 0, b""
    for decision in record.deals[0].decisions:
        crc = zlib.crc32(decision.SerializeToString(), crc)
        checks += (crc & 0xFFFF).to_bytes(2, "big")
    record.deals[0].checks = checks
    with pytest.raises(RecordError, match=r"^outcome\.faults\[0\]\.illegal_answers"):
        verify_record(record)


def test_a_kilobyte_does_not_unpack_to_millions_of_messages() -> None:
    head = pb.MatchRecord(format=1, rules_version=RULES_VERSION).SerializeToString()
    bomb = head + b"\x72\x00" * (forms.MOST_BYTES // 2)  # empty deals
    with pytest.raises(RecordUnreadable, match="too large"):
        decompress_record(compress_record(bomb))
    with pytest.raises(RecordUnreadable, match="too large"):
        record_from_bytes(bomb)
