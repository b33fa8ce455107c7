"""SQLite databases in which programs keep their sessions: read, never written, and nothing is left beside them."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from unstuck.errors import ReadError

MAGIC = b"SQLite format 3\x00"


class Stored(Protocol):
    """A source, as far as a database needs one."""

    @property
    def name(self) -> str:
        """What errors call it."""
        ...

    @property
    def path(self) -> Path | None:
        """Its file, where it is one."""
        ...

    def whole(self) -> bytes:
        """Everything in it."""
        ...


@contextlib.contextmanager
def opened(source: Stored) -> Iterator[sqlite3.Connection]:
    """The database in *source*, rows by name; raises `ReadError` where it is none or is broken."""
    try:
        base = _connect(source)
        base.row_factory = sqlite3.Row
        # A name or a text that is no UTF-8 must not end the reading of all others.
        base.text_factory = lambda raw: raw.decode("utf-8", "replace")
        with contextlib.closing(base):
            yield base
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # Of a broken database even the names of its columns may be no text.
        raise ReadError(source.name, f"a database that cannot be read: {error}") from error


def tables(source: Stored) -> frozenset[str]:
    """The names of the tables in *source*, none where it is no database."""
    try:
        with opened(source) as base:
            return frozenset(row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
    except ReadError:
        return frozenset()


def fields(row: sqlite3.Row) -> dict[str, Any]:
    """*row* as a mapping, whatever columns this version of the program has."""
    return dict(zip(row.keys(), row, strict=True))


def _connect(source: Stored) -> sqlite3.Connection:
    path = source.path
    if path is None or not _is_database(path):  # a stream, or a packed file
        return _in_memory(source.whole())
    wal = path.with_name(f"{path.name}-wal")
    # Opening a WAL database makes files beside it, unless it is told that nobody writes.
    live = wal.exists() and wal.stat().st_size > 0
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro" + ("" if live else "&immutable=1"), uri=True)


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _in_memory(data: bytes) -> sqlite3.Connection:
    base = sqlite3.connect(":memory:")
    # Bytes 18 and 19 say WAL, which a database in memory cannot be in.
    base.deserialize(data[:18] + b"\x01\x01" + data[20:])
    return base
