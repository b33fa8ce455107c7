"""The file in which short-lived processes keep what a monitor has seen."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from unstuck import store as store_module
from unstuck.errors import StateError
from unstuck.store import DAY, FILE, KEPT_DAYS, BrokenFileError, Key, Saved, Store, folder, set_aside

KEY = Key("claude_code", "s", "main")


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "state" / FILE)


@pytest.fixture
def store(path):
    with closing(Store(path)) as opened:
        yield opened


def test_what_was_saved_is_loaded(store):
    """Each agent of each session of each program has its own."""
    with store:
        store.save(KEY, Saved("one", "m", 3, "/p"))
        store.save(KEY._replace(agent="sub"), Saved("two", "m"))
        store.save(KEY, Saved("three", "n", 4, "/p"))
    with store:
        assert store.load(KEY) == Saved("three", "n", 4, "/p")
        assert store.load(KEY._replace(program="codex")) is None
        assert store.agents("claude_code", "s") == ["main", "sub"]
    assert [(row.agent, row.calls, row.project) for row in store.sessions()] == [("main", 4, "/p"), ("sub", 0, "")]


def test_an_exception_undoes_the_transaction(store):
    """Half a change is no change."""

    def half() -> None:
        with store:
            store.save(KEY, Saved("half", ""))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    with store:
        assert store.load(KEY) is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
def test_files_are_private(path):
    """The folder is 0700 and every file in it 0600, whatever the umask."""
    before = os.umask(0)
    try:
        with closing(Store(path)) as opened:
            with opened:
                opened.save(KEY, Saved("x", ""))
            where = Path(path).parent
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in where.iterdir()}
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}
    assert {FILE, f"{FILE}-wal"} <= set(modes) <= {FILE, f"{FILE}-wal", f"{FILE}-shm"}
    assert stat.S_IMODE(where.stat().st_mode) == 0o700


def test_old_sessions_are_forgotten(store, monkeypatch):
    """A new session makes those go that nobody went on with for a month, and no others."""
    now = time.time()
    for days in (KEPT_DAYS + 1, KEPT_DAYS - 1):
        monkeypatch.setattr(store_module.time, "time", lambda days=days: now - days * DAY)
        with store:
            store.save(KEY._replace(session=f"{days} days"), Saved("x", ""))
    monkeypatch.setattr(store_module.time, "time", lambda: now)
    with store:
        store.save(KEY._replace(session="new"), Saved("x", ""))
    assert [row.session for row in store.sessions()] == ["new", f"{KEPT_DAYS - 1} days"]


def test_a_newer_file_is_refused_and_left_alone(path):
    """Another installation made it; the message says what to do."""
    with closing(Store(path)) as opened:
        opened._base.execute("PRAGMA user_version = 7")
    before = Path(path).read_bytes()
    with pytest.raises(StateError, match="version 7, this release reads 1"):
        Store(path)
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"no database, but long enough to look for a header " * 40, b"SQLite format 3\0" + b"\xff" * 4096]
)
def test_a_broken_file_is_told_from_other_failures(tmp_path, content):
    """It can be moved away, with what lies beside it, and the next process begins anew."""
    path = tmp_path / FILE
    path.write_bytes(content)
    with pytest.raises(BrokenFileError) as caught:
        Store(str(path))
    away = set_aside(str(path), caught.value.inode)
    assert Path(away).read_bytes() == content
    with closing(Store(str(path))) as opened, opened:
        assert opened.load(KEY) is None
    assert set_aside(str(path), caught.value.inode) == str(path)  # a slower process found the same: the new file stays
    assert path.exists()


def test_a_locked_file_is_waited_for_and_then_given_up(path):
    """Patience is bounded."""
    first, second = Store(path), Store(path, patience=0.05)
    with closing(first), closing(second), first, pytest.raises(StateError, match="locked"):
        second.__enter__()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_process_killed_inside_a_transaction_leaves_no_trace(path):
    """What it had begun is undone, and nobody has to wait for it."""
    program = (
        "import sys, time; from unstuck.store import *; s = Store(sys.argv[1]); s.__enter__();"
        "s.save(Key('claude_code', 's', 'main'), Saved('half', '')); print('ready', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    with closing(Store(path)) as opened, opened:
        assert opened.load(KEY) is None


@pytest.mark.parametrize(
    ("environ", "platform", "end"),
    [
        ({"UNSTUCK_HOME": "/x/y"}, "linux", ("x", "y")),
        ({"XDG_STATE_HOME": "/x"}, "linux", ("x", "unstuck")),
        ({}, "linux", (".local", "state", "unstuck")),
        ({}, "darwin", ("Library", "Application Support", "unstuck")),
        ({"LOCALAPPDATA": "/x"}, "win32", ("x", "unstuck")),
        ({}, "win32", ("AppData", "Local", "unstuck")),
    ],
)
def test_where_the_files_lie(monkeypatch, environ, platform, end):
    """Where each system keeps such files, unless a variable names a place."""
    monkeypatch.setattr(sys, "platform", platform)
    assert Path(folder(environ)).parts[-len(end) :] == end


def test_a_database_of_1000_sessions_is_sound(store):
    """SQLite itself finds nothing wrong with it."""
    with store:
        for number in range(1_000):
            store.save(KEY._replace(session=str(number)), Saved("x" * 1_000, "{}"))
    with closing(sqlite3.connect(store.path)) as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
