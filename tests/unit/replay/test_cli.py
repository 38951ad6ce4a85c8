"""`baohuang replay`, and records of local play: what a person reads, also when something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bots_sdk.arena import play_match
from bots_sdk.bot import Bot
from bots_sdk.cli.tree import run
from bots_sdk.house import make_house_bot
from bots_sdk.replay import (
    compress_record,
    read_record,
    record_from_bytes,
    record_to_bytes,
    record_to_json,
    verify_record,
)
from bots_sdk.rules.answers import WIND, Answer
from bots_sdk.rules.profiles import PROFILES
from bots_sdk.rules.view import View
from tests.unit.replay.matches import record_of, recorded


@pytest.fixture(params=["match.pb", "match.pb.z", "match.json", "no suffix"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path: Path = tmp_path / request.param
    data = recorded()
    forms = {"match.pb": data, "match.json": record_to_json(record_from_bytes(data)).encode()}
    path.write_bytes(forms.get(path.name, compress_record(data)))
    return path


def said(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = run(["replay", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_record_is_verified_in_every_form(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "verify", file)
    assert (code, err) == (0, "")
    assert out.startswith("The record of match m-0 holds together: 2 deals, ")
    assert record_of().commitment.hex() in out
    code, out, err = said(capsys, "verify", file, "--json", "--commitment", record_of().commitment.hex())
    assert (code, err) == (0, "")
    assert json.loads(out)["points"] == list(record_of().outcome.points)


def test_a_record_is_shown(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "show", file, "--deal", "1")
    assert (code, err) == (0, "")
    assert "Deal 1, shuffle 100" in out
    assert "  trick 1 " in out


def test_a_record_is_exported(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "export", file, "--json")
    assert code == 0
    assert json.loads(out)["match_id"] == "m-0"
    assert said(capsys, "export", file, "--pb", "--output", tmp_path / "out")[0] == 0
    assert (tmp_path / "out").read_bytes() == recorded()


def test_what_is_wrong_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refusal(data: bytes, *options: str) -> str:
        path = tmp_path / "broken"
        path.write_bytes(data)
        code, out, err = said(capsys, "verify", path, *options)
        assert (code, out) == (1, "")
        assert err.count("\n") == 1
        return err

    record = record_of()
    record.deals[1].result.points[3] += 1
    assert refusal(record_to_bytes(record)).startswith("Error: deals[1].result.points: it must be [")
    record = record_of()
    record.rules_version = "2"
    assert "with rules version 2; this version reads 1" in refusal(record_to_bytes(record))
    assert "broken: the compressed record is cut off" in refusal(compress_record(recorded())[:-9])
    assert "broken: this is no match record" in refusal(b"hello")
    assert "broken: this is no match record in JSON: it is not UTF-8" in refusal(b"{\xff")
    assert "the seats were told another one: ab" in refusal(recorded(), "--commitment", "ab")


def test_what_is_typed_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(capsys, "verify", tmp_path / "nothing")
    assert code == 2
    assert "does not exist" in err
    (tmp_path / "m").write_bytes(recorded())
    code, _, err = said(capsys, "verify", tmp_path / "m", "--commitment", "xyz")
    assert code == 2
    assert "'xyz' is not hexadecimal" in err


def test_local_play_saves_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["play", *["random"] * 5, "--deals", "1", "--no-progress", "--record", str(tmp_path / "new")]
    assert run([*arguments, "--profile", "bean-qingdao", "--deals-per-match", "2"]) == 0
    capsys.readouterr()
    files = sorted((tmp_path / "new").iterdir())
    assert [file.name for file in files] == [f"match-{number}.pb.z" for number in range(1, 6)]
    for file in files:
        assert verify_record(read_record(file)).deals == 2


class Cheat(Bot):
    """Answers nonsense, or breaks."""

    def __init__(self) -> None:
        self._asked = 0

    def answer(self, view: View) -> Answer:
        self._asked += 1
        if self._asked % 2:
            raise RuntimeError("broken")
        return WIND


def test_bots_that_fail_are_in_the_record() -> None:
    kept: list[bytes] = []
    bots = [Cheat(), *(make_house_bot("random", seat) for seat in range(4))]
    play_match(bots, PROFILES["special"], 1, b"secret", on_record=kept.append)
    record = record_from_bytes(kept[0])
    verify_record(record)
    assert list(record.outcome.blamed) == [0]
    assert record.outcome.faults[0].failures > 0
    assert record.outcome.faults[0].illegal_answers > 0
