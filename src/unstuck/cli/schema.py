"""`unstuck schema`."""

from __future__ import annotations

import click


@click.command(epilog="Example: unstuck schema > scan.schema.json")
def command() -> None:
    """
    Print the JSON schema of `unstuck scan --json`.

    Each line of that answer is one object of this schema.
    """
    from unstuck.schemas import schema

    click.echo(schema("scan"), nl=False)
