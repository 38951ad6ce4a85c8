"""The one page: tournaments, the standings of one of them, and the bots."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from services.common.errors import PlatformError
from services.common.version import SERVER_VERSION
from services.ledger.values import TournamentState
from services.web.markup import Markup, element, join, style_sheet
from services.web.watching import BotCard, StandingLine, TournamentCard

REFRESH_SECONDS = 5
CHART_WIDTH, CHART_HEIGHT = 220, 16

_CSS = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
_CSS_HASH = base64.b64encode(hashlib.sha256(_CSS.encode()).digest()).decode()
CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_CSS_HASH}'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing is loaded and no script runs, whatever a bot calls itself."""


def make_page(
    tournaments: Sequence[TournamentCard],
    shown: TournamentCard | None,
    standings: Sequence[StandingLine],
    bots: Sequence[BotCard],
) -> str:
    """The whole page; `standings` are those of the tournament `shown`, if there is one."""
    sections = [_tournaments(tournaments, shown)]
    if shown is not None:
        is_open = shown.state is TournamentState.OPEN
        sections += [_entrants(shown)] if is_open else _tables(shown, standings)
    sections.append(_bots(bots))
    return _document("Baohuang Arena", join(*sections), refresh=REFRESH_SECONDS)


def make_error_page(error: PlatformError) -> str:
    """A page that says what is wrong and what to do next."""
    link = element("a", "Back to all tournaments", href="/")
    text = join(element("p", error.message), element("p", error.next_step, class_="soft"), element("p", link))
    return _document("Baohuang Arena", element("section", text), refresh=None)


def _document(title: str, body: Markup, refresh: int | None) -> str:
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        style_sheet(_CSS),
    ]
    if refresh is not None:
        head.append(element("meta", http_equiv="refresh", content=refresh))
    heading = element("h1", element("span", "保皇"), " Baohuang Arena")
    scraped = [element("a", path, href=path) for path in ("/metrics", "/sd")]
    footer = element("footer", "Version ", SERVER_VERSION, " · ", scraped[0], " · ", scraped[1], class_="soft")
    content = join(element("header", heading), element("main", body), footer)
    return "<!doctype html>\n" + element("html", element("head", *head), element("body", content), lang="en")


def _tournaments(tournaments: Sequence[TournamentCard], shown: TournamentCard | None) -> Markup:
    if not tournaments:
        nothing = "None yet. Start one with: baohuang tournament run SPEC"
        return _section("Tournaments", element("p", nothing, class_="soft"))
    head = _row("th", ("Name", ""), ("State", ""), ("Progress", ""), ("Matches", "number"), ("Deals", "number"),
                ("Played again", "number"), ("Faults", "number"))  # fmt: skip
    rows = [_tournament_row(card, card is shown) for card in tournaments]
    return _section("Tournaments", _table(head, rows))


def _tournament_row(card: TournamentCard, is_shown: bool) -> Markup:
    link = element("a", card.name, href=f"/?tournament={quote(card.name, safe='')}")
    remark = card.message
    if card.missing_bots:
        remark = f"{remark} Waiting for: {', '.join(card.missing_bots)}".strip()
    if card.state is TournamentState.OPEN:
        remark = f"{len(card.entrants)} entered, {card.least} to {card.most} may play. {remark}".strip()
    state = element("span", card.state.value, class_=f"state {card.state.value}")
    progress = element("progress", value=card.matches_done, max=max(card.matches, 1))
    running = f" (+{card.matches_running})" if card.matches_running else ""
    cells = [
        element("td", link, element("div", remark, class_="soft") if remark else "", class_="name"),
        element("td", state),
        element("td", progress, f" {_percent(card.matches_done, card.matches)}"),
        _number(f"{card.matches_done} / {card.matches}{running}"),
        _number(card.deals_done),
        _number(card.attempts_void),
        _number(card.faults),
    ]
    return element("tr", *cells, class_="shown" if is_shown else None)


def _entrants(shown: TournamentCard) -> Markup:
    title = f"Entrants of {shown.name}"
    how = f"It is open: bots enter with `baohuang bot enter {shown.name}`."
    if not shown.entrants:
        return _section(title, element("p", f"Nobody has entered yet. {how}", class_="soft"))
    names = [element("li", name) for name in shown.entrants]
    return _section(title, element("ul", *names, class_="bots"), element("p", how, class_="soft"))


def _tables(shown: TournamentCard, standings: Sequence[StandingLine]) -> list[Markup]:
    """The table, or with pools that of each; of a final also who has gone on to it, and from where."""
    if not standings:
        return [_standings(f"Standings of {shown.name}", ())]
    what = "Final" if shown.qualified else "Standings"
    tables = [
        _standings(f"Pool {pool} of {shown.name}" if pool else f"{what} of {shown.name}", list(lines))
        for pool, lines in groupby(standings, lambda line: line.pool)
    ]
    if shown.qualified:
        tables.append(element("p", "Went on from the pools: ", ", ".join(shown.qualified), ".", class_="soft"))
    return tables


def _standings(title: str, standings: Sequence[StandingLine]) -> Markup:
    if not standings:
        return _section(title, element("p", "No match has a result yet.", class_="soft"))
    # A column of beans or titles is there where the tournament has them.
    beans = [("Beans per deal", "number")] if any(line.beans_per_deal is not None for line in standings) else []
    titles = [("Title", "")] if any(line.title for line in standings) else []
    has_paid = any(line.points_paid for line in standings)
    paid = [("Paid", "number")] if has_paid else []
    has_ratings = any(line.rating is not None for line in standings)
    ratings = [("Rating", "number"), ("OpenSkill", "number")] if has_ratings else []
    head = _row("th", ("", "number"), ("Bot", ""), *titles, ("Points per deal", "number"), ("95 % interval", "number"),
                ("", ""), *beans, *ratings, ("Matches", "number"), ("Deals", "number"), ("Faults", "number"),
                *paid)  # fmt: skip
    edge = max((abs(end) for line in standings for end in _ends(line)), default=0.0) or 1.0
    rows = [_standing_row(line, edge, has_paid=has_paid, has_ratings=has_ratings) for line in standings]
    return _section(title, _table(head, rows))


def _standing_row(line: StandingLine, edge: float, *, has_paid: bool, has_ratings: bool) -> Markup:
    low, high = line.low, line.high
    interval = "too few deals" if low is None or high is None else f"{_signed(low)} … {_signed(high)}"
    return element(
        "tr",
        _number(line.rank if line.counted else "–"),
        element("td", line.name, class_="name"),
        *([element("td", line.title)] if line.title else []),
        # Without a deal that counts there is no mean, and no rank by it.
        _number(_signed(line.points_per_deal) if line.counted else "–"),
        _number(interval),
        element("td", _chart(line, edge) if line.counted else ""),
        *([_number(_signed(line.beans_per_deal) if line.counted else "–")] if line.beans_per_deal is not None else []),
        *(_ratings_of(line) if has_ratings else []),
        _number(line.matches),
        _number(line.deals if line.counted == line.deals else f"{line.counted} of {line.deals}"),
        _number(line.faults),
        *([_number(line.points_paid)] if has_paid else []),
    )


def _ratings_of(line: StandingLine) -> list[Markup]:
    rating, openskill = line.rating, line.openskill
    if rating is None:
        shown = "–"
    elif rating.low is None or rating.high is None:
        shown = _signed(rating.value)
    else:
        shown = f"{_signed(rating.value)} ± {(rating.high - rating.low) / 2:.2f}"
    return [_number(shown), _number("–" if openskill is None else f"{openskill:.1f}")]


def _chart(line: StandingLine, edge: float) -> Markup:
    """The mean as a dot on its interval; every line of a table has the same axis, from -edge to edge."""

    def place(points: float) -> str:
        return f"{(points / edge + 1) / 2 * (CHART_WIDTH - 12) + 6:.1f}"

    middle = CHART_HEIGHT // 2
    zero = element("line", class_="zero", x1=place(0), x2=place(0), y1=0, y2=CHART_HEIGHT)
    ends = _ends(line)
    whisker = element("line", x1=place(min(ends)), x2=place(max(ends)), y1=middle, y2=middle)
    dot = element("circle", cx=place(line.points_per_deal), cy=middle, r=4)
    return element("svg", zero, whisker, dot, width=CHART_WIDTH, height=CHART_HEIGHT, aria_hidden="true")


def _ends(line: StandingLine) -> tuple[float, ...]:
    ends = (line.points_per_deal, line.low, line.high)
    return tuple(end for end in ends if end is not None)


def _bots(bots: Sequence[BotCard]) -> Markup:
    here = sum(bot.attending for bot in bots)
    title = f"Bots: {here} of {len(bots)} here"
    if not bots:
        return _section(title, element("p", "None has registered yet.", class_="soft"))
    cards = [
        element("li", bot.name, title=f"{bot.owner} {bot.version}".strip(), class_="here" if bot.attending else "away")
        for bot in sorted(bots, key=lambda bot: (not bot.attending, bot.name))
    ]
    return _section(title, element("ul", *cards, class_="bots"))


def _section(title: str, *content: Markup) -> Markup:
    return element("section", element("h2", title), *content)


def _table(head: Markup, rows: Sequence[Markup]) -> Markup:
    return element("table", element("thead", head), element("tbody", *rows))


def _row(cell: str, *texts: tuple[str, str]) -> Markup:
    return element("tr", *(element(cell, text, class_=kind or None) for text, kind in texts))


def _number(value: str | int) -> Markup:
    return element("td", value, class_="number")


def _percent(part: int, whole: int) -> str:
    """Rounded down: 100 % only when all is done."""
    return f"{100 * part // whole if whole else 0} %"


def _signed(points: float) -> str:
    return f"{points:+.3f}".replace("-", "−")
