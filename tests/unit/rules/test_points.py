"""Points, tribute, beans and titles: the tables of rules 6 and 7."""

from __future__ import annotations

import pytest

from bots_sdk.rules.beans import settle
from bots_sdk.rules.events import Declaration, SoloKind, Tribute
from bots_sdk.rules.options import Options
from bots_sdk.rules.profiles import PROFILES, make_options
from bots_sdk.rules.scoring import Standing, points_of
from bots_sdk.rules.titles import title_of
from bots_sdk.rules.tribute import cards_of, tribute_of

QINGDAO = PROFILES["bean-qingdao"]


def standing(emperor_place: int, guard_place: int | None = None, **declared: object) -> Standing:
    """Seat 0 is emperor, seat 1 guard; the others go out in the order 2, 3, 4."""
    places: list[int | None] = [None] * 5
    places[emperor_place - 1] = 0
    rest = [1, 2, 3, 4]
    if guard_place is not None:
        places[guard_place - 1] = 1
        rest = [2, 3, 4]
    order = tuple(rest.pop(0) if seat is None else seat for seat in places)
    return Standing(order, 0, None if guard_place is None else 1, **declared)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("emperor", "guard", "margin"),
    [(1, 2, 3), (3, 1, 2), (1, 4, 1), (3, 2, 1), (5, 1, 0), (2, 4, 0), (2, 5, -1), (4, 3, -1), (3, 5, -2), (5, 4, -3)],
)
def test_points_of_emperor_guard_and_rebels(emperor: int, guard: int, margin: int) -> None:
    assert points_of(Options(), standing(emperor, guard)) == (2 * margin, margin, -margin, -margin, -margin)


def test_a_reveal_and_a_rebellion_double() -> None:
    for declaration in (Declaration.REVEAL, Declaration.REBELLION):
        assert points_of(Options(), standing(1, 2, declaration=declaration)) == (12, 6, -6, -6, -6)


def test_after_a_kick_emperor_and_guard_share_evenly() -> None:
    kicked = standing(1, 4, declaration=Declaration.REVEAL, kicked=True)
    assert points_of(Options(), kicked) == (6, 6, -4, -4, -4)


@pytest.mark.parametrize(("kind", "score"), [(SoloKind.GRAB, 40), (SoloKind.BRIGHT, 32), (SoloKind.DARK, 24)])
def test_solo_scores(kind: SoloKind, score: int) -> None:
    options = PROFILES["qingdao"]
    quarter = score // 4
    assert points_of(options, standing(1, solo=kind)) == (score, *[-quarter] * 4)
    assert points_of(options, standing(2, solo=kind)) == (-score, *[quarter] * 4)


def test_a_dark_solo_in_second_place_may_be_a_draw() -> None:
    second = standing(2, solo=SoloKind.DARK)
    assert points_of(Options(), second) == (0, 0, 0, 0, 0)
    assert points_of(Options(), standing(2, solo=SoloKind.BRIGHT)) == (-24, 6, 6, 6, 6)
    assert tribute_of(QINGDAO, second) == Tribute((), ())


def test_a_dark_solo_is_doubled_by_rebellion_and_kick() -> None:
    fought = standing(1, solo=SoloKind.DARK, declaration=Declaration.REBELLION, kicked=True)
    assert points_of(Options(), fought) == (48, -12, -12, -12, -12)


@pytest.mark.parametrize(
    ("emperor", "guard", "pay", "take"),
    [
        (1, 2, ((2, 1), (3, 1), (4, 1)), ((0, 2), (1, 1))),
        (3, 1, ((3, 1), (4, 1)), ((0, 1), (1, 1))),
        (1, 4, ((4, 1),), ((0, 1),)),
        (2, 3, ((4, 1),), ((0, 1),)),
        (1, 5, (), ()),
        (2, 4, (), ()),
        (5, 2, ((0, 1),), ((2, 1),)),
        (4, 3, ((0, 1), (1, 1)), ((2, 1), (3, 1))),
        (3, 5, ((0, 2), (1, 1)), ((2, 1), (3, 1), (4, 1))),
        (5, 4, ((0, 4), (1, 2)), ((2, 2), (3, 2), (4, 2))),
        (1, None, ((1, 1), (2, 1), (3, 1), (4, 1)), ((0, 4),)),
        (3, None, ((0, 4),), ((1, 1), (2, 1), (3, 1), (4, 1))),
    ],
)
def test_tribute_table(
    emperor: int, guard: int | None, pay: tuple[tuple[int, int], ...], take: tuple[tuple[int, int], ...]
) -> None:
    solo = SoloKind.BRIGHT if guard is None else None
    owed = tribute_of(QINGDAO, standing(emperor, guard, solo=solo))
    assert owed == Tribute(pay, take)
    assert cards_of(owed) == sum(cards for _, cards in take)


def test_beans_are_shared_by_points_and_stakes() -> None:
    settled = settle(PROFILES["bean"], standing(1, 2), room=10, stakes=(1, 2, 1, 1, 2), tribute_cards=0)
    assert (settled.total, settled.game) == (10 * 9 * 4, 1)
    assert settled.beans == (180, 180, -90, -90, -180)


def test_six_tribute_cards_multiply_beans_by_twelve() -> None:
    settled = settle(QINGDAO, standing(4, 5), room=1, stakes=(1,) * 5, tribute_cards=6)
    assert settled.game == 12
    assert settled.beans == (-72, -36, 36, 36, 36)


def test_shares_are_rounded_half_away_from_zero() -> None:
    settled = settle(make_options("bean"), standing(1, 4), room=1, stakes=(1, 1, 3, 2, 3), tribute_cards=0)
    # 54 among 3 : 2 : 3 is 20.25, 13.5 and 20.25.
    assert settled.beans == (36, 18, -20, -14, -20)


@pytest.mark.parametrize(
    ("points", "title"),
    [
        (-7, "家丁"),
        (0, "家丁"),
        (39, "家丁"),
        (40, "极品家丁"),
        (9999, "追命捕快"),
        (10000, "侍卫"),
        (999999, "起义军"),
    ],
)
def test_titles(points: int, title: str) -> None:
    assert title_of(points) == title
