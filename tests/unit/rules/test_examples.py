"""The examples in the docstrings of the rules run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import bots_sdk.rules

MODULES = [
    "bots_sdk.rules",
    *(f"bots_sdk.rules.{module.name}" for module in pkgutil.iter_modules(bots_sdk.rules.__path__)),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    found = doctest.DocTestFinder().find(bots_sdk.rules)
    assert any(one.examples for one in found)


def test_everything_exported_is_there() -> None:
    assert all(hasattr(bots_sdk.rules, name) for name in bots_sdk.rules.__all__)
