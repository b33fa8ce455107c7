"""
What short-lived processes keep between them: one SQLite file, one row for each agent of each session.

Digests and counters only: the rows hold what `Monitor.dump()` gives. SQLite in WAL mode is what makes parallel processes safe: a
process reads, changes and writes its row inside one immediate transaction, and one that is killed leaves no trace of what it had
begun.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import NamedTuple, Self

from unstuck.errors import StateError

VERSION = 1
"""Of the tables, in SQLite's `user_version`."""
PATIENCE = 2.0
"""Seconds to wait for other processes that are writing."""
KEPT_DAYS = 30
"""Days after which a session that nobody goes on with is forgotten."""
DAY = 86_400.0
FILE = "state.db"
_BROKEN = ("SQLITE_NOTADB", "SQLITE_CORRUPT")

_TABLES = """
CREATE TABLE sessions (
    program TEXT NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL, project TEXT NOT NULL,
    began REAL NOT NULL, seen REAL NOT NULL, calls INTEGER NOT NULL, state TEXT NOT NULL, memory TEXT NOT NULL,
    PRIMARY KEY (program, session, agent)
);
CREATE INDEX sessions_seen ON sessions (seen);
"""


class BrokenFileError(StateError):
    """The file is there and is no database any more; *inode* is which file that was."""

    inode = 0


class Key(NamedTuple):
    """Whose state: the coding agent's name in `unstuck.hooks`, its session id, and the agent within the session."""

    program: str
    session: str
    agent: str


class Saved(NamedTuple):
    """What is kept: the monitor's *state*, the hook's own *memory* (both JSON text), and *calls* so far for people to see."""

    state: str
    memory: str
    calls: int = 0
    project: str = ""


class Row(NamedTuple):
    """One agent of one session, as `unstuck log` and `status` show it; times are seconds since 1970."""

    program: str
    session: str
    agent: str
    project: str
    began: float
    seen: float
    calls: int


class Store:
    """
    The file at *path*, made private with its folder where there is none.

    *patience*: seconds to wait for other writers. Used as a context manager, it is one transaction: an exception undoes it.
    Everything that goes wrong is a `StateError`.
    """

    def __init__(self, path: str, patience: float = PATIENCE) -> None:
        self.path = path
        self._inode = 0
        self._until = time.monotonic() + patience
        try:
            if not os.path.exists(path):
                _create(path)
            self._inode = os.stat(path).st_ino
            self._base = sqlite3.connect(path, timeout=patience, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            raise _failed(path, error) from error
        try:
            (version,) = self._run("PRAGMA user_version").fetchone()
            self._run("PRAGMA synchronous = NORMAL")
            if version != VERSION:
                problem = f"{path} has version {version}, this release reads {VERSION}: upgrade unstuck, or move the file away"
                raise StateError(problem, version)
        except BaseException:
            self._base.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def __enter__(self) -> Self:
        self._run("BEGIN IMMEDIATE")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            self._run("COMMIT")
        elif self._base.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._base.execute("ROLLBACK")

    def load(self, key: Key) -> Saved | None:
        """What is kept under *key*."""
        columns = "state, memory, calls, project"
        row = self._run(f"SELECT {columns} FROM sessions WHERE program=? AND session=? AND agent=?", key).fetchone()
        return Saved(*row) if row else None

    def save(self, key: Key, saved: Saved) -> None:
        """Keep *saved* under *key*; the first save of a session forgets those that are too old."""
        now = time.time()
        update = "UPDATE sessions SET state=?, memory=?, calls=?, project=?, seen=? WHERE program=? AND session=? AND agent=?"
        if self._run(update, (*saved, now, *key)).rowcount:
            return
        self._run("DELETE FROM sessions WHERE seen < ?", (now - KEPT_DAYS * DAY,))
        columns = "program, session, agent, state, memory, calls, project, began, seen"
        self._run(f"INSERT INTO sessions ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*key, *saved, now, now))

    def agents(self, program: str, session: str) -> list[str]:
        """The agents of a session that something is kept of."""
        rows = self._run("SELECT agent FROM sessions WHERE program=? AND session=?", (program, session))
        return [name for (name,) in rows]

    def sessions(self) -> list[Row]:
        """Everything that is kept, the latest first."""
        rows = self._run("SELECT program, session, agent, project, began, seen, calls FROM sessions ORDER BY seen DESC")
        return [Row(*row) for row in rows]

    def _run(self, statement: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        while True:
            try:
                return self._base.execute(statement, values)
            except sqlite3.Error as error:
                # While a file is opened for the first time, or closed for the last, SQLite says so without having waited.
                busy = getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")
                if not busy or self._base.in_transaction or time.monotonic() > self._until:
                    raise _failed(self.path, error, self._inode) from error
                time.sleep(0.005)


def _create(path: str) -> None:
    """Make the file beside its place and put it there in one step: of many processes that do so at once, the first one's stays."""
    private_folder(os.path.dirname(path))
    new = f"{path}.{os.getpid()}"
    # SQLite gives the files beside a database the mode of that.
    os.close(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        base = sqlite3.connect(new, isolation_level=None)
        with contextlib.closing(base):
            base.execute("PRAGMA journal_mode = WAL")
            base.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
        with contextlib.suppress(FileExistsError):
            (os.rename if sys.platform == "win32" else os.link)(new, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(new)


def _failed(path: str, error: Exception, inode: int = 0) -> StateError:
    if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorname", "").startswith(_BROKEN):
        broken = BrokenFileError(f"{path}: {error}")
        broken.inode = inode
        return broken
    return StateError(f"{path}: {error}")


def set_aside(path: str, inode: int) -> str:
    """
    Move the broken file *inode* out of the way, with what SQLite keeps beside it; the next process begins anew.

    Returns its new path, or *path* where another process has done so before.
    """
    if os.stat(path).st_ino != inode:
        return path
    away = f"{path}.broken-{int(time.time())}"
    os.replace(path, away)
    for beside in ("-wal", "-shm"):
        with contextlib.suppress(OSError):
            os.replace(path + beside, away + beside)
    return away


def private_folder(path: str) -> None:
    """Make the folder *path* for this person alone, where there is none."""
    if not os.path.isdir(path):
        os.makedirs(path, mode=0o700, exist_ok=True)


def folder(environ: Mapping[str, str]) -> str:
    """Where state and log are kept: `UNSTUCK_HOME`, or where this system keeps such files."""
    given = environ.get("UNSTUCK_HOME")
    if given:
        return os.path.abspath(given)
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        return os.path.join(environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local"), "unstuck")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "unstuck")
    return os.path.join(environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state"), "unstuck")
