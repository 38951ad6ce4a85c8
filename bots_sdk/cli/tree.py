"""The command tree, and the one place where whatever goes wrong becomes a sentence and an exit code.

Exit codes: 0 done; 1 it did not work, and a sentence says why; 2 the command was typed wrong; 130 Ctrl-C; 143 SIGTERM.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Sequence

import click

from bots_sdk.cli.plugins import PluggedGroup
from bots_sdk.errors import ArenaError, BotNotLoaded
from bots_sdk.rules.errors import RulesError

INTERRUPTED = 130
TRACEBACK_VARIABLE = "BAOHUANG_TRACEBACK"


@click.group(
    cls=PluggedGroup,
    own={
        "bot": ("bots_sdk.cli.bot:bot", "Run, check and register a bot."),
        "play": ("bots_sdk.cli.play:play", "Play thousands of deals on this machine, without a network."),
        "replay": ("bots_sdk.cli.replay:replay", "Show, verify and export records of matches."),
        "rules": ("bots_sdk.cli.rules:rules", "Show the profiles of the rules and their options."),
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(package_name="baohuang-arena", prog_name="baohuang")
def cli() -> None:
    """Baohuang Arena: bots play the five-player card game 保皇."""


def run_and_exit(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Names are anything; a terminal that cannot show one must not end the command.
            stream.reconfigure(errors="replace")
    code = run(list(sys.argv[1:] if arguments is None else arguments))
    code = _flush(code)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run the command line; returns the exit code."""
    try:
        code = cli.main(arguments, prog_name="baohuang", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 1
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _say("Interrupted.")
        return INTERRUPTED
    except BotNotLoaded as error:
        _say(f"Error: {error}")
        return 2
    except (ArenaError, RulesError) as error:
        _say(f"Error: {error}")
        return 1
    except OSError as error:
        if error.errno == errno.EPIPE:
            return 1  # nobody reads any more, as with `| head`
        _say(f"Error: {_describe_os_error(error)}")
        return 1
    except Exception as error:
        return _unforeseen(error)
    return code if isinstance(code, int) else 0


def _unforeseen(error: Exception) -> int:
    if os.environ.get(TRACEBACK_VARIABLE):
        raise error
    text = " ".join(str(error).split())
    _say(
        f"Error: a fault of baohuang itself ({type(error).__name__}: {text}). "
        f"Please report it, with what is shown after setting {TRACEBACK_VARIABLE}=1."
    )
    return 1


def _describe_os_error(error: OSError) -> str:
    said = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {said}" if error.filename is not None else said


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        click.echo(text, err=True)


def _flush(code: int) -> int:
    """Write out what is buffered; a reader that has gone away is no reason for a traceback at exit."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or 1
    except OSError as error:
        _say(f"Error: the output cannot be written: {_describe_os_error(error)}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or 1
    return code
