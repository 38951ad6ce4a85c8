"""How long a client waits before it comes again."""

from __future__ import annotations

import pytest

from bots_sdk.client.backoff import LASTING_S, Backoff


def test_pauses_double_up_to_a_bound() -> None:
    backoff = Backoff(0.1, 1.0, "seed")
    pauses = [backoff.pause(lasted=0.2) for _ in range(8)]
    for pause, middle in zip(pauses, [0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0, 1.0], strict=True):
        assert pause == pytest.approx(middle, rel=0.25)
    assert len(set(pauses)) == 8


def test_they_begin_anew_after_what_has_lasted() -> None:
    backoff = Backoff(0.1, 1.0, "seed")
    for _ in range(5):
        backoff.pause(0.0)
    assert backoff.pause(LASTING_S) == pytest.approx(0.1, rel=0.25)
    assert backoff.pause(0.0) == pytest.approx(0.2, rel=0.25)
