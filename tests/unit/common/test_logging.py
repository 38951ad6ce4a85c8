"""Logs: JSON lines in a file, sentences on stderr, secrets in neither."""

from __future__ import annotations

import io
import json
import logging
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.common.errors import SetupError
from services.common.logging import configure_logging, hide_secrets
from services.common.settings import LogLevel, Settings

LOG = logging.getLogger("services.test")


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    """What the tests set on the root logger is taken away again."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    for handler in root.handlers[:]:
        if handler not in handlers:
            root.removeHandler(handler)
            handler.close()
    root.setLevel(level)


def _lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_record_becomes_one_json_line(tmp_path: Path) -> None:
    path = configure_logging("match-service-1", Settings(data_dir=tmp_path / "new"), io.StringIO())
    LOG.info("match %s\nended 保皇", "m1", extra={"outcome": "void", "decisions": 7, "blamed": (1, 2)})
    assert path == tmp_path / "new" / "logs" / "match-service-1.jsonl"
    (line,) = _lines(path)
    age = datetime.now(UTC) - datetime.fromisoformat(str(line.pop("time")))
    assert 0 <= age.total_seconds() < 60
    assert isinstance(line.pop("pid"), int)
    assert line == {
        "level": "info",
        "logger": "services.test",
        "role": "match-service-1",
        "message": "match m1\nended 保皇",
        "outcome": "void",
        "decisions": 7,
        "blamed": "(1, 2)",
    }


def test_logs_are_for_whoever_runs_the_platform(tmp_path: Path) -> None:
    path = configure_logging("gateway", Settings(data_dir=tmp_path / "new"), io.StringIO())
    assert path.parent.stat().st_mode & 0o077 == 0


def test_people_see_warnings_only_and_never_a_traceback(tmp_path: Path) -> None:
    stderr = io.StringIO()
    path = configure_logging("gateway", Settings(data_dir=tmp_path), stderr)
    LOG.info("all is well")
    LOG.warning("the disk is nearly full")
    try:
        raise RuntimeError("broken")
    except RuntimeError:
        LOG.exception("incident 1")
    assert stderr.getvalue() == (
        "warning: gateway: the disk is nearly full\nerror: gateway: incident 1 (details in the log)\n"
    )
    assert "RuntimeError: broken" in str(_lines(path)[2]["traceback"])


def test_the_level_of_the_settings_holds_and_libraries_are_quiet(tmp_path: Path) -> None:
    path = configure_logging("gateway", Settings(data_dir=tmp_path, log_level=LogLevel.DEBUG), io.StringIO())
    LOG.debug("kept")
    logging.getLogger("uvicorn.error").info("dropped")
    path = configure_logging("gateway", Settings(data_dir=tmp_path, log_level=LogLevel.ERROR), io.StringIO())
    LOG.warning("dropped")
    LOG.error("once")
    assert [line["message"] for line in _lines(path)] == ["kept", "once"], "and configuring twice doubles nothing"


def test_no_secret_gets_into_a_log(tmp_path: Path) -> None:
    stderr = io.StringIO()
    path = configure_logging("gateway", Settings(data_dir=tmp_path), stderr)
    token, key = secrets.token_urlsafe(32), secrets.token_bytes(32)
    LOG.warning("bot greedy came with token=%s and ticket: '%s'", token, token)
    LOG.warning("order %s", f"MatchOrder(number=3, secret={key!r}, nonce={key!r}, withhold=True)")
    LOG.warning("headers %s", {"Authorization": f"Bearer {token}", "x-token": token})
    LOG.warning("plainly %s and %s and %s", token, key, key.hex())
    LOG.warning("fields", extra={"ticket": token, "secret": key, "bot_token": token, "blob": key})
    try:
        raise ValueError(f"cannot decode {token}", key)
    except ValueError:
        LOG.exception("incident 2")
    for written in (path.read_text(), stderr.getvalue()):
        assert "***" in written
        for secret in (token, key.hex(), repr(key)[2:-1], json.dumps(repr(key))[3:-2]):
            assert secret not in written


@pytest.mark.parametrize(
    "text",
    [
        "match 1c0ffee1c0ffee1c0ffee1c0ffee1c0f ended after 12 decisions",
        "the ledger data/ledger.sqlite3 is locked by another process",
        "a-name-of-forty-or-more-letters-without-any-digit is no secret",
        "bot 保皇 took the seat 3 of monkey-island",
    ],
)
def test_what_is_no_secret_stays_readable(text: str) -> None:
    assert hide_secrets(text) == text


def test_a_log_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where a folder should be")
    with pytest.raises(SetupError) as caught:
        configure_logging("gateway", Settings(data_dir=tmp_path))
    assert str(caught.value) == (
        f"The log {tmp_path / 'logs' / 'gateway.jsonl'} cannot be written (File exists): "
        "choose another folder with --data."
    )


def test_a_full_disk_is_told_once_and_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "gateway.jsonl").symlink_to("/dev/full")
    configure_logging("gateway", Settings(data_dir=tmp_path), io.StringIO())
    LOG.info("one")
    LOG.info("two")
    told = capsys.readouterr().err
    assert told.count("No space left on device") == 1
    assert told.endswith("going on without.\n")
    assert "Traceback" not in told


def test_what_goes_wrong_after_the_terminal_is_given_back_is_said_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = io.StringIO()
    configure_logging("serve", Settings(data_dir=tmp_path), terminal)
    terminal.close()
    LOG.warning("late")
    assert capsys.readouterr().err == "warning: serve: late\n"


@pytest.mark.parametrize(
    "token", ["bh_x", "bh_" + "a" * 43, "bh_" + "-" * 43, "bh_no-digit-and-no-upper-case-letter-in-here"]
)
def test_tokens_are_hidden_whatever_letters_they_have(token: str) -> None:
    assert token not in hide_secrets(f"somebody sent {token}, and nobody knows it")
