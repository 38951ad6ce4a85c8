"""What loads what, seen at run time: import-linter reads the source, these look at the process."""

from __future__ import annotations

import subprocess
import sys

import pytest


def modules_loaded_by(statement: str) -> set[str]:
    """Top-level modules in a new interpreter after `statement`."""
    script = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize(
    ("statement", "forbidden"),
    [
        pytest.param("import bots_sdk", {"ray", "prometheus_client", "services", "sqlalchemy"}, id="sdk"),
        pytest.param("import bots_sdk.rules", {"ray", "prometheus_client", "grpc", "google", "baohuang"}, id="rules"),
    ],
)
def test_import_stays_light(statement: str, forbidden: set[str]) -> None:
    assert modules_loaded_by(statement) & forbidden == set()
