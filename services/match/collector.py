"""The collector of circles in a process that is full of tables.

It looks through everything that lives, again and again, for circles that nobody holds any more: with hundreds of tables
a tenth of the processor. Tables and sessions make no circles (a test holds them to it), so it may come seldom, and need
not look at what was there from the start.
"""

from __future__ import annotations

import gc

_THRESHOLDS = (20_000, 20, 20)


def relieve_collector() -> None:
    """Lets the collector come seldom; to be called once, when everything has been imported."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
