"""Commands that are loaded when they are called: our own ones, and those of the platform, which plug in.

The platform's commands are entry points of the group `baohuang.commands`, so that nothing here imports the platform.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

GROUP = "baohuang.commands"
_HELP = {
    "serve": "Run the platform on this machine.",
    "tournament": "Start, watch and resume tournaments.",
    "token": "Say who may operate and read, and throw bots out.",
    "dev-ca": "Make certificates with which TLS can be tried.",
    "ledger": "Check what is stored, and export it for other programs.",
    "demo": "Start a platform and play a small tournament.",
}
"""What `--help` says of commands that plug in; asking them would load the platform."""


class PluggedGroup(click.Group):
    """A group whose commands are named but not loaded.

    Args:
        own: for each command of the SDK where it is, and what it does.
    """

    def __init__(self, *args: Any, own: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._own = own

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Ours first, then what plugs in."""
        return [*self._own, *sorted(self._plugged())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        if cmd_name in self._own:
            module, _, name = self._own[cmd_name][0].partition(":")
            command: click.Command = getattr(importlib.import_module(module), name)
            return command
        plugged = self._plugged().get(cmd_name)
        return None if plugged is None else _load(plugged)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the names there are, if it is none of them."""
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            ctx.fail(f"there is no command {args[0]!r}; there are {', '.join(self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading any."""
        rows = [(name, text) for name, (_, text) in self._own.items()]
        rows += [(name, _HELP.get(name, "")) for name in sorted(self._plugged())]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _plugged(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=GROUP) if point.name not in self._own}


def _load(point: EntryPoint) -> click.Command:
    try:
        command = point.load()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == point.module.partition(".")[0]:
            raise click.ClickException(f"the command {point.name} is not in this installation") from error
        raise click.ClickException(
            f"the command {point.name} needs the server part: pip install 'baohuang-arena[server]' "
            f"(no module {error.name})"
        ) from error
    if not isinstance(command, click.Command):
        raise click.ClickException(f"the command {point.name} of {point.value} is no command")
    return command
