"""A Ray cluster of two nodes, made by a process of its own so that the test can lose one of them and all of it.

    python -m tests.cluster.nodes          prints the address; a line on standard input takes the second node away

Both nodes are on this machine, the second one under another address of it, as if it were another machine.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from services.common.reaper import Reaper, descendants_of
from tests.integration.platform.serving import START_SECONDS, eventually

SECOND = "127.0.0.2"
"""The address of the node that is lost."""

TOKEN = "7e57" * 16
"""Of the cluster: who does not have it is not let in."""

_QUICK = {  # a node that is gone is noticed in seconds instead of a quarter of a minute
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 3,
}
_SMALL = {"num_cpus": 2, "object_store_memory": 100_000_000}


class Nodes:
    """The cluster, from outside."""

    def __init__(self, folder: Path) -> None:
        self._output = folder / "nodes.out"
        self.environ = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN}
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.cluster.nodes"],
                env={**os.environ, **self.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._reaper = Reaper([self._process.pid])
        self.address = self._told("head ")

    def lose_second(self) -> None:
        """All processes of the second node are killed."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        self._told("lost ")

    def close(self) -> None:
        """Kill what is left."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        Reaper([self._process.pid, *descendants_of(self._process.pid)]).close()
        self._reaper.close()
        self._process.wait()

    def _told(self, word: str) -> str:
        def look() -> str | None:
            assert self._process.poll() is None, self._output.read_text()
            lines = self._output.read_text().splitlines()
            return next((line.removeprefix(word) for line in lines if line.startswith(word)), None)

        told: str = eventually(look, 2 * START_SECONDS, word)
        return told


@contextlib.contextmanager
def two_nodes(folder: Path) -> Iterator[Nodes]:
    """A cluster that is gone at the end."""
    nodes = Nodes(folder)
    try:
        yield nodes
    finally:
        nodes.close()


def main() -> None:
    from ray.cluster_utils import Cluster

    head = {**_SMALL, "include_dashboard": False, "_system_config": _QUICK}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    second = cluster.add_node(**_SMALL, node_ip_address=SECOND)
    print(f"head {cluster.address}", flush=True)
    sys.stdin.readline()
    cluster.remove_node(second, allow_graceful=False)
    print("lost it", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main()
