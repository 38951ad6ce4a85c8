"""`baohuang ledger check` and `export` as they are typed: exit codes, sentences, files."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from services.cli.ledgers import ledger
from services.common.matches import DealScore
from services.ledger.ledger import Ledger
from services.ledger.values import TournamentState
from tests.unit.ledger.outcomes import make_outcome

SPEC = """
name: cup
profile: classic
bots: [alpha, beta, gamma, delta, epsilon]
schedule: {kind: full}
duplicate: none
deals: 2
"""
SEED = b"a seed that nobody may see"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with a ledger: one match of two deals, played and finished."""
    folder = tmp_path / "data"
    folder.mkdir()
    with Ledger.open(folder / "ledger.db") as opened:
        opened.create_tournament("cup", SPEC, SEED, state=TournamentState.FINISHED)
        deals = tuple(DealScore(number, (8, -2, -2, -2, -2), (0, 1, 2, 3, 4), 0, 1, None) for number in (0, 1))
        opened.record([replace(make_outcome(0), deals=deals)])
    return folder


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(ledger, arguments)
    assert result.exit_code == code, result.output
    return result


def test_a_ledger_that_fits_ends_with_0(data: Path) -> None:
    assert (
        "Everything fits: 1 tournaments, 1 results, 2 deals, 0 records, 1 results have none."
        in run("check", "--data", str(data)).output
    )


def test_what_does_not_fit_is_listed_and_ends_with_3(data: Path) -> None:
    with closing(sqlite3.connect(data / "ledger.db")) as file, file:
        file.execute("UPDATE deals SET points_0 = 9 WHERE deal = 1")
    result = run("check", "--data", str(data), code=3)
    assert "cup: match 0, deal 1: its points 9 -2 -2 -2 -2 add up to 1, not to 0" in result.output
    assert "One thing does not fit" in result.output
    lines = run("check", "--data", str(data), "--json", code=3).stdout.splitlines()
    assert json.loads(lines[0])["where"] == "match 0, deal 1"


def test_a_match_that_is_missing_is_found_by_the_specification(data: Path) -> None:
    with closing(sqlite3.connect(data / "ledger.db")) as file, file:
        file.execute("UPDATE tournaments SET spec_yaml = replace(spec_yaml, 'kind: full', 'kind: full, repeats: 3')")
    assert "cup: results: it is finished with 1 of 3 matches" in run("check", "--data", str(data), code=3).output


@pytest.mark.parametrize("verb", [("check",), ("export", "out")])
def test_what_cannot_be_read_ends_with_1_and_one_sentence(tmp_path: Path, data: Path, verb: tuple[str, ...]) -> None:
    elsewhere = str(tmp_path / "nowhere")
    assert "There is no ledger in" in run(*verb, "--data", elsewhere, code=1).output
    assert "no tournament named 'x'" in run(*verb, "--data", str(data), "--tournament", "x", code=1).output
    url = "postgresql://arena:s3cret@127.0.0.1:1/x"
    assert "list of processes" in run(*verb, "--ledger", url, code=2).output
    (tmp_path / "url").write_text(url + "?connect_timeout=2")
    output = run(*verb, "--ledger", f"@{tmp_path / 'url'}", code=1).output
    assert "postgresql://arena@127.0.0.1:1/x cannot be reached" in output
    assert "s3cret" not in output


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_tables_are_written_with_names_and_nothing_secret(tmp_path: Path, data: Path, form: str) -> None:
    folder = tmp_path / "out" / "deep"
    run("export", str(folder), "--data", str(data), "--format", form)
    names = sorted(path.name for path in folder.iterdir())
    played = ("attempts", "deals", "faults", "results", "tournaments")
    decided = ("entries", "exclusions", "qualifiers", "retractions")
    assert names == sorted(f"{name}.{form}" for name in (*played, *decided))
    assert b"epsilon" in (folder / f"deals.{form}").read_bytes()
    assert all(SEED not in path.read_bytes() for path in folder.iterdir())
    assert "it is there already" in run("export", str(folder), "--data", str(data), "--format", form, code=1).output


@pytest.mark.parametrize("state", [TournamentState.DRAFT, TournamentState.OPEN, TournamentState.CANCELLED])
def test_what_was_never_started_fits_and_is_exported(data: Path, tmp_path: Path, state: TournamentState) -> None:
    head = "name: hall\nprofile: classic\ndeals: 2\nentries: {min: 10}\n"
    spec = head + "schedule: {kind: rounds, rounds: 2}\nduplicate: field\n"
    with Ledger.open(data / "ledger.db") as opened:
        opened.create_tournament("hall", spec, SEED, state=state, entrants=["ada"])
    assert "Everything fits: 2 tournaments" in run("check", "--data", str(data)).output
    run("export", str(tmp_path / "out"), "--data", str(data), "--format", "jsonl")
    (entry,) = (tmp_path / "out" / "entries.jsonl").read_text().splitlines()
    assert (json.loads(entry)["tournament"], json.loads(entry)["bot"]) == ("hall", "ada")
