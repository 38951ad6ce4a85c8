"""Logs: a file of JSON lines for each process, and for people only what needs their attention.

They tell no secret, but who did what when is for operators: their folder is not for other users of the machine.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import sys
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from services.common.errors import SetupError
from services.common.settings import Settings

FILE_BYTES = 20_000_000
FILES_KEPT = 3
"""A log is at most so large, and so many older parts of it are kept."""

HIDDEN = "***"
SECRET_WORDS = ("authorization", "key", "nonce", "password", "secret", "ticket", "token")
"""What is never written: the value of a field called so, and whatever follows the word in a text."""

NOISY = ("asyncio", "grpc", "ray", "sqlalchemy", "alembic", "uvicorn")
"""Libraries of which only warnings are of interest."""

_VALUE = r"""b?'(?:[^'\\]|\\.)*'|b?"(?:[^"\\]|\\.)*"|[^\s,;)\]}]+"""
_NAMED_SECRET = re.compile(rf"(?i)([\w-]*(?:{'|'.join(SECRET_WORDS)})['\"]?\s*[=:]\s*)(?:{_VALUE})")
_BEARER = re.compile(r"(?i)\b(bearer\s+)\S+")
_TOKEN = re.compile(r"\bbh_[A-Za-z0-9_-]+")
_LONG_WORD = re.compile(r"[A-Za-z0-9_-]{40,}")
_BYTES = re.compile(r"""\bb'(?:[^'\\]|\\.)*'|\bb"(?:[^"\\]|\\.)*\"""")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def configure_logging(role: str, settings: Settings, stderr: TextIO | None = None) -> Path:
    """Send every log record of this process to `<data_dir>/logs/<role>.jsonl`, and warnings also to `stderr` as text.

    `role` names the process and is its file's name: two processes must not share it. Calling it again replaces what was
    set before. Gives the file. Raises SetupError when the file cannot be written.
    """
    path = settings.logs_dir / f"{role}.jsonl"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        to_file = LogFile(path, maxBytes=FILE_BYTES, backupCount=FILES_KEPT, encoding="utf-8")
    except OSError as error:
        sentence = f"The log {path} cannot be written ({error.strerror}): choose another folder with --data."
        raise SetupError(sentence, key="data_dir") from None
    to_file.setFormatter(JsonFormatter(role))
    to_people = ToPeople(stderr or sys.stderr)
    to_people.setLevel(logging.WARNING)
    to_people.setFormatter(SentenceFormatter(role))
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if isinstance(handler.formatter, JsonFormatter | SentenceFormatter):
            root.removeHandler(handler)
            handler.close()
    root.addHandler(to_file)
    root.addHandler(to_people)
    root.setLevel(settings.log_level.upper())
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)
    return path


def hide_secrets(text: str) -> str:
    """The text without values of secret fields, tokens, byte strings, and words long and mixed enough to be a key."""
    text = _NAMED_SECRET.sub(rf"\1{HIDDEN}", text)
    text = _BEARER.sub(rf"\1{HIDDEN}", text)
    text = _TOKEN.sub(HIDDEN, text)
    text = _BYTES.sub(HIDDEN, text)
    return _LONG_WORD.sub(_hide_long_word, text)


def _hide_long_word(match: re.Match[str]) -> str:
    word = match[0]
    has_digit = any(letter.isdigit() for letter in word)
    is_hex = re.fullmatch(r"[0-9a-fA-F]+", word) is not None
    is_mixed = word.lower() != word and word.upper() != word
    return HIDDEN if has_digit and (is_hex or is_mixed) else word


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time (UTC), level, logger, role, pid, message, the `extra` fields, traceback if any."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self._role = role

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "role": self._role,
            "pid": record.process,
            "message": hide_secrets(record.getMessage()),
        }
        for name, value in vars(record).items():
            if name not in _STANDARD and name not in line and not name.startswith("_"):  # Ray adds some of its own
                line[name] = _plain(name, value)
        if record.exc_info:
            line["traceback"] = hide_secrets(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


def _plain(name: str, value: object) -> object:
    if any(word in name.lower() for word in SECRET_WORDS):
        return HIDDEN
    if value is None or isinstance(value, bool | int | float):
        return value
    return hide_secrets(str(value))


class SentenceFormatter(logging.Formatter):
    """For people: level, role, sentence. A traceback stays in the file."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self._role = role

    def format(self, record: logging.LogRecord) -> str:
        more = " (details in the log)" if record.exc_info else ""
        return f"{record.levelname.lower()}: {self._role}: {hide_secrets(record.getMessage())}{more}"


class ToPeople(logging.StreamHandler[TextIO]):
    """What people are to see; on stderr once the stream that was given is closed: faults may come even then."""

    def emit(self, record: logging.LogRecord) -> None:
        if self.stream.closed:
            self.stream = sys.stderr
        super().emit(record)


class LogFile(RotatingFileHandler):
    """A log file that, when the disk is full, says so once on stderr and lets the platform go on."""

    _complained = False

    def handleError(self, record: logging.LogRecord) -> None:
        if not self._complained:
            self._complained = True
            reason = sys.exc_info()[1]
            sys.stderr.write(f"warning: the log {self.baseFilename} cannot be written ({reason}); going on without.\n")

    def close(self) -> None:
        with contextlib.suppress(OSError):  # what the full disk did not take before, it does not take now
            super().close()
