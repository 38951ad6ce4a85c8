"""A short deal told in full: every event, and at every step all that each of the five seats can know of it."""

from __future__ import annotations

from pathlib import Path

from bots_sdk.rules.cards import SEATS, format_card, format_cards
from bots_sdk.rules.deal import Deal
from bots_sdk.rules.deal_notation import WrittenDeal, format_deal
from bots_sdk.rules.events import Event, HandDealt, Played, Tribute
from bots_sdk.rules.notation import format_answer, format_hand
from bots_sdk.rules.phases import Phase
from bots_sdk.rules.public import PublicState
from bots_sdk.rules.view import View

FOLDER = Path(__file__).parent


def transcript_path(profile: str) -> Path:
    return FOLDER / f"{profile}.txt"


def tell(written: WrittenDeal) -> str:
    """The whole transcript; the views are folded from events, as a bot does it, and not those of the server."""
    deal, events = written.start()
    views = [View(written.options, seat) for seat in range(SEATS)]
    lines = ["# What is known, step by step. Written by: python -m tests.transcripts.write", format_deal(written)]
    lines += _told(deal, views, events)
    for step, (seat, answer) in enumerate(written.answers, 1):
        lines += ["", f"=== {step}: seat {seat} {format_answer(answer)}"]
        views[seat].note_answered()
        lines += _told(deal, views, deal.answer(seat, answer))
    return "\n".join(lines) + "\n"


def _told(deal: Deal, views: list[View], events: list[Event]) -> list[str]:
    lines = []
    for event in events:
        lines.append(f"event {_event(event)}")
        for view in views:
            view.apply(event)
            if type(event).__name__ == "DealStarted":
                view.apply(HandDealt(deal.hand(view.seat)))
    public = {_public(view.public) for view in views}
    assert len(public) == 1, "what is public must be the same for all"
    return [*lines, *public, *(_seat(view) for view in views)]


def _event(event: Event) -> str:
    fields = zip(event._fields, event, strict=True)
    return " ".join([type(event).__name__, *(f"{name}={_value(name, value)}" for name, value in fields)])


def _value(name: str, value: object) -> str:
    if isinstance(value, bytes):
        return f"[{format_cards(value)}]"
    if name in ("card", "sticker", "face") and isinstance(value, int):
        return format_card(value)
    if isinstance(value, Tribute):
        return f"pay{value.pay} take{value.take}".replace(" ", "")
    if isinstance(value, tuple):
        return "(" + ",".join(_value(name, item) for item in value) + ")"
    return str(getattr(value, "name", value)).lower()


def _public(public: PublicState) -> str:
    told = [f"public {public.phase.name.lower()}", f"asked={_value('', public.asked)}", f"sizes={tuple(public.sizes)}"]
    for name in ("emperor", "guard", "solo", "declaration", "owner", "leader"):
        told.append(f"{name}={_value(name, getattr(public, name))}")
    if public.called is not None:
        told.append(f"called={format_card(public.called)}")
    for name in ("pool", "stickers", "table_cards"):
        if cards := getattr(public, name):
            told.append(f"{name}=[{format_cards(cards)}]")
    for name in ("passes", "yielded", "claims", "locked", "second_circle", "kicked", "special_played", "out"):
        if value := getattr(public, name):
            told.append(f"{name}={_value(name, value)}")
    trick = [f"{play.seat}:{_play(play)}" for play in public.trick]
    return " ".join([*told, f"stakes={_value('', public.stakes)}", *(["trick", *trick] if trick else [])])


def _play(play: Played) -> str:
    return ("!" if play.special else "") + "-".join(format_hand(play.cards).split())


def _seat(view: View) -> str:
    told = [f"  seat {view.seat} [{format_hand(view.hand)}]", *_roles(view)]
    if not view.asked:
        return " ".join([*told, "waits" if view.answered else ""]).rstrip()
    legal = ", ".join(format_answer(answer) for answer in view.legal())
    return " ".join([*told, f"may: {legal}; default: {format_answer(view.default())}"])


def _roles(view: View) -> list[str]:
    if view.public.emperor is None or view.phase < Phase.DECLARE:
        return []
    role = "emperor" if view.is_emperor else "guard" if view.is_guard else "rebel"
    sides = "".join({None: "?", True: "+", False: "-"}[view.on_my_side(other)] for other in range(SEATS))
    return [role + " alone" * view.is_alone, f"sides={sides}", f"guard={_value('', view.guard)}"]
