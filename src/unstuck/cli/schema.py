"""`unstuck schema`."""

from __future__ import annotations

import click


@click.command(epilog="Example: unstuck schema > scan.schema.json")
def command() -> None:
    """Print the JSON schema of `unstuck scan --json`: one such object a line."""
    from unstuck.schemas import schema

    click.echo(schema("scan"), nl=False)
