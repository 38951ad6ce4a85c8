"""The platform's commands, plugged into `baohuang` by entry points. Nothing heavy is imported before a command runs."""

from services.cli.serving import serve
from services.cli.tournaments import tournament

__all__ = ["serve", "tournament"]
