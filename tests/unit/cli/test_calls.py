"""Commands that call an address that is none, or somebody who is no gateway."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from bots_sdk.cli.tree import run

TOKEN = "bh_" + "x" * 43


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAOHUANG_TOKEN", TOKEN)


@pytest.mark.parametrize("command", [["tournament", "list"], ["tournament", "pause", "cup"], ["token", "list"]])
@pytest.mark.parametrize("server", ["arena.example.org", "https://arena.example.org:7400", "a b:1", ":7400", "a:0"])
def test_an_address_that_is_none_is_typed_wrong(
    command: list[str], server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--server", server]) == 2
    assert f"--server: {server!r} is not of the form HOST:PORT" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("command", [["tournament", "list"], ["token", "list"]])
def test_somebody_who_is_no_gateway(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        assert run([*command, "--server", f"127.0.0.1:{port}"]) == 1
    finally:
        server.stop(None)
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith(f"Error: What answers at 127.0.0.1:{port} does not know this call: ")
    assert said.endswith("with --server HOST:PORT.")
