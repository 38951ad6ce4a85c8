"""Ports that are taken, for good or for a moment, and addresses that nobody can listen on."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import pytest

from services.common.errors import SetupError
from services.common.ports import free_port

LONG = 60.0


@pytest.fixture
def taken() -> Iterator[socket.socket]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening


def refusal(host: str, port: int) -> str:
    with pytest.raises(SetupError) as caught:
        asyncio.run(free_port(host, port, "--http-port"))
    return caught.value.message


def test_any_free_port() -> None:
    assert asyncio.run(free_port("127.0.0.1", 0, "--port")) > 0


def test_a_taken_port_is_refused_with_what_to_do(taken: socket.socket) -> None:
    port = taken.getsockname()[1]
    assert refusal("127.0.0.1", port) == (
        f"127.0.0.1:{port} cannot be listened on (Address already in use): stop what uses it, or choose another "
        "address with --http-port or --host."
    )


def test_an_address_of_no_interface_here_is_not_said_to_be_in_use() -> None:
    said = refusal("203.0.113.5", 0)
    assert "(Cannot assign requested address): no interface of this machine has this address." in said
    assert "--host" in said
    assert "stop what uses it" not in said


def test_a_name_that_nobody_knows() -> None:
    said = refusal("nowhere.invalid", 0)
    assert said.startswith("nowhere.invalid:0 cannot be listened on (")
    assert said.endswith("choose another address with --http-port or --host.")


def test_what_a_killed_platform_left_is_waited_for(taken: socket.socket, caplog: pytest.LogCaptureFixture) -> None:
    port = taken.getsockname()[1]

    async def until_it_ends() -> int:
        waiting = asyncio.create_task(free_port("127.0.0.1", port, "--port", LONG))
        while not caplog.records:
            assert not waiting.done()
            await asyncio.sleep(0.01)
        taken.close()
        return await waiting

    assert asyncio.run(until_it_ends()) == port
    assert [record.getMessage().split(";")[0] for record in caplog.records] == [f"127.0.0.1:{port} is in use"]
