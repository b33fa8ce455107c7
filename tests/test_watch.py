"""`unstuck watch`: sessions while they grow."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from rich.console import Console

from tests.support.event_lines import text
from unstuck.cli import main
from unstuck.cli.followed import Followed, modified
from unstuck.cli.watch import fitting
from unstuck.findings import Level
from unstuck.presets import preset
from unstuck.scan import Loop, Repeated, RunReport
from unstuck.testing import run_of

RULES = preset("default")


def lines(run: str, count: int) -> str:
    events = run_of([("read_file", {"path": "a"}, "same")] * count, run=run)
    return text(events)


def test_a_file_is_read_again_when_it_has_grown(tmp_path):
    """What a run has come to follows its file; one that did not change is not read again."""
    file = tmp_path / "a.jsonl"
    file.write_text(lines("one", 2), "utf-8")
    followed = Followed(RULES)
    followed.touch(file, 100.0)
    assert followed.read(100.0)
    assert [(run.calls, len(run.findings)) for _, run in followed.runs(0.0)] == [(2, 0)]
    assert not followed.read(200.0)
    file.write_text(lines("one", 9), "utf-8")
    followed.touch(file, 300.0)
    assert followed.read(300.0)
    assert [(changed, run.calls, run.level.label) for changed, run in followed.runs(0.0)] == [(300.0, 9, "stop")]


def test_a_file_is_not_read_again_at_once(tmp_path):
    """Reading takes a bounded share of the time, however fast a log grows."""
    file = tmp_path / "a.jsonl"
    file.write_text(lines("one", 200), "utf-8")
    followed = Followed(RULES)
    followed.touch(file, 1.0)
    assert followed.read(1.0)
    followed.touch(file, 1.0)
    assert not followed.read(1.0)
    assert followed.read(1_000_000.0)


def test_what_was_not_touched_since_is_not_shown(tmp_path):
    """The latest comes first."""
    followed = Followed(RULES)
    for changed, name in enumerate(("old", "new", "newer")):
        file = tmp_path / name
        file.write_text(lines(name, 1), "utf-8")
        followed.touch(file, changed)
    followed.read(10.0)
    assert [run.run for _, run in followed.runs(1.0)] == ["newer", "new"]


@pytest.mark.parametrize("content", [b"", b"\x00\xff binary", b"{", b"no session"])
def test_what_cannot_be_read_shows_nothing(tmp_path, content):
    """A folder of sessions holds other things too."""
    file = tmp_path / "a"
    file.write_bytes(content)
    followed = Followed(RULES)
    followed.touch(file, 1.0)
    followed.touch(tmp_path / "gone", 1.0)
    followed.read(1.0)
    assert followed.runs(0.0) == []


def test_a_write_ahead_log_stands_for_its_database(tmp_path):
    """What SQLite writes beside a database is a change of it."""
    followed = Followed(RULES)
    file = tmp_path / "a.db"
    file.write_text(lines("one", 1), "utf-8")
    followed.touch(tmp_path / "a.db-wal", 5.0)
    followed.read(5.0)
    assert [run.run for _, run in followed.runs(0.0)] == ["one"]


def test_files_of_before_are_passed_over(tmp_path):
    """Only what was written to after the moment asked for is read at the start."""
    for name, age in (("a", 10), ("b", 1000)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    assert modified([tmp_path / name for name in ("a", "b", "c")], 1e9 - 100) == [(tmp_path / "a", 1e9 - 10)]


@pytest.mark.parametrize("columns", ["80", "140"])
def test_the_table_names_who_repeats(tmp_path, capsys, monkeypatch, columns):
    """Those that loop come first, with how often; at any width nothing is cut that matters."""
    monkeypatch.setenv("COLUMNS", columns)
    (tmp_path / "fine.jsonl").write_text(lines("fine", 1), "utf-8")
    (tmp_path / "stuck.jsonl").write_text(lines("stuck", 9), "utf-8")
    assert main(["watch", "--once", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert shown.index("stuck") < shown.index("fine")
    assert {"repeated_result", "read_file", "stop", "9"} <= set(shown.split())


@pytest.mark.parametrize("width", range(80, 200, 5))
def test_no_figure_is_cut_off_at_any_width(width):
    """A session takes one line where all of it fits, and two elsewhere."""
    loop = Loop(1, "recurring_failure", ("exec_command",), "main", Level.OBSERVE, 1, 999, 999, would=Level.BLOCK)
    run = RunReport(
        "4747c0de-1111-4222-8333-444455556666", "a", "openai_messages", 1234, 1234, (), (loop,), Repeated(1233, 1, 0.0042)
    )
    console = Console(file=io.StringIO(), width=width)
    console.print(fitting(console, [(0.0, run._replace(tokens=1, usd=0.0055)), (0.0, run._replace(loops=()))], 5000.0))
    shown = console.file.getvalue()
    assert "\u2026" not in shown
    assert [
        word for word in ("openai_messages", "$0.0055", "$0.0042", "would block", "recurring_failure") if word not in shown
    ] == []


def test_nothing_to_follow_is_said(tmp_path, capsys, monkeypatch):
    """Without a path and without a coding agent there is nothing; the exit status is that of a scan."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "COPILOT_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert main(["watch", "--once"]) == 3
    assert "unstuck watch PATH" in capsys.readouterr().err


def test_the_table_follows_a_growing_file(tmp_path):
    """The real command, a real file: the loop appears while the session goes on, and the file is only read."""
    pytest.importorskip("watchfiles", reason="the extra `watch` is not installed")
    file = tmp_path / "a.jsonl"
    file.write_text(lines("growing", 1), "utf-8")
    environment = {**os.environ, "COLUMNS": "140", "TERM": "dumb"}
    command = [sys.executable, "-m", "unstuck", "watch", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, cwd=tmp_path) as process:
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        seen, until = b"", time.monotonic() + 60
        try:
            while b"stop" not in seen and time.monotonic() < until:
                if b"growing" in seen:
                    file.write_text(lines("growing", 9), "utf-8")
                time.sleep(0.3)
                with suppress(BlockingIOError):
                    seen += os.read(process.stdout.fileno(), 65536)
        finally:
            process.terminate()
    assert b"repeated_result" in seen
    assert [path.name for path in Path(tmp_path).iterdir()] == ["a.jsonl"]
