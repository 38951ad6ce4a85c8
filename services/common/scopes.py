"""Scopes: what a token lets its owner do."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    """One thing that a token is good for; the names are those of `baohuang.access.v1.Scope`."""

    PLAY = "play"
    """To play as one bot. Bots' tokens have it, and no other."""
    OPERATE = "operate"
    """To create, pause, resume and cancel tournaments, and to look after tokens."""
    READ = "read"
    """To read what everybody may read, on a platform that shows it only to those it knows."""


GIVEN_SCOPES = (Scope.OPERATE, Scope.READ)
"""What people and programs can be given; to play, one registers a bot."""
