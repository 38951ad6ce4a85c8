"""Calls between director and match services leave nothing behind in Ray, and Ray's tools tell what is what."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(3600)]

CALLS = int(os.environ.get("BAOHUANG_TEST_RAY_CALLS", "400"))
MOST_GROWTH_MIB = 64


def test_nothing_is_left_in_the_object_store_and_everything_has_a_name() -> None:
    command = [sys.executable, "-m", "tests.integration.platform.ray_calls", str(CALLS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3500, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    first, last = told["parts"][0], told["parts"][-1]
    assert last["created"] - first["created"] >= CALLS // 10, "large arguments and answers go through the store"
    for part in told["parts"]:
        assert (part["bytes_used"], part["objects"], part["references"]) == (0, 0, 0)
    assert max(told["growth_mib"].values()) < MOST_GROWTH_MIB
    assert told["actors"] == {
        "gateway": ["GatewayActor", -1],
        "match-1": ["MatchServiceActor", -1],
        "match-2": ["MatchServiceActor", -1],
        "director:cup": ["DirectorActor", -1],
    }
    assert {"MatchServiceActor.submit", "MatchServiceActor.collect", "DirectorActor.status"} <= set(told["tasks"])
