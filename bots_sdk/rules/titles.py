"""The titles of accumulated points, text 004 (docs/rules.md, part 7)."""

from __future__ import annotations

TITLES: tuple[tuple[int, str], ...] = (
    (0, "家丁"),
    (40, "极品家丁"),
    (100, "护院"),
    (220, "高级护院"),
    (360, "拳师"),
    (500, "至尊拳师"),
    (700, "镖头"),
    (1200, "无敌镖头"),
    (2000, "衙役"),
    (3200, "终极衙役"),
    (5000, "捕快"),
    (7000, "追命捕快"),
    (10000, "侍卫"),
    (14000, "卧底侍卫"),
    (18000, "御卫"),
    (24000, "带刀御卫"),
    (30000, "密探"),
    (38000, "大内密探"),
    (45000, "宠臣"),
    (55000, "改良派"),
    (72000, "维新派"),
    (96000, "觉醒者"),
    (120000, "新青年"),
    (150000, "革命党"),
    (200000, "起义军"),
)
"""Points from which on a title is held, and the title."""


def title_of(points: int) -> str:
    """The title of accumulated points; below 0 the first."""
    title = TITLES[0][1]
    for least, name in TITLES:
        if points >= least:
            title = name
    return title
