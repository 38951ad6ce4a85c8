"""`baohuang serve`: the platform on this machine, until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from services.cli.errors import SettingWrong, plain_errors, sentence

if TYPE_CHECKING:
    from services.common.settings import Settings
    from services.main import Platform, Stopped

EXIT_AT_ONCE = 130

ONE_PRESS = 0.5
"""Seconds within which signals are one: a wrapper may hand on what the terminal has sent to us already."""


@click.command()
@click.option(
    "--data",
    "data_dir",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of ledger and logs.  [default: data]",
)
@click.option(
    "--ledger", metavar="URL", help="Keep the ledger in this PostgreSQL database; @FILE: the URL is in there."
)
@click.option("--host", metavar="HOST", help="Interface to listen on.  [default: 127.0.0.1]")
@click.option("--advertised-host", metavar="HOST", help="Host that bots are told, if it is another.")
@click.option("--port", metavar="PORT", help="gRPC port; 0: any free one.  [default: 7400]")
@click.option("--http-port", metavar="PORT", help="Port for page and metrics; 0: any free one.  [default: 7480]")
@click.option("--match-services", metavar="N", help="How many match services to run.  [default: cores - 1, 2 to 8]")
@click.option("--match-port", metavar="PORT", help="Port of the first match service, others follow; 0: any free ones.")
@click.option("--tls-server-cert", metavar="FILE", help="Speak TLS with this certificate (PEM).")
@click.option("--tls-server-key", metavar="FILE", help="Private key of the certificate (PEM).")
@click.option("--tls-client-ca", metavar="FILE", help="Let in only clients with a certificate of this authority (PEM).")
@click.option("--tls-client-crl", metavar="FILE", help="Lists of certificates of clients that were revoked (PEM).")
@click.option("--allow-plaintext", is_flag=True, default=None, help="Serve other machines without TLS.")
@click.option("--registration", metavar="WHO", help="Who registers bots: local, open or operators.  [default: local]")
@click.option("--read-requires-token", is_flag=True, default=None, help="Show nothing to those without a token.")
@click.option("--ray-address", metavar="ADDRESS", help="Join the Ray cluster there instead of starting one here.")
@click.option("--log-level", metavar="LEVEL", help="debug, info, warning or error.  [default: info]")
def serve(**options: Any) -> None:
    """Run the platform: lobby, tournaments, match services, pages and metrics.

    Every option can also be set by a variable: BAOHUANG_PORT for --port, BAOHUANG_DATA_DIR for --data, and so on.

    Ctrl-C finishes running matches for a short while and stops; tournaments go on when the platform is started again.
    """
    with plain_errors():
        settings = _settings_of(options)
        click.echo("Starting, this takes a few seconds.")
        asyncio.run(_serve(settings))


def _settings_of(options: dict[str, Any]) -> Settings:
    from services.common.errors import SetupError
    from services.common.settings import load_settings

    try:
        return load_settings(options)
    except SetupError as error:
        raise SettingWrong(sentence(error.message, error.next_step), error.reason.wire_name) from None


async def _serve(settings: Settings) -> None:
    from services.common.logging import configure_logging
    from services.common.ray_token import offer_ray_token

    if settings.ray_address:
        offer_ray_token()
    from services.main import Platform, streams_to

    with streams_to(settings.logs_dir / "ray.log") as terminal:
        configure_logging("serve", settings, terminal)
        platform = Platform(settings)
        signals = StopSignals(terminal.write, platform.abandon)
        signals.catch_early()
        try:
            try:
                description = await platform.start()
            except SystemExit:  # while it starts, Ray has its own answer to SIGTERM
                terminal.write("Stopped while Ray was starting.\n")
                return
            addresses = description.addresses
            page = f"{'https' if settings.tls else 'http'}://{addresses.http}"
            terminal.write(
                f"Bots and `baohuang tournament`: {addresses.grpc}{_protection(settings)}\n"
                f"Page: {page}/  for Prometheus: {page}/sd\n"
                f"Ledger: {platform.ledger_place}  logs: {settings.logs_dir.absolute()}\n"
                f"{_operator_line(platform, settings)}\n"
                "Ready. Ctrl-C stops.\n"
            )
            await _until_stopped(platform, signals)
            terminal.write("Stopping: running matches are finished; Ctrl-C again stops at once.\n")
            stopped = await platform.stop()
        finally:
            platform.close()
        terminal.write(last_line(stopped, settings))


def last_line(stopped: Stopped, settings: Settings) -> str:
    """What goes on, and how."""
    if not stopped.suspended:
        return "Stopped.\n"
    themselves = "itself" if len(stopped.suspended) == 1 else "themselves"
    data = shlex.quote(str(settings.data_dir))
    return (
        f"Stopped. {', '.join(stopped.suspended)} will go on by {themselves} with the next "
        f"`baohuang serve --data {data}`, with the other options as before.\n"
    )


def _operator_line(platform: Platform, settings: Settings) -> str:
    """Where the operator's token is; never the token."""
    from services.access.operator import OperatorToken

    if platform.operator_token is OperatorToken.ELSEWHERE:
        return (
            f"Operator's token: not in {platform.operator_file} any more; if it is lost, stop and type "
            f"`baohuang token reset-operator --data {shlex.quote(str(settings.data_dir))}`"
        )
    return f"Operator's token: in {platform.operator_file}"


def _protection(settings: Settings) -> str:
    if settings.tls is None:
        return "  (plain text)" if settings.allow_plaintext else ""
    return "  (TLS; clients need a certificate)" if settings.tls.client_ca else "  (TLS)"


class StopSignals:
    """Ctrl-C and SIGTERM from the first moment on: the first asks for an orderly stop, a second one ends everything.

    While Ray starts nothing else runs in this process, so the first is answered at once by a sentence, and obeyed when
    Ray is up. `abandon` kills what there is.
    """

    def __init__(self, say: Callable[[str], object], abandon: Callable[[], None]) -> None:
        self._say = say
        self._abandon = abandon
        self._first: float | None = None
        self._asked = asyncio.Event()

    def catch_early(self) -> None:
        """Before the event loop can see to signals."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_early_signal)

    def _on_early_signal(self, number: int, frame: object) -> None:
        if self._first is None:
            self._say("Stopping as soon as Ray is up, which takes a few seconds; Ctrl-C again stops at once.\n")
        self._on_signal()

    async def wait(self) -> None:
        """Until the first one, which may have come long ago."""
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self._on_signal)
        await self._asked.wait()

    def _on_signal(self) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = now
            self._asked.set()
        elif now - self._first > ONE_PRESS:
            self._abandon()
            os._exit(EXIT_AT_ONCE)


async def _until_stopped(platform: Platform, signals: StopSignals) -> None:
    """Returns after the first Ctrl-C or SIGTERM. Raises PlatformError when the platform cannot go on."""
    watching = asyncio.create_task(platform.watch())
    stopping = asyncio.create_task(signals.wait())
    try:
        await asyncio.wait([watching, stopping], return_when=asyncio.FIRST_COMPLETED)
        if watching.done():
            watching.result()
    finally:
        watching.cancel()
        stopping.cancel()
