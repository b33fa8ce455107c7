"""What a scan reads: the paths a person named, or the places where coding agents keep their sessions."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import click

from unstuck.cli.places import PLACES
from unstuck.reporters import plural

RECENT_DAYS = 30
"""How far back a scan without a path looks, unless told otherwise."""
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
PASSED_OVER = frozenset((".git", "node_modules", "__pycache__"))


class Input(NamedTuple):
    """A file to read; *named*: a person named it, so it should be readable."""

    path: Path
    named: bool


def inputs(paths: Iterable[str], say: Callable[[str], None]) -> Iterator[Input]:
    """
    The files of *paths*, each once, folders recursively and sorted; standard input is `-`.

    *say* is told of folders that hold no file, and of what cannot be looked into.
    """
    seen: set[Path] = set()
    for given in paths:
        path = Path(given)
        folder = given != "-" and path.is_dir()
        for file in _told(path, say) if folder else [path]:
            if file.absolute() not in seen:
                seen.add(file.absolute())
                yield Input(file, named=not folder)


def _told(folder: Path, say: Callable[[str], None]) -> list[Path]:
    problems: list[str] = []
    found = files(folder, lambda error: problems.append(f"{error.filename}: {error.strerror}"))
    for line in problems or ([] if found else [f"{folder}: there is no file in it"]):
        say(line)
    return found


def files(folder: Path, report: Callable[[OSError], None] = lambda _: None) -> list[Path]:
    """All files under *folder*, in an order that does not depend on the file system; *report* is told of what cannot be looked into."""
    found: list[Path] = []
    for base, folders, names in os.walk(folder, onerror=report):
        folders[:] = [name for name in folders if name not in PASSED_OVER]
        found.extend(path for name in names if _is_file(path := Path(base, name), report))
    return sorted(found, key=lambda path: path.as_posix())


def _is_file(path: Path, report: Callable[[OSError], None]) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False  # a link that leads nowhere, or a file that is gone by now
    except OSError as error:
        report(error)
        return False


def known_places(environ: Mapping[str, str], home: Path) -> tuple[list[Path], list[str]]:
    """The folders (or databases) of known programs that exist, and a line about each program: what was found, or where it was looked for."""
    found: list[Path] = []
    lines = []
    for place in PLACES:
        folders = list(place.paths(environ, home))
        there = [folder for folder in folders if folder.exists()]
        found.extend(there)
        if there:
            counted = sum(len(files(folder)) if folder.is_dir() else 1 for folder in there)
            lines.append(f"{place.program}: {plural(counted, 'file')} in {', '.join(map(str, there))}")
        else:
            lines.append(f"{place.program}: nothing in {', '.join(map(str, folders))} ({place.variable} moves it)")
    return found, lines


def since(_ctx: click.Context, _param: click.Parameter, value: str | None) -> datetime | None:
    """The moment that *value* names: so long ago (`7d`, `12h`), or a date (the local midnight with which it begins)."""
    if value is None:
        return None
    ago = re.fullmatch(r"(\d{1,6})([mhdw])", value.strip())
    try:
        if ago:
            return datetime.now(UTC) - timedelta(**{UNITS[ago.group(2)]: int(ago.group(1))})
        return datetime.fromisoformat(value.strip()).astimezone()
    except (ValueError, OverflowError, OSError):
        raise click.BadParameter(f"{value!r} is neither a time ago (7d, 12h, 2w) nor a date (2026-11-01)") from None
