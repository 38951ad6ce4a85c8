"""What docs/records.md tells whoever writes a check in another language."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest

from baohuang.cards.v1 import answer_pb2
from baohuang.match.v1 import match_service_pb2
from baohuang.record.v1 import record_pb2 as pb
from bots_sdk.replay import format_replay
from bots_sdk.replay.playing import Replay
from bots_sdk.rules.cards import SEATS, parse_cards
from bots_sdk.rules.shuffle import pack
from tests.unit.replay.matches import record_with_void_deals
from tests.unit.rules.test_shuffle import second_opinion

DOCUMENT = (Path(__file__).parents[3] / "docs" / "records.md").read_text(encoding="utf-8")


def test_the_encoded_decisions_and_their_checks() -> None:
    play = answer_pb2.Answer(word=answer_pb2.WORD_PLAY, cards=parse_cards("9c 9c SJ"))
    phase = match_service_pb2.PHASE_PLAY
    decisions = [
        pb.Decision(seat=2, phase=phase, answer=play, cause=pb.CAUSE_ANSWERED, elapsed_us=1_300),
        pb.Decision(
            seat=3,
            phase=phase,
            answer=answer_pb2.Answer(word=answer_pb2.WORD_PASS),
            cause=pb.CAUSE_TIMED_OUT,
            charged_us=2_000_000,
            elapsed_us=2_200_000,
        ),
    ]
    crc, expected = 0, []
    for decision in decisions:
        encoded = decision.SerializeToString()
        crc = zlib.crc32(encoded, crc)
        expected.append((encoded.hex(), f"{crc:08x}", f"{crc & 0xFFFF:04x}"))
    assert re.findall(r"\| `([0-9a-f]+)` \| `([0-9a-f]{8})` \| `([0-9a-f]{4})` \|$", DOCUMENT, re.MULTILINE) == expected


def test_every_cause_is_spoken_of() -> None:
    for cause in ("CAUSE_TIMED_OUT", "CAUSE_ILLEGAL", "CAUSE_FAILED"):
        assert cause in pb.Cause.keys()  # noqa: SIM118 - an enum of protobuf is no dict
        assert cause in DOCUMENT


@pytest.mark.parametrize("suits", [0, 4])
def test_the_hands_follow_from_the_record_as_the_document_says(suits: int) -> None:
    """n = 100 * number + the entries before it with the same number: void deals and later deals alike."""
    record = record_with_void_deals(suits)
    numbers = [deal.number for deal in record.deals]
    assert numbers == [0, 0, 0, 1]
    replay = Replay(record)
    for place, dealt in enumerate(replay.deals()):
        shuffle = 100 * numbers[place] + numbers[:place].count(numbers[place])
        assert dealt.recorded.shuffle == place
        assert f"shuffle {shuffle}: " in "\n".join(format_replay(record, numbers[place]))
        deck = second_opinion(pack(replay.options), record.secret, shuffle, suits)
        for seat in range(SEATS):
            assert dealt.deal.hand(seat) == bytes(sorted(deck[(seat - dealt.recorded.dealer) % SEATS :: SEATS]))
        for _ in dealt.answers():
            pass
