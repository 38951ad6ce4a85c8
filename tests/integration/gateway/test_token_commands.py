"""`baohuang token …`, and how every command finds the token it shows, against a real gateway."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from services.access.operator import OPERATOR_FILE, provide_operator_token
from services.access.tokens import hash_token
from services.ledger.ledger import Ledger
from tests.integration.gateway.house import CLOSED, OPEN, House, house_of
from tests.integration.gateway.test_gateway import SPEC

pytestmark = pytest.mark.timeout(600)  # each starts the command many times
BAOHUANG = str(Path(sys.executable).with_name("baohuang"))
WHICH = (
    "Name the file of one that does with --token-file or BAOHUANG_TOKEN_FILE, or put the token itself into "
    "BAOHUANG_TOKEN; `baohuang serve` keeps an operator's token in operator.token in its data directory."
)


@dataclass
class Said:
    code: int
    out: str
    err: str


@dataclass
class Desk:
    """A folder in which somebody types commands, and the platform they are for."""

    house: House
    folder: Path
    operator_file: Path

    async def type(self, *command: str, code: int = 0, server: str = "", **variables: str) -> Said:
        """A command, as an operator who names the token file unless `variables` are given; it must end with `code`."""
        surroundings = {name: value for name, value in os.environ.items() if not name.startswith("BAOHUANG_")}
        # Where the commands look by themselves is not where the platform has its data, unless a test says so.
        surroundings |= variables or {"BAOHUANG_TOKEN_FILE": str(self.operator_file)}
        where = ("--server", server or self.house.addresses.grpc) if "reset-operator" not in command else ()
        process = await asyncio.create_subprocess_exec(
            BAOHUANG,
            *command,
            *where,
            cwd=self.folder,
            env=surroundings,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        said = Said(process.returncode or 0, out.decode(), err.decode())
        assert said.code == code, said
        assert "Traceback" not in said.out + said.err
        return said

    async def json(self, *command: str, **variables: Any) -> Any:
        return json.loads((await self.type(*command, "--json", **variables)).out)


def desk_of(house: House, tmp_path: Path) -> Desk:
    folder = tmp_path / "desk"
    folder.mkdir()
    return Desk(house, folder, tmp_path / OPERATOR_FILE)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with house_of(tmp_path, OPEN) as house:
        yield desk_of(house, tmp_path)


@pytest.fixture
async def closed(tmp_path: Path) -> AsyncIterator[Desk]:
    async with house_of(tmp_path, CLOSED) as house:
        yield desk_of(house, tmp_path)


async def test_a_token_from_making_to_revoking(desk: Desk) -> None:
    # made, into a file that its owner alone can read
    said = await desk.type("token", "create", "ann", "--scope", "read", "--scope", "operate", "-o", "ann.token")
    assert said.err == "The token ann may operate and read; it is in ann.token, and nowhere else.\n"
    file = desk.folder / "ann.token"
    first = file.read_text().strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert first not in said.out + said.err

    # it lets in, and is listed without anything that does
    listed = await desk.json("token", "list", BAOHUANG_TOKEN_FILE="ann.token")
    assert next(one["scopes"] for one in listed if one["name"] == "ann") == ["SCOPE_OPERATE", "SCOPE_READ"]
    table = (await desk.type("token", "list", BAOHUANG_TOKEN=first)).out
    assert "revoked-operator" in table
    assert "bh_" not in table

    # replaced by itself: the new one is where the old one was
    said = await desk.type("token", "rotate", "ann", BAOHUANG_TOKEN_FILE="ann.token")
    assert file.read_text().strip() != first
    assert "bh_" not in said.out + said.err
    await desk.type("token", "list", BAOHUANG_TOKEN_FILE="ann.token")
    refused = await desk.type("token", "list", code=1, BAOHUANG_TOKEN=first)
    assert refused.err.startswith("Error: The token is nobody's: it is mistyped, or it was replaced or revoked.")

    # replaced by another operator: printed, this once
    said = await desk.type("token", "rotate", "ann")
    assert said.out.startswith("bh_")
    assert len(said.out.split()) == 1
    assert "The line above is the token" in said.err

    # revoked
    await desk.type("token", "revoke", "ann")
    await desk.type("token", "list", code=1, BAOHUANG_TOKEN=said.out.strip())


async def test_a_bot_is_thrown_out_and_let_in_again(desk: Desk) -> None:
    assert "thrown out; its name stays taken" in (await desk.type("token", "revoke-bot", "bot")).err
    refused = await desk.type("bot", "run", "greedy", code=1, BAOHUANG_TOKEN=desk.house.tokens["bot"])
    assert "The token is nobody's" in refused.err
    made = await desk.json("token", "rotate-bot", "bot")
    desk.house.tokens["bot"] = made["token"]
    assert await desk.house.call("baohuang.lobby.v1.LobbyService", "Attend", "bot") == ""
    assert "There is no bot named 'nobody'" in (await desk.type("token", "revoke-bot", "nobody", code=1)).err


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("create", "x", "--scope", "write"), 2, "'write' is no scope; there are operate and read."),
        (("create", "x", "--scope", "play"), 2, "To play, register a bot: `baohuang bot register NAME`."),
        (("create", "x"), 2, "Missing option '--scope'"),
        (("create", "reader", "--scope", "read"), 1, "There is an access token named 'reader' already, or was one"),
        (("create", "a b", "--scope", "read"), 1, "a name is 1 to 40 letters"),
        (("rotate", "nobody"), 1, "There is no access token named 'nobody'. See which tokens there are: `baohuang"),
        (("revoke", "nobody"), 1, "There is no access token named 'nobody'."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
async def test_what_cannot_be_done_is_said(desk: Desk, arguments: tuple[str, ...], code: int, sentence: str) -> None:
    assert sentence in (await desk.type("token", *arguments, code=code)).err


async def test_a_token_is_not_written_over_another(desk: Desk) -> None:
    (desk.folder / "there").write_text("x")
    said = await desk.type("token", "create", "ann", "--scope", "read", "-o", "there", code=2)
    assert "there is there already" in said.err
    assert (desk.folder / "there").read_text() == "x"


async def test_a_token_that_cannot_be_written_is_not_lost(desk: Desk) -> None:
    said = await desk.type("token", "create", "ann", "--scope", "read", "-o", "nowhere/x")
    assert "cannot be written (No such file or directory)" in said.err
    assert said.out.startswith("bh_")


# ------------------------------------------------------------------------------------------------ which token is shown


async def test_a_token_is_looked_for_where_it_is_said_to_be(desk: Desk) -> None:
    (desk.folder / "spec.yaml").write_text(SPEC)
    operator = desk.house.tokens["operator"]
    run = ("tournament", "run", "spec.yaml", "--detach", "--json")

    # nowhere: which to use is said
    said = await desk.type(*run, code=1, BAOHUANG_DATA_DIR="elsewhere")
    assert said.err == (
        "Error: CreateTournament needs a token with the scope operate, and none was sent: send it as "
        f"`authorization: Bearer TOKEN`. {WHICH}\n"
    )

    # in a variable, of somebody who may not
    said = await desk.type(*run, code=1, BAOHUANG_TOKEN=desk.house.tokens["reader"])
    assert said.err == (
        "Error: CreateTournament needs the scope operate; the token of 'reader' has read. "
        f"The token shown is that of the variable BAOHUANG_TOKEN. {WHICH}\n"
    )

    # in the file that serve has left in the usual place
    (desk.folder / "data").mkdir()
    (desk.folder / "data" / OPERATOR_FILE).write_text(f"{operator}\n")
    assert json.loads((await desk.type(*run, BAOHUANG_DATA_DIR="data")).out)["name"] == "cup"

    # a variable goes before that, a file that is named before the variable, and an option before all
    listed = ("tournament", "pause", "cup", "--json")
    await desk.type(*listed, code=1, BAOHUANG_TOKEN="bh_wrong")
    await desk.type(*listed, BAOHUANG_TOKEN="bh_wrong", BAOHUANG_TOKEN_FILE=str(desk.operator_file))
    (desk.folder / "wrong").write_text("bh_wrong")
    await desk.type(*listed, "--token-file", str(desk.operator_file), BAOHUANG_TOKEN_FILE="wrong")


async def test_a_file_without_a_token_is_said_before_anything_is_called(desk: Desk) -> None:
    (desk.folder / "empty").write_text("\n")
    (desk.folder / "binary").write_bytes(b"\xff\xfe")
    for name, sentence in (
        ("none", "The token file none cannot be read (No such file or directory)."),
        ("empty", "The token file empty holds no token"),
        ("binary", "The token file binary holds no token"),
    ):
        said = await desk.type("tournament", "list", code=1, server="127.0.0.1:1", BAOHUANG_TOKEN_FILE=name)
        assert said.err.startswith(f"Error: {sentence}")


async def test_the_file_of_another_platform_keeps_nobody_from_what_everybody_may(desk: Desk) -> None:
    (desk.folder / "data").mkdir()
    (desk.folder / "data" / OPERATOR_FILE).write_text("bh_of_another_platform\n")
    assert "There are no tournaments yet" in (await desk.type("tournament", "list", BAOHUANG_DATA_DIR="data")).out
    said = await desk.type("tournament", "cancel", "x", code=1, BAOHUANG_DATA_DIR="data")
    assert "CancelTournament needs a token with the scope operate" in said.err
    assert "The token shown is that of data/operator.token." in said.err


async def test_a_closed_platform_shows_nothing_to_those_without_a_token(closed: Desk) -> None:
    said = await closed.type("tournament", "list", code=1, BAOHUANG_DATA_DIR="data")
    assert "ListTournaments needs a token with the scope read" in said.err
    await closed.type("tournament", "list", BAOHUANG_TOKEN=closed.house.tokens["reader"])
    listed = await closed.type("bot", "list", BAOHUANG_TOKEN=closed.house.tokens["bot"])
    assert "not seen since the platform started" in listed.out
    assert "Give the bot's token" in (await closed.type("bot", "list", code=1, BAOHUANG_DATA_DIR="data")).err


async def test_on_a_closed_platform_operators_register_bots(closed: Desk) -> None:
    said = await closed.type("bot", "register", "mine", code=1, BAOHUANG_DATA_DIR="data")
    assert "RegisterBot needs a token with the scope operate" in said.err
    assert "Ask an operator of the platform to do it" in said.err
    made = await closed.type("bot", "register", "mine", "--operator-token-file", str(closed.operator_file), "--json")
    closed.house.tokens["mine"] = json.loads(made.out)["token"]
    assert await closed.house.call("baohuang.lobby.v1.LobbyService", "Attend", "mine") == ""


# -------------------------------------------------------------------------------------------------------------- offline


async def test_the_operators_token_is_made_anew_while_the_platform_is_stopped(desk: Desk, tmp_path: Path) -> None:
    # while it runs: not
    said = await desk.type("token", "reset-operator", "--data", str(tmp_path), code=1)
    assert "ledger.db is in use by process" in said.err

    # where nothing is: not, and nothing is made
    said = await desk.type("token", "reset-operator", "--data", "nowhere", code=1)
    assert "There is no ledger in nowhere: name a platform's data directory with --data." in said.err
    assert not (desk.folder / "nowhere").exists()

    # of one that is stopped: the token before has ended, and the new one is in the file, and nowhere else
    (desk.folder / "data").mkdir()
    with Ledger.open(desk.folder / "data" / "ledger.db") as ledger:
        provide_operator_token(ledger, desk.folder / "data")
    file = desk.folder / "data" / OPERATOR_FILE
    old = file.read_text().strip()
    file.unlink()
    said = await desk.type("token", "reset-operator")
    assert said.out == "Another operator's token is in data/operator.token; the one before has ended.\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with Ledger.open(desk.folder / "data" / "ledger.db") as ledger:
        assert ledger.access_token_with(hash_token(old)) is None
        assert ledger.access_token_with(hash_token(file.read_text().strip())) is not None
