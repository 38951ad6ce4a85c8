"""How an operator types a setting: every message names what he can change, and not what the code calls it."""

from __future__ import annotations

_NAMES = {"data_dir": "--data"}
"""Options that are not called as their setting."""


def format_option(setting: str) -> str:
    """The option of a field of `Settings`; it is in the variable `BAOHUANG_<FIELD>` as well."""
    return _NAMES.get(setting) or "--" + setting.replace("_", "-")
