"""A missing or damaged vector file is an error, never a skip; a second folder is taken in beside the first."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from tests.vectors.vector_files import OWN, folders, groups, read


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path, "deals")


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    whole = (OWN / "beats.jsonl.gz").read_bytes()
    (tmp_path / "beats.jsonl.gz").write_bytes(whole[:-100])
    with pytest.raises(EOFError):
        read(tmp_path, "beats")


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "beats.jsonl.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(ValueError, match="no vectors"):
        read(tmp_path, "beats")


def test_a_second_folder_is_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BAOHUANG_VECTORS", raising=False)
    before = groups("beats", "overrides")
    shutil.copy(OWN / "beats.jsonl.gz", tmp_path / "beats.jsonl.gz")
    monkeypatch.setenv("BAOHUANG_VECTORS", str(tmp_path))
    assert folders() == [OWN, tmp_path]
    assert len(groups("beats", "overrides")) == 2 * len(before)


@pytest.mark.parametrize("name", ["deals", "beats", "settlements"])
def test_a_second_folder_that_lacks_a_file_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        monkeypatch.setenv("BAOHUANG_VECTORS", str(folder))
        with pytest.raises(FileNotFoundError):
            groups(name, "profile")


def test_a_line_that_is_none_is_an_error(tmp_path: Path) -> None:
    with gzip.open(OWN / "beats.jsonl.gz", "rb") as lines:
        first = lines.readline()
    for line in (b"{not json\n", b"\n"):
        (tmp_path / "beats.jsonl.gz").write_bytes(gzip.compress(first + line))
        with pytest.raises(ValueError, match="Expecting"):
            read(tmp_path, "beats")
