"""Which run of a file is meant, and its events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from unstuck.events import Event, RunEnd
from unstuck.readers import read
from unstuck.scan import RunReport, Scan

if TYPE_CHECKING:
    from unstuck.presets import Rules
    from unstuck.traces.source import Source


def reports(source: Source, rules: Rules | None = None, format: str | None = None) -> list[RunReport]:
    """The runs of *source* in the order in which they began, as `unstuck scan` sees and names them."""
    return list(Scan(rules).runs(source, format))


def chosen(runs: list[RunReport], wanted: str) -> list[int]:
    """
    The positions in *runs* of those that *wanted* may mean: an id, else `#` and a number from 1 on, else how ids begin.

    The name of the file may stand before `#`: so a scan of many files calls a run whose id another file has too.
    """
    exact = [index for index, run in enumerate(runs) if run.run == wanted]
    if exact:
        return exact
    name = Path(runs[0].source).name if runs else ""
    if name and wanted.startswith(f"{name}#"):
        wanted = wanted.removeprefix(name)
    if wanted[:1] == "#" and wanted[1:].isdecimal():
        return [int(wanted[1:]) - 1] if 0 < int(wanted[1:]) <= len(runs) else []
    return [index for index, run in enumerate(runs) if wanted and run.run.startswith(wanted)]


def events_of(source: Source, position: int, format: str | None = None) -> list[Event]:
    """The events of the run that was the one with that *position* (from 0 on) to begin in *source*."""
    return list(_events_of(source, position, format))


def _events_of(source: Source, position: int, format: str | None) -> Iterator[Event]:
    live: dict[str, int] = {}
    begun = 0
    for event in read(source, format)[1]:
        number = live.get(event.run)
        if number is None:
            number = live[event.run] = begun
            begun += 1
        if isinstance(event, RunEnd):
            del live[event.run]
        if number == position:
            yield event
            if isinstance(event, RunEnd):
                return
