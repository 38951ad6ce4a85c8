"""Verbs that are carried through, whatever becomes of whoever has said them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_UNDER_WAY: set[asyncio.Task[Any]] = set()  # a loop alone does not hold its tasks


def carried_through(verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """The verb, in a task of its own: a caller who is cancelled waits no more, and it goes on.

    gRPC cancels a call whose client has gone away, between any two steps; what is written by then stays written, and
    would be the half of something.
    """

    @wraps(verb)
    async def said(*args: P.args, **named: P.kwargs) -> T:
        task = asyncio.ensure_future(verb(*args, **named))
        _UNDER_WAY.add(task)
        task.add_done_callback(_let_go)
        return await asyncio.shield(task)

    return said


def _let_go(task: asyncio.Task[Any]) -> None:
    _UNDER_WAY.discard(task)
    if not task.cancelled():
        task.exception()  # whoever is still there is told; whoever is not has not asked for a line in the log
