"""Work for a client that ends when something happens which nobody could know at its beginning."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from services.common.errors import PlatformError

T = TypeVar("T")

_OVER = object()


async def until_ended(
    responses: AsyncGenerator[Any, None], ended: asyncio.Event, why: Callable[[], PlatformError]
) -> AsyncIterator[Any]:
    """The responses, until there are no more. Raises `why()` as soon as `ended` is set."""
    ending = asyncio.ensure_future(ended.wait())
    try:
        while True:
            coming = asyncio.ensure_future(_next(responses))
            try:
                await asyncio.wait([coming, ending], return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not coming.done():
                    coming.cancel()
                    await asyncio.wait([coming])
            if ended.is_set():
                raise why()
            if (response := coming.result()) is _OVER:
                return
            yield response
    finally:
        ending.cancel()
        await responses.aclose()


async def done_until_ended(work: Coroutine[Any, Any, T], ended: asyncio.Event, why: Callable[[], PlatformError]) -> T:
    """What comes of the work. Raises `why()` as soon as `ended` is set, when the work has been cancelled."""
    tasks = asyncio.ensure_future(work), asyncio.ensure_future(ended.wait())
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    if ended.is_set():
        raise why()
    return tasks[0].result()


async def _next(responses: AsyncGenerator[Any, None]) -> Any:
    return await anext(responses, _OVER)
