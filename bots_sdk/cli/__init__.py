"""`baohuang`: the command line of the SDK; the platform's commands plug in."""

from bots_sdk.cli.main import main

__all__ = ["main"]
