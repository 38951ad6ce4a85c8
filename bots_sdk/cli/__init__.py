"""`baohuang`: the command line of the SDK; the platform's commands plug in."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit."""
    try:
        # Loaded in here, so that Ctrl-C in the first tenth of a second leaves no traceback either.
        from bots_sdk.cli.tree import run_and_exit
    except KeyboardInterrupt:
        sys.exit(130)
    run_and_exit()
