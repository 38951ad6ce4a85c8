"""A Ray cluster of some nodes on this machine, made by a process of its own.

    python -m benchmarks.whole.nodes 4      prints the address, and goes with a signal

Each node has an address of its own, as if it were another machine.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from benchmarks.whole.serving import Process

TOKEN = "be7c" * 16
"""Of the cluster: who does not have it is not let in."""

ENVIRON = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN}
_SMALL = {"num_cpus": 2, "object_store_memory": 100_000_000}


@contextlib.contextmanager
def cluster(folder: Path, count: int) -> Iterator[Process]:
    """A cluster that is gone at the end; `nodes at ADDRESS` is what it says."""
    nodes = Process([sys.executable, "-m", "benchmarks.whole.nodes", str(count)], folder / "nodes.out", ENVIRON)
    try:
        yield nodes
    finally:
        nodes.close()


def main() -> None:
    from ray.cluster_utils import Cluster

    gone = threading.Event()
    head = {**_SMALL, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    for number in range(1, int(sys.argv[1])):
        made.add_node(**_SMALL, node_ip_address=f"127.0.0.{number + 1}")
    signal.signal(signal.SIGINT, lambda *_: gone.set())
    sys.stdout.write(f"nodes at {made.address}\n")
    sys.stdout.flush()
    gone.wait()
    made.shutdown()


if __name__ == "__main__":
    main()
