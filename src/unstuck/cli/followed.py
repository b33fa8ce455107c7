"""Session files that grow: which of them have to be read again, and what was found in them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from unstuck.errors import MissingDependencyError, ReadError
from unstuck.scan import RunReport, Scan
from unstuck.traces.source import Source

if TYPE_CHECKING:
    from unstuck.presets import Rules

SHARE = 0.1
"""Of the time, how much reading one file again and again may take: a log of an hour is not read anew for every line."""
DATABASE_ENDS = ("-wal", "-shm", "-journal")


class File:
    """One file: its runs as of the last reading, and when it may be read again."""

    def __init__(self) -> None:
        self.runs: tuple[RunReport, ...] = ()
        self.changed = 0.0
        self.next = 0.0
        self.dirty = True


class Followed:
    """The files of running sessions, read by *rules*; a file that cannot be read shows nothing."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._files: dict[Path, File] = {}

    def touch(self, path: Path, changed: float) -> None:
        """*path* was written to at *changed* (seconds since 1970)."""
        for end in DATABASE_ENDS:
            if path.name.endswith(end):
                path = path.with_name(path.name.removesuffix(end))
        file = self._files.setdefault(path, File())
        file.dirty = True
        file.changed = max(changed, file.changed)

    def read(self, now: float) -> bool:
        """Read what has changed and is due at *now*; whether anything was read."""
        due = [(path, file) for path, file in self._files.items() if file.dirty and file.next <= now]
        for path, file in due:
            begin = time.perf_counter()
            file.runs = self._read(path)
            file.dirty = False
            file.next = now + (time.perf_counter() - begin) / SHARE
            if not file.runs:
                # Where a session is spread over files, one of them stands for all.
                self._touch_neighbours(path, file.changed)
        return bool(due)

    def runs(self, since: float) -> list[tuple[float, RunReport]]:
        """When each run was last written to and what it came to, the latest first; only those written to after *since*."""
        found = [(file.changed, run) for file in self._files.values() if file.changed >= since for run in file.runs]
        return sorted(found, key=lambda entry: -entry[0])

    def _touch_neighbours(self, path: Path, changed: float) -> None:
        for other, file in self._files.items():
            if other.parent == path.parent and file.runs and changed > file.changed:
                self.touch(other, changed)

    def _read(self, path: Path) -> tuple[RunReport, ...]:
        try:
            source = Source.open(path)
        except ReadError:
            return ()
        try:
            return tuple(Scan(self._rules).runs(source))
        except (ReadError, MissingDependencyError):
            return ()
        finally:
            source.close()


def modified(paths: Iterable[Path], since: float) -> list[tuple[Path, float]]:
    """Those of *paths* that were written to after *since*, with the time."""
    found = []
    for path in paths:
        try:
            changed = path.stat().st_mtime
        except OSError:
            continue
        if changed >= since:
            found.append((path, changed))
    return found
