"""HTML that cannot be broken by what it shows: every text is escaped unless it is HTML made here."""

from __future__ import annotations

import html


class Markup(str):
    """HTML made by `element`; nobody else makes any."""

    __slots__ = ()


VOID_ELEMENTS = frozenset({"link", "meta"})
"""Elements of HTML that have no end tag."""


def element(tag: str, /, *children: str | int, **attributes: str | int | None) -> Markup:
    """An element. Children that are no `Markup` are escaped, and so is every attribute.

    In names of attributes a trailing underscore is dropped (`class_`), others become hyphens; None: no such attribute.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if tag in VOID_ELEMENTS:
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{join(*children)}</{tag}>")


def join(*children: str | int) -> Markup:
    """The children one after another, escaped unless they are `Markup`."""
    return Markup("".join(child if isinstance(child, Markup) else html.escape(str(child)) for child in children))


def style_sheet(css: str) -> Markup:
    """A style element; the text of such an element is not escaped, so it must be our own."""
    return Markup(f"<style>{css}</style>")
