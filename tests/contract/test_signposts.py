"""Where people are sent by the documentation and by the Makefile, there is something."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *ROOT.glob("deploy/*/*.md"),
]
ROOMS = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
PATH = re.compile(r"`([a-z_]+(?:/[\w.-]+)*/?)`")
LINK = re.compile(r"\]\((?!https?://)([^)#]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_and_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    paths = [path for path in PATH.findall(text) if "/" in path and path.partition("/")[0] in ROOMS]
    lost = [path for path in paths if not (ROOT / path).exists()]
    lost += [link for link in LINK.findall(text) if not (page.parent / link).exists()]
    assert not lost


def test_contributing_tells_of_every_folder_of_tests() -> None:
    folders = {f"tests/{path.parent.name}" for path in (ROOT / "tests").glob("*/*.py")}
    told = set(PATH.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    assert folders <= {path.rstrip("/") for path in told}


def test_make_bench_runs_every_benchmark() -> None:
    (named,) = re.findall(
        r"for name in (.*?); do .*?benchmarks\.\$\$name", (ROOT / "Makefile").read_text(encoding="utf-8")
    )
    assert sorted(named.split()) == sorted(path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py"))
