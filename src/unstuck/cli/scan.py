"""`unstuck scan`."""

from __future__ import annotations
import sys
from pathlib import Path
import click
from unstuck.readers.source import Source
from unstuck.reporters import jsonl
from unstuck.scan import Scan


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, allow_dash=True))
@click.option("--json", "as_json", is_flag=True)
@click.option("--preset", default="default")
@click.option("--format", "fmt")
def command(paths, as_json, preset, fmt):
    from unstuck.presets import preset as named

    scan = Scan(named(preset))
    for p in paths:
        options = {"report": lambda e: click.echo(f"{e}", err=True)}
        s = Source(sys.stdin.buffer, "-", **options) if p == "-" else Source.open(Path(p), **options)
        for r in scan.runs(s, fmt):
            click.echo(jsonl.line(r))
    return 0
