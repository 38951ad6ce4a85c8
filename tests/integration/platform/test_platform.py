"""The whole platform: remote bots, Ray actors, ledger, standings, metrics; stopped, left by its Ray, told nonsense."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.common.reaper import descendants_of
from services.ledger.values import TournamentState
from tests.deploy.prometheus_server import start_prometheus

from .serving import (
    BAOHUANG,
    Serve,
    bot_processes,
    eventually,
    is_alive,
    ray_cluster,
    register_bots,
    run_baohuang,
    verify_ledger,
    void_attempts,
    write_spec,
)

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(400)]

BOTS = ["greedy-1", "greedy-2", "greedy-3", "random-1", "random-2", "random-3"]


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """One platform with six bots that are in, each a process."""
    running = Serve(tmp_path_factory.mktemp("platform"))
    try:
        with bot_processes(running.server, register_bots(running.server, BOTS), running.data / "bots"):
            yield running
            assert "Traceback" not in running.said()
            running.interrupt()
    finally:
        for pid in running.kill():
            eventually(lambda pid=pid: not is_alive(pid))  # type: ignore[misc]


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as response:
        return str(response.read().decode())


def test_a_tournament_from_the_file_to_the_table(serve: Serve, tmp_path: Path) -> None:
    spec = write_spec(tmp_path, "whole", BOTS, matches=60)
    planned = serve.tournament("plan", str(spec))
    assert (planned["matches"], planned["deals"]) == (60, 120)
    strange = write_spec(tmp_path, "strange", ["nobody", *BOTS], matches=60)
    said = run_baohuang("tournament", "plan", str(strange), "--server", serve.server).stderr
    assert said.strip() == "Not registered yet, and needed before it can run: nobody"

    played = serve.tournament("run", str(spec))
    assert played["tournament"]["state"] == "STATE_FINISHED"
    assert played["tournament"]["progress"]["matches_done"] == 60
    lines = played["standings"]
    assert sorted(line["name"] for line in lines) == BOTS
    assert sum(line["deals"] for line in lines) == 5 * 120
    assert all(line["low"] < line["points_per_deal"] < line["high"] for line in lines)
    assert {line["name"][:6] for line in lines[:3]} == {"greedy"}, "greedy beats random"
    verify_ledger(serve.data, "whole", 60, 2)

    assert "whole" in [one["name"] for one in serve.tournament("list")]
    table = run_baohuang("tournament", "standings", "whole", "--server", serve.server).stdout
    assert "120 of 120 deals in 60 matches" in table
    assert "greedy-1" in fetch(f"http://{serve.http}/?tournament=whole")


def test_prometheus_reads_the_numbers_back(serve: Serve, tmp_path: Path) -> None:
    spec = write_spec(tmp_path, "measured", BOTS, matches=400)
    serve.tournament("run", str(spec), "--detach")
    with start_prometheus(serve.http, tmp_path) as prometheus:
        prometheus.wait_for('baohuang_tournament_matches_scheduled{name="measured"} == 400')
        prometheus.wait_for('baohuang_bots_attending{role="gateway"} == 6')
        prometheus.wait_for("count(baohuang_sessions_live == 6) == 2")
        prometheus.wait_for("sum(baohuang_decisions_made_total) > 0")
        prometheus.wait_for('sum(baohuang_matches_ended_total{outcome="completed"}) > 0')
        prometheus.wait_for('baohuang_ledger_writes_total{role="director"} > 0')
    serve.tournament("cancel", "measured")


INTRUDER = """
import sys, ray
ray.init(address=sys.argv[1], namespace="x", log_to_driver=False)
print("Alive nodes:", len(ray.nodes()))
"""


def test_nobody_gets_into_its_ray(serve: Serve) -> None:
    """Ray listens on every interface: whoever got in would see all hands."""
    arguments = [Path(f"/proc/{pid}/cmdline").read_bytes().decode() for pid in descendants_of(serve.process.pid)]
    addresses = {found[1] for text in arguments if (found := re.search(r"--gcs-address=([0-9.:]+)", text))}
    (address,) = addresses
    quiet = {"RAY_AUTH_TOKEN": "0" * 64, "RAY_USAGE_STATS_ENABLED": "0"}
    tries = [  # at the same time: Ray asks for a while before it gives up
        subprocess.Popen(
            [sys.executable, "-c", INTRUDER, address],
            env={**os.environ, **quiet, "RAY_AUTH_MODE": mode},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for mode in ("disabled", "token")
    ]
    try:
        for tried in tries:
            said, _ = tried.communicate(timeout=60)
            assert tried.returncode != 0
            assert "Alive" not in said
    finally:
        for tried in tries:
            tried.kill()
            tried.communicate()


def test_what_an_operator_decided_outlives_a_killed_director(serve: Serve, tmp_path: Path) -> None:
    spec = write_spec(tmp_path, "ruled", BOTS, matches=360, deals=1)
    serve.tournament("run", str(spec), "--detach")
    eventually(lambda: serve.done("ruled") > 5)
    serve.tournament("in-flight", "ruled", "8")
    serve.tournament("exclude", "ruled", "random-3", "--results", "annulled", "--reason", "two of a kind")
    serve.kill_one("ray::DirectorActor")
    eventually(lambda: serve.state("ruled") is TournamentState.FINISHED, 100)
    shown = serve.tournament("show", "ruled")
    (exclusion,) = shown["exclusions"]
    assert (exclusion["bot"], exclusion["results"]) == ("random-3", "EXCLUDED_RESULTS_ANNULLED")
    assert (exclusion["reason"], shown["in_flight"]) == ("two of a kind", 8)
    progress = shown["progress"]
    assert progress["matches_left_out"] > 0
    assert progress["matches_done"] + progress["matches_left_out"] == 360
    lines = {line["name"]: line for line in serve.tournament("standings", "ruled")["standings"]}
    assert lines.pop("random-3")["deals"] == 0
    assert {line["deals"] for line in lines.values()} == {60}  # of six sets of five the one without it
    run_baohuang("ledger", "check", "--data", str(serve.data), "--tournament", "ruled")


def test_ctrl_c_pauses_and_says_how_to_go_on(serve: Serve, tmp_path: Path) -> None:
    spec = write_spec(tmp_path, "interrupted", BOTS, matches=150, deals=1)
    with subprocess.Popen(
        [BAOHUANG, "tournament", "run", str(spec), *serve.operator],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        assert run.stdout is not None
        eventually(lambda: serve.done("interrupted") > 5)
        run.send_signal(signal.SIGINT)
        said = run.stdout.read()
    assert run.returncode == 130, said
    assert "Traceback" not in said
    command = shlex.join(["baohuang", "tournament", "resume", "interrupted", *serve.operator])
    assert f"Go on with: {command}" in said
    shown = serve.tournament("show", "interrupted")
    assert shown["state"] == "STATE_PAUSED"
    assert 0 < shown["progress"]["matches_done"] < 150

    resumed = run_baohuang(*shlex.split(command)[1:], "--json", seconds=100)
    assert json.loads(resumed.stdout)["tournament"]["state"] == "STATE_FINISHED"
    verify_ledger(serve.data, "interrupted", 150, 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("times", [1, 2])
def test_stopped_while_ray_starts_it_says_so_at_once(tmp_path: Path, number: signal.Signals, times: int) -> None:
    output = tmp_path / "out"
    with output.open("wb") as out:
        ports = ["--port", "0", "--http-port", "0", "--match-services", "1"]
        starting = subprocess.Popen(
            [BAOHUANG, "serve", "--data", str(tmp_path / "data"), *ports],
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        eventually(lambda: "gcs_server\n" in names_below(starting.pid), 60)
        others = descendants_of(starting.pid)
        starting.send_signal(number)
        says = ("Stopping as soon as Ray is up", "Stopped while Ray was starting", "Ready.")
        eventually(lambda: any(sentence in output.read_text() for sentence in says))
        if times == 2 and starting.poll() is None:
            time.sleep(1)  # what comes at once is one press
            starting.send_signal(number)
        code = starting.wait(150)  # Ray may be tried again
    finally:
        starting.kill()
        starting.wait()
    said = output.read_text()
    assert "Traceback" not in said
    assert code in ((0,) if times == 1 else (0, 130, -number)), "it may have stopped in order before the second one"
    assert code or said.endswith(("Stopped.\n", "Stopped while Ray was starting.\n"))
    eventually(lambda: not any(map(is_alive, others)), 60, "nothing is left behind")


def names_below(pid: int) -> list[str]:
    found = []
    for below in descendants_of(pid):
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{below}/comm").read_text())
    return found


def test_a_platform_that_is_started_again_goes_on_by_itself(tmp_path: Path) -> None:
    """Drained in the middle; the bots stay and come back. What is killed, is so in `test_killed_anywhere.py`."""
    data = tmp_path / "data"
    first = Serve(data)
    with bot_processes(first.server, register_bots(first.server, BOTS), tmp_path / "bots"):
        try:
            first.tournament("run", str(write_spec(tmp_path, "broken", BOTS, matches=120, deals=1)), "--detach")
            eventually(lambda: first.done("broken") > 10)
            said = first.interrupt(signal.SIGTERM)
            assert "Stopping: running matches are finished" in said
            assert "broken will go on by itself with the next `baohuang serve" in said
            assert first.process.returncode == 0
            for log in (tmp_path / "bots").iterdir():
                assert "the match service is about to stop" in log.read_text(), "every bot is told"
            assert not void_attempts(data, "broken"), "what ran was finished"
        finally:
            others = first.kill()
        eventually(lambda: not any(map(is_alive, others)), 60, "all processes of the platform are gone")
        second = Serve(data, port=first.port)
        try:
            eventually(lambda: second.state("broken") is TournamentState.FINISHED, 100)
            assert len(second.tournament("standings", "broken")["standings"]) == 6
        finally:
            second.interrupt()
    verify_ledger(data, "broken", 120, 1)


@pytest.mark.parametrize(
    ("victim", "says"),
    [
        ("raylet", "The platform's Ray has died, and the gateway with it."),
        ("gcs_server", "The control service of Ray (gcs_server) does not answer any more."),
    ],
)
def test_without_its_ray_the_platform_says_so_and_ends(tmp_path: Path, victim: str, says: str) -> None:
    alone = Serve(tmp_path / "data")
    try:
        below = descendants_of(alone.process.pid)
        (pid,) = (pid for pid in below if Path(f"/proc/{pid}/comm").read_text() == f"{victim}\n")
        os.kill(pid, signal.SIGKILL)
        assert alone.process.wait(150) == 1
        assert f"Error: {says} Start it again: nothing" in alone.said()
        assert "Traceback" not in alone.said()
    finally:
        for pid in alone.kill():
            eventually(lambda pid=pid: not is_alive(pid))  # type: ignore[misc]


def test_a_wrong_tournament_file_is_told_by_key_and_line(serve: Serve, tmp_path: Path) -> None:
    spec = tmp_path / "wrong.yaml"
    spec.write_text("name: wrong\nprofile: qingdoa\nbots: [greedy-1]\nschedule: {kind: full}\ndeals: 1\n")
    said = run_baohuang("tournament", "run", str(spec), *serve.operator, code=1).stderr
    assert "line 2: profile: " in said
    assert "qingdao" in said


def test_a_bot_nobody_registered_is_named(serve: Serve, tmp_path: Path) -> None:
    spec = write_spec(tmp_path, "strangers", ["greedy-1", "stranger"], matches=5)
    said = run_baohuang("tournament", "run", str(spec), *serve.operator, code=1).stderr
    assert "No bot is registered under the name 'stranger'" in said


def test_unknown_tournaments_and_tokens_are_told(serve: Serve) -> None:
    said = run_baohuang("tournament", "show", "nothing", "--server", serve.server, code=1).stderr
    assert "There is no tournament named 'nothing'. See which tournaments there are" in said
    done = subprocess.run(
        [BAOHUANG, "bot", "run", "greedy", "--server", serve.server],
        env={**os.environ, "BAOHUANG_TOKEN": "bh_nobody"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stdout + done.stderr
    assert "token" in done.stderr


def test_a_cluster_that_is_there_can_be_joined(tmp_path: Path) -> None:
    with ray_cluster(tmp_path) as address:
        joined = Serve(tmp_path / "data", ray_address=address)
        try:
            spec = write_spec(tmp_path, "guests", ["house:greedy", "house:random"], matches=5, deals=1)
            played = joined.tournament("run", str(spec))
            assert played["tournament"]["state"] == "STATE_FINISHED"
        finally:
            said = joined.interrupt()
        assert said.endswith("Stopped.\n")
