"""`baohuang rules`: what there is to play."""

from __future__ import annotations

import json

import click

from bots_sdk.cli.options import parse_rules, rules_options
from bots_sdk.rules.profiles import PROFILES, format_options


@click.command()
@rules_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for scripts.")
def rules(profile: str, overrides: tuple[str, ...], as_json: bool) -> None:
    """Show every option of a profile of the rules, with changes if some are given."""
    values = format_options(parse_rules(profile, overrides))
    if as_json:
        click.echo(json.dumps({"profile": profile, "options": values}))
        return
    click.echo(f"{profile}  (profiles: {', '.join(PROFILES)})")
    width = max(map(len, values))
    for name, value in values.items():
        click.echo(f"  {name:<{width}}  {json.dumps(value)}")
