"""`make fuzz`: one target after the other under atheris, which looks for inputs that take new ways through the code.

    python -m tests.fuzz.campaign [--seconds 60] [--blind] [TARGET ...]

An input that is a finding is written to `.fuzz/TARGET/`, and replayed with `--replay FILE TARGET`. With `--blind`, and
without atheris, inputs are spoilt seeds and nothing is learnt from them: some thousand a second all the same.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .registry import Target

FOUND = Path(".fuzz")
LONGEST = 1 << 16
"""Bytes of an input."""
SLOW_SECONDS = 10
MOST_MEGABYTES = 2048


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all of them, if none is named")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--blind", action="store_true", help="without atheris")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run one input, and nothing else")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if not asked.inside:
        _verify_asked(parser, asked)
    if asked.replay is not None:
        _targets()[asked.targets[0]].run(asked.replay.read_bytes())
        return 0
    if asked.inside:
        _fuzz(asked.targets[0], asked.seconds)
        return 0
    failed = []
    for name in asked.targets or list(_targets()):
        print(f"==> {name}", flush=True)
        if asked.blind:
            _fuzz_blindly(name, asked.seconds)
        else:
            # libFuzzer ends the process it is in.
            inside = [sys.executable, "-m", "tests.fuzz.campaign", "--inside", "--seconds", str(asked.seconds), name]
            if subprocess.run(inside, check=False).returncode:
                failed.append(name)
    if failed:
        print(f"Findings in {', '.join(failed)}: see {FOUND}/")
    return bool(failed)


def _verify_asked(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    unknown = [name for name in asked.targets if name not in _targets()]
    if unknown:
        parser.error(f"there is no target {unknown[0]}; there are {', '.join(_targets())}")
    if asked.replay is not None and len(asked.targets) != 1:
        parser.error("--replay needs the one target that reads the file")


def _targets() -> dict[str, Target]:
    """Imported late, so that atheris can look on."""
    from . import every_target

    return every_target.TARGETS


def _fuzz(name: str, seconds: int) -> None:
    import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]  # `make fuzz` installs it

    with atheris.instrument_imports(include=["bots_sdk", "services", "yaml", "tests.fuzz"]):
        one = _targets()[name]
    folder = FOUND / name
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(one.seeds()):
        (corpus / f"seed-{number}").write_bytes(seed[:LONGEST])
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST}",
        f"-timeout={SLOW_SECONDS}",
        f"-rss_limit_mb={MOST_MEGABYTES}",
        f"-artifact_prefix={folder}{os.sep}",
        "-print_final_stats=1",
        "-verbosity=0",
        str(corpus),
    ]
    atheris.Setup([sys.argv[0], *options], one.run)
    atheris.Fuzz()


def _fuzz_blindly(name: str, seconds: int) -> None:
    from .test_readers import strange

    one = _targets()[name]
    until = time.monotonic() + seconds
    slowest, number = 0.0, time.time_ns()
    first = number
    while (began := time.monotonic()) < until:
        data = strange(name, number)
        try:
            one.run(data)
        except Exception:
            folder = FOUND / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"blind-{number}").write_bytes(data)
            print(f"a finding: {folder}/blind-{number}")
            raise
        slowest = max(slowest, time.monotonic() - began)
        number += 1
    print(f"{number - first} inputs, the slowest took {slowest:.3f} s")


if __name__ == "__main__":
    sys.exit(main())
