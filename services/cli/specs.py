"""What a tournament file says, as far as a person has to know it to read a plan or a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.tournament.spec import TournamentSpec


def describe_game(spec_yaml: str) -> str:
    """Profile, schedule, how luck is taken out and deals in a match, in one line; empty if that cannot be read."""
    spec = _read(spec_yaml)
    if spec is None:
        return ""
    deals = "1 deal" if spec.deals == 1 else f"{spec.deals} deals"
    return f"{spec.profile}, {spec.schedule.kind}, duplicate {spec.duplicate}, {deals} a match"


def describe_datum(spec_yaml: str) -> str:
    """What the means of a table are compared with, in a sentence; empty where they are the points."""
    from services.tournament.spec import Duplicate

    spec = _read(spec_yaml)
    held = {Duplicate.FIELD: "the others", Duplicate.PAR: "the house bot"}.get(spec.duplicate, "") if spec else ""
    return f"Means are less what {held} made of the same hands (duplicate: {spec.duplicate})." if spec and held else ""


def is_draw_open(spec_yaml: str) -> bool:
    """Whether pools are drawn by a lot that no seed settles yet."""
    from services.tournament.spec import Draw

    spec = _read(spec_yaml)
    stages = spec.schedule.stages if spec else None
    return spec is not None and stages is not None and stages.draw is Draw.LOT and spec.seed is None


def _read(spec_yaml: str) -> TournamentSpec | None:
    """None for a text of a platform of another version, which this one cannot read."""
    from services.tournament.spec import SpecError, parse_spec

    try:
        return parse_spec(spec_yaml)
    except SpecError:
        return None
