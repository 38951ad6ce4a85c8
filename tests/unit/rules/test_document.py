"""What docs/rules.md says of options, titles and itself is what the code does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bots_sdk.rules.options import OPTION_NAMES, Options
from bots_sdk.rules.profiles import PROFILES, format_options
from bots_sdk.rules.titles import TITLES

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
PARAGRAPHS = set(re.findall(r"^(\d+\.\d+) ", DOCUMENT, re.MULTILINE))
_CITATION = re.compile(r"[Rr]ules?(?:\.md`?)?,? (\d+\.\d+(?:(?:,| to| and) \d+\.\d+)*)")
_TOGETHER = "rebellion, kick"
"""Two options that share a line of the table."""


def test_the_table_of_profiles_is_that_of_the_code() -> None:
    header, _, *lines = (
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in DOCUMENT.partition("## 9.")[2].partition("## 10.")[0].splitlines()
        if line.startswith("|")
    )
    assert header == ["option", "bare", *PROFILES]
    ways = [Options(), *PROFILES.values()]
    for name, *cells in lines:
        for option in name.split(", ") if name == _TOGETHER else [name]:
            told = [cell or cells[0] for cell in cells]  # empty: as in the bare options
            assert told == [_written(format_options(way)[option]) for way in ways], option
    in_table = {option for name, *_ in lines for option in name.split(", ")}
    elsewhere = set(re.findall(r"`(\w+)`", DOCUMENT.partition("Off everywhere unless")[2].partition("9.2")[0]))
    assert in_table | elsewhere == set(OPTION_NAMES)
    for option in elsewhere:
        assert len({str(format_options(way)[option]) for way in ways}) == 1, option


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "–"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def test_the_titles_are_those_of_the_code() -> None:
    told = re.findall(r"(\w+) ([\d,]+)[,.]", DOCUMENT.partition("7.4 ")[2].partition("## 8.")[0])
    assert [(int(points.replace(",", "")), title) for title, points in told] == list(TITLES)


def test_every_paragraph_that_is_cited_is_there() -> None:
    """Code and tests cite the numbers: (rules 5.12), (rule 2.4), rules 5.2 to 5.7."""
    cited = set(_cited())
    assert len(cited) > 25
    assert cited <= PARAGRAPHS, cited - PARAGRAPHS


def _cited() -> Iterator[str]:
    for folder in ("bots_sdk", "services", "tests", "proto/baohuang", "docs"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".proto", ".md"):
                for found in _CITATION.findall(path.read_text(encoding="utf-8")):
                    yield from re.findall(r"\d+\.\d+", found)


def test_what_is_decided_names_the_paragraphs_it_is_about() -> None:
    decided = DOCUMENT.partition("## 12.")[2]
    lines = [line.strip("| ").split(" | ") for line in decided.splitlines() if line.startswith("| ")][1:]
    assert len(lines) > 15
    for where, what, why in lines:
        assert set(re.findall(r"\d+\.\d+", where)) <= PARAGRAPHS, where
        assert what
        assert why
