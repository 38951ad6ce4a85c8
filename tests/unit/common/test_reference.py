"""docs/errors.md and docs/metrics.md say what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from bots_sdk.rules.errors import Refusal
from services.common import reference
from services.common.errors import Reason


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    committed = (reference.DOCS / name).read_text(encoding="utf-8")
    assert committed == reference.PAGES[name](), f"docs/{name} is out of date: run {reference.COMMAND}"


def test_every_reason_and_refusal_is_explained() -> None:
    page = reference.format_errors()
    for reason in Reason:
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{reason.wire_name}` |")]
        assert all(cell.strip() for cell in row.strip("|").split("|"))
    assert list(reference.REFUSALS) == list(Refusal)


def test_check_writes_nothing_and_writing_makes_the_check_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "DOCS", tmp_path)
    run = CliRunner().invoke
    stale = run(reference.main, ["--check"])
    assert (stale.exit_code, list(tmp_path.iterdir())) == (1, [])
    assert stale.output.startswith("out of date: docs/errors.md, docs/metrics.md;")
    assert run(reference.main, []).exit_code == 0
    assert run(reference.main, ["--check"]).exit_code == 0
    (tmp_path / "errors.md").write_text("something else")
    assert run(reference.main, ["--check"]).exit_code == 1
