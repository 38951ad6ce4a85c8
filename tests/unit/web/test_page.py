"""The page shows what is there, and nothing that it shows can break it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html.parser import HTMLParser

import pytest

from services.common.errors import PlatformError, Reason
from services.ledger.values import TournamentState
from services.web.markup import VOID_ELEMENTS, element, join
from services.web.page import make_error_page, make_page
from services.web.watching import BotCard

from .platforms import Line, make_card

HOSTILE = "<script>alert('x')</script>\"&<img src=x onerror=alert(1)>"


class _Outline(HTMLParser):
    """The elements of a page; fails when they are not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in VOID_ELEMENTS:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_beans_and_titles_are_shown_where_there_are_some() -> None:
    card = make_card()
    rich = _Outline(make_page([card], card, [Line(title="护院", beans_per_deal=-12.5)], []))
    assert all(text in rich.text for text in ("Title", "护院", "Beans per deal", "−12.500"))
    plain = _Outline(make_page([card], card, [Line()], []))
    assert "Title" not in plain.text
    assert "Beans" not in plain.text


def test_deals_left_out_and_what_was_paid_are_shown_where_there_is_any() -> None:
    card = make_card()
    lines = [Line(name="a", counted=15, points_paid=8), Line(name="b")]
    outline = _Outline(make_page([card], card, lines, []))
    assert "15 of 20" in outline.text
    assert "Paid" in outline.text
    plain = _Outline(make_page([card], card, [Line()], []))
    assert "Paid" not in plain.text
    assert " of 20" not in plain.text


def test_who_has_no_deal_that_counts_has_neither_mean_nor_rank() -> None:
    card = make_card()
    lines = [Line(rank=1, name="a"), Line(rank=7, name="b", points_per_deal=0.0, low=None, high=None, counted=0)]
    outline = _Outline(make_page([card], card, lines, []))
    assert "–b–too few deals" in outline.text
    assert outline.tags.count("svg") == 1


@dataclass(frozen=True)
class Rated:
    value: float
    low: float | None = None
    high: float | None = None


def test_ratings_are_shown_where_there_are_any() -> None:
    card = make_card()
    lines = [
        Line(name="a", rating=Rated(0.5, 0.25, 0.75), openskill=21.24),
        Line(name="b", rating=Rated(-2.0), openskill=-3.5),
        Line(name="c"),
    ]
    rated = _Outline(make_page([card], card, lines, []))
    assert all(text in rated.text for text in ("Rating", "OpenSkill", "+0.500 ± 0.25", "21.2", "−2.000"))
    assert "Rating" not in _Outline(make_page([card], card, [Line()], [])).text


def test_every_pool_has_its_table_and_the_final_says_where_its_bots_come_from() -> None:
    card = make_card()
    pools = _Outline(make_page([card], card, [Line(pool=1, name="ann"), Line(pool=1), Line(pool=2, name="eva")], []))
    assert pools.text.index("Pool 1 of spring") < pools.text.index("ann") < pools.text.index("Pool 2 of spring")
    assert (pools.tags.count("table"), "Went on" in pools.text) == (3, False)
    card = make_card(qualified=("ann (1. of pool 1)", f"{HOSTILE} (2. of pool 2)"))
    final = _Outline(make_page([card], card, [Line(name="ann")], []))
    assert "Final of spring" in final.text
    assert f"Went on from the pools: ann (1. of pool 1), {HOSTILE} (2. of pool 2)." in final.text


def test_an_empty_platform_says_how_to_begin() -> None:
    outline = _Outline(make_page([], None, [], []))
    assert "None yet. Start one with: baohuang tournament run SPEC" in outline.text
    assert "Bots: 0 of 0 here" in outline.text


def test_the_page_shows_tournaments_standings_and_bots() -> None:
    card = make_card(message="Two match services.", missing_bots=("late", "later"))
    lines = [
        Line(1, "greedy", 0.5, 0.25, 0.75, 10, 20, 0),
        Line(2, "random", -1.25, None, None, 10, 20, 7),
    ]
    bots = [BotCard("random", "bea", "1", attending=False), BotCard("greedy", "ann", "2.0", attending=True)]
    page = make_page([card, make_card("winter", state=TournamentState.FINISHED, matches_done=300)], card, lines, bots)
    outline = _Outline(page)
    for text in (
        "120 / 300 (+8)",
        "40 %",
        "100 %",
        "Two match services. Waiting for: late, later",
        "Standings of spring",
    ):
        assert text in outline.text
    for text in ("+0.500", "+0.250 … +0.750", "−1.250", "too few deals", "Bots: 1 of 2 here"):
        assert text in outline.text
    assert outline.text.index("greedy", outline.text.index("Bots:")) < outline.text.rindex("random"), "those here first"
    assert re.search(r'<meta http-equiv="refresh" content="5">', page)
    assert {"/metrics", "/sd", "/?tournament=winter"} <= set(re.findall(r'href="([^"]*)"', page))


def test_all_intervals_of_a_table_share_one_axis() -> None:
    card = make_card()
    page = make_page([card], card, [Line(1, "a", 1.0, 0.0, 2.0), Line(2, "b", -1.0, -2.0, 0.0)], [])
    dots = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', page)]
    zeros = {float(x) for x in re.findall(r'class="zero" x1="([\d.]+)"', page)}
    assert len(zeros) == 1
    zero = zeros.pop()
    assert dots[0] - zero == pytest.approx(zero - dots[1])
    assert dots[0] > zero


def test_who_has_entered_an_open_tournament_is_shown_and_how_to_enter() -> None:
    card = replace(make_card("hall"), state=TournamentState.OPEN, entrants=("ada", HOSTILE), least=5, most=40)
    text = _Outline(make_page([card], card, [], [])).text
    assert "2 entered, 5 to 40 may play." in text
    assert "Entrants of hall" in text
    assert HOSTILE in text
    assert "baohuang bot enter hall" in text
    nobody = _Outline(make_page([card], replace(card, entrants=()), [], [])).text
    assert "Nobody has entered yet." in nobody


def test_a_tournament_without_results_says_so() -> None:
    card = make_card(matches=0, matches_done=0)
    assert "No match has a result yet." in _Outline(make_page([card], card, [], [])).text


def test_names_of_strangers_stay_text() -> None:
    card = make_card(HOSTILE, message=HOSTILE, missing_bots=(HOSTILE,))
    tame = make_card("x", message="x", missing_bots=("x",))

    def show(name: str) -> str:
        shown = card if name == HOSTILE else tame
        return make_page([shown], shown, [Line(name=name)], [BotCard(name, name, name, attending=True)])

    hostile, harmless = _Outline(show(HOSTILE)), _Outline(show("x"))
    assert hostile.tags == harmless.tags, "no element more"
    assert hostile.text.count(HOSTILE) >= 5


def test_an_error_page_says_what_to_do_next_and_does_not_reload() -> None:
    page = make_error_page(PlatformError(Reason.TOURNAMENT_UNKNOWN, f"There is no tournament called {HOSTILE}."))
    outline = _Outline(page)
    assert HOSTILE in outline.text
    assert "baohuang tournament list" in outline.text
    assert "script" not in outline.tags
    assert "http-equiv" not in page


def test_markup_escapes_whatever_it_did_not_make_itself() -> None:
    inner = element("b", "<i>")
    assert inner == "<b>&lt;i&gt;</b>"
    assert (
        element("p", inner, " & ", 3, class_='a"b', data_x=None) == '<p class="a&quot;b"><b>&lt;i&gt;</b> &amp; 3</p>'
    )
    assert join(inner, str(inner)) == f"{inner}&lt;b&gt;&amp;lt;i&amp;gt;&lt;/b&gt;"
    assert type(inner + "<i>") is str, "a sum is no markup"
