"""`make demo KEEP=1`: bots in processes of their own, 300 deals, a table, a page, and nothing left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest

from services.common.reaper import descendants_of

from .serving import BAOHUANG, eventually, is_alive, verify_ledger


def verify_logs(logs: Path) -> None:
    """An operator reads afterwards what happened when."""
    told = {
        file.stem: [json.loads(line)["message"] for line in file.read_text().splitlines()]
        for file in logs.glob("*.jsonl")
    }
    assert told["gateway"].count("bot came") == told["gateway"].count("bot left") == 8
    assert {"bot registered", "tournament demo created"} <= set(told["gateway"])
    assert told["director-demo"] == ["demo is running", "demo is left as finished"]
    assert told["match-1"] == ["listening"]


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_demo(tmp_path: Path) -> None:
    output = tmp_path / "demo.out"
    with output.open("wb") as out:
        demo = subprocess.Popen(
            [BAOHUANG, "demo", "--data", str(tmp_path / "demo")],
            env={**os.environ, "KEEP": "1"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        eventually(lambda: "Staying up" in output.read_text() or demo.poll() is not None, 300)
        others = descendants_of(demo.pid)
        page = re.search(r"Page: (http://\S+)", output.read_text())
        assert page, output.read_text()
        with urllib.request.urlopen(page[1], timeout=60) as response:
            assert "greedy-1" in response.read().decode()
        demo.send_signal(signal.SIGINT)
        assert demo.wait(60) == 0
    finally:
        demo.kill()
        demo.wait()
    said = output.read_text()
    assert "Traceback" not in said
    assert re.search(r"greedy-\d +\+\d+\.\d+ +± \d+\.\d+ +9\d +1\d\d +3\d +0", said)
    assert said.splitlines()[-1] == "300 deals, 150 matches, 0 faults (0 attempts void)"
    assert f"Ledger: {tmp_path}/demo/001/ledger.db" in said
    verify_ledger(tmp_path / "demo" / "001", "demo", 150, 2)
    verify_logs(tmp_path / "demo" / "001" / "logs")
    eventually(lambda: not any(map(is_alive, others)), 60, "nothing is left behind")
