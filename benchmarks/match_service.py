"""How many decisions a match service takes, against the same service with one unary call per decision.

    python -m benchmarks.match_service --bots 50 --tables 1000

Bots are instant and in another process, the rules are real. Batched and unary load alternate in one run; the figures
are medians over the rounds. The last line is a JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import statistics
import sys
import time
from multiprocessing.connection import Connection
from typing import Any

from benchmarks import bench_bots, bench_server
from benchmarks.bench_server import Load, Reading

_SPAWN = multiprocessing.get_context("spawn")


def _bots(address: str, load: Load, part: int, parts: int) -> None:
    if load.unary:
        names = bench_server.bot_names(load)[part::parts]
        asyncio.run(bench_bots.run_unary(address, max(1, load.bots // parts), names))
    else:
        asyncio.run(bench_bots.run_streams(address, bench_server.tickets_for(load)[part::parts], load.tables))


def _read(pipe: Connection) -> tuple[Reading, int, int]:
    pipe.send(None)
    found: tuple[Reading, int, int] = pipe.recv()
    return found


def measure(load: Load, *, seconds: float, warmup: float, processes: int) -> dict[str, float]:
    """One load on a server of its own: rates and costs over `seconds`, once all tables are live."""
    ours, theirs = _SPAWN.Pipe()
    server = _SPAWN.Process(target=bench_server.serve, args=(load, theirs), daemon=True)
    server.start()
    address = ours.recv()
    bots = [
        _SPAWN.Process(target=_bots, args=(address, load, part, processes), daemon=True) for part in range(processes)
    ]
    for bot in bots:
        bot.start()
    try:
        _wait_until_full(ours, load)
        time.sleep(warmup)
        before, _, _ = _read(ours)
        time.sleep(seconds)
        after, _, faults = _read(ours)
    finally:
        for process in (*bots, server):
            process.kill()
            process.join()
    if faults:
        raise RuntimeError(f"{faults} faults of honest bots: the figures mean nothing")
    decisions = after.decisions - before.decisions
    return {
        "per_s": decisions / (after.wall - before.wall),
        "us": (after.cpu - before.cpu) / decisions * 1e6,
        "batch": decisions / max(1, after.messages - before.messages),
    }


def _wait_until_full(pipe: Connection, load: Load) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        reading, tables, _ = _read(pipe)
        if tables >= load.tables * 0.95 and reading.decisions > load.tables:
            return
        time.sleep(0.2)
    raise RuntimeError("the tables did not fill within two minutes")


def main(arguments: list[str]) -> dict[str, Any]:
    """Runs the rounds and returns the figures."""
    parser = argparse.ArgumentParser(description="Decisions per second of a match service.")
    parser.add_argument("--bots", type=int, default=50)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=6.0, help="measured time of each load in each round")
    parser.add_argument("--warmup", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=1, help="processes the bots are spread over")
    parser.add_argument("--window", type=int, default=1, help="unconfirmed messages per stream")
    options = parser.parse_args(arguments)
    loads = {
        "stream": Load(options.bots, options.tables, window=options.window),
        "unary": Load(options.bots, options.tables, unary=True),
    }
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in loads}
    for number in range(options.rounds):
        for name, load in loads.items():
            found = measure(load, seconds=options.seconds, warmup=options.warmup, processes=options.processes)
            rounds[name].append(found)
            sys.stdout.write(
                f"round {number + 1} {name:6}  {found['per_s']:9.0f} decisions/s"
                f"  {found['us']:6.1f} us of server CPU each  {found['batch']:6.2f} decisions a message\n"
            )
            sys.stdout.flush()
    ratios = [stream["per_s"] / unary["per_s"] for stream, unary in zip(rounds["stream"], rounds["unary"], strict=True)]
    return {
        "bots": options.bots,
        "tables": options.tables,
        "decisions_per_s": round(statistics.median(found["per_s"] for found in rounds["stream"])),
        "unary_per_s": round(statistics.median(found["per_s"] for found in rounds["unary"])),
        "unary_ratio": round(statistics.median(ratios), 2),
        "server_us_per_decision": round(statistics.median(found["us"] for found in rounds["stream"]), 1),
        "unary_server_us_per_decision": round(statistics.median(found["us"] for found in rounds["unary"]), 1),
        "decisions_per_message": round(statistics.median(found["batch"] for found in rounds["stream"]), 2),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1:])) + "\n")
