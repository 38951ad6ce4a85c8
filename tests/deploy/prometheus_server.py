"""Debian's Prometheus with the configuration as shipped, against a platform on any address.

In this folder take the fixture `prometheus_against`; elsewhere:

    from tests.deploy.prometheus_server import start_prometheus

    with start_prometheus(gateway_address, tmp_path) as prometheus:
        prometheus.wait_for('baohuang_tables_live{name="match-1"} > 0', seconds=30)

The calls block: in a coroutine use `asyncio.to_thread`.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "prometheus"
GATEWAY = "127.0.0.1:7480"
"""The gateway's address in the configuration as shipped: the only thing that a test replaces."""

PLAIN = "prometheus.yml"
WITH_TLS = "prometheus-tls.yml"

START_SECONDS = 60.0
STOP_SECONDS = 10.0
ATTEMPTS = 3
LOG = "prometheus.log"


@dataclass(frozen=True, slots=True)
class Sample:
    """One series of the answer to a query, and its value now."""

    labels: dict[str, str]
    value: float


class Prometheus:
    """A running Prometheus; all calls block."""

    def __init__(self, address: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.address = address
        self._process = process
        self._log = log

    def query(self, expression: str) -> list[Sample]:
        """The value of an expression now, one sample for each series."""
        answer = self.ask("query", query=expression)
        return [Sample(one["metric"], float(one["value"][1])) for one in answer["result"]]

    def wait_for(self, expression: str, seconds: float = 90.0) -> list[Sample]:
        """The first answer to the expression that is not empty; fails after so long, saying what was scraped."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            samples = self.query(expression)
            if samples:
                return samples
            time.sleep(0.25)
        raise AssertionError(f"{expression} stayed empty for {seconds} s. Targets: {self.targets()}. {self.log()}")

    def targets(self) -> list[dict[str, Any]]:
        """The targets that are scraped, as Prometheus tells them."""
        targets: list[dict[str, Any]] = self.ask("targets", state="active")["activeTargets"]
        return targets

    def alert_names(self) -> set[str]:
        """The alerts that are loaded."""
        groups = self.ask("rules", type="alert")["groups"]
        return {rule["name"] for group in groups for rule in group["rules"]}

    def ask(self, what: str, **parameters: str) -> Any:
        """The `data` of an answer of the HTTP API."""
        url = f"http://{self.address}/api/v1/{what}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=60) as response:
            return json.load(response)["data"]

    def log(self) -> str:
        """What it wrote."""
        return f"Prometheus wrote: {self._log.read_text(errors='replace')[-2000:]}"

    def wait_until_ready(self) -> bool:
        """Whether it answers; False when it ended instead."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                return False
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=5):
                return True
            time.sleep(0.1)
        raise AssertionError(f"Prometheus was not ready within {START_SECONDS} s. {self.log()}")

    def stop(self) -> None:
        """End it, and wait until it has ended."""
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(STOP_SECONDS)


@contextlib.contextmanager
def start_prometheus(gateway: str, folder: Path, certificates: Path | None = None) -> Iterator[Prometheus]:
    """Run Prometheus as shipped, but with its gateway at `gateway` ("host:port") and its data in `folder`.

    `certificates`: a folder as `baohuang dev-ca` makes it; then the configuration with TLS is the one that is run.
    """
    config = write_config(gateway, folder, certificates)
    prometheus = _start(config, folder)
    try:
        yield prometheus
    finally:
        prometheus.stop()


def write_config(gateway: str, folder: Path, certificates: Path | None = None) -> Path:
    """The shipped configuration with another address of the gateway, and the shipped rules beside it."""
    name = PLAIN if certificates is None else WITH_TLS
    text = (FOLDER / name).read_text()
    assert text.count(GATEWAY) == 1
    config = folder / name
    config.write_text(text.replace(GATEWAY, gateway))
    shutil.copytree(FOLDER / "rules", folder / "rules")
    if certificates is not None:
        shutil.copytree(certificates, folder / "certs")
    return config


def _start(config: Path, folder: Path) -> Prometheus:
    for _ in range(ATTEMPTS):
        # Prometheus does not tell which port 0 became; should somebody take ours in between, there is another.
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        prometheus = _launch(config, folder, address)
        try:
            if prometheus.wait_until_ready():
                return prometheus
        except BaseException:
            prometheus.stop()
            raise
    log = (folder / LOG).read_text(errors="replace")
    raise AssertionError(f"Prometheus ended at once, {ATTEMPTS} times. It wrote: {log}")


def _launch(config: Path, folder: Path, address: str) -> Prometheus:
    command = [find_program("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}"]
    command += [f"--web.listen-address={address}", "--log.level=warn"]
    with (folder / LOG).open("ab") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    return Prometheus(address, process, folder / LOG)


def find_program(name: str) -> str:
    """Where a program of Debian's package `prometheus` is."""
    path = shutil.which(name)
    assert path is not None, f"{name} is not installed: make test does it, or apt-get install prometheus."
    return path
