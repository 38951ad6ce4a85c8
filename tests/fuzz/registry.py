"""What reads bytes and texts from outside, each as a function of bytes that lets through only the errors it documents.

The tests here hand them some hundred inputs; `make fuzz` hands them to a fuzzer that looks for new ways through the
code. What a target raises is a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Run = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Target:
    """One reader of bytes from outside, and good inputs to begin with. `is_text`: it reads UTF-8."""

    run: Run
    seeds: Callable[[], Sequence[bytes]]
    is_text: bool = False


TARGETS: dict[str, Target] = {}


def target(
    *seeds: str | bytes, more: Callable[[], Sequence[bytes]] = tuple, is_text: bool = False
) -> Callable[[Run], Run]:
    """Makes a function a target under its own name; `more` are seeds that take a while to make."""

    def add(run: Run) -> Run:
        own = [seed.encode() if isinstance(seed, str) else seed for seed in seeds]
        TARGETS[run.__name__] = Target(run, lambda: [*own, *more()], is_text)
        return run

    return add


def text_of(data: bytes) -> str:
    """As a text in a message, a file or a command line may be; a lone surrogate cannot come in that way."""
    return data.decode("utf-8", "replace")
