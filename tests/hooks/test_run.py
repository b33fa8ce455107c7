"""The hook process: it never stands in the way, whatever happens, and many at once lose nothing."""

from __future__ import annotations

import io
import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from unstuck.hooks import log, run
from unstuck.monitor import Monitor
from unstuck.store import FILE, Key, Saved, Store

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX only")
COMMAND = [sys.executable, "-P", "-m", "unstuck", "hook", "run", "claude_code"]


def event(number: int = 1, **more: object) -> bytes:
    said = {"session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": f"t{number}"}
    return json.dumps({**said, "tool_input": {"command": f"command {number}"}, **more}).encode()


def hook(home: Path, given: bytes, command: list[str] | None = None, **more: object) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "UNSTUCK_HOME": str(home), **more.pop("environ", {})}
    return subprocess.run(
        command or COMMAND, input=given, env=environment, cwd=home.parent, capture_output=True, check=False, timeout=60, **more
    )


def errors(home: Path) -> str:
    return "\n".join(entry["error"] for entry in log.entries(str(home)) if "error" in entry)


def nothing(home):
    """The state as it is after an installation."""


def garbage(home):
    home.mkdir()
    (home / FILE).write_bytes(b"this is no database at all, " * 100)


def newer_schema(home):
    with closing(Store(str(home / FILE))) as store:
        store._base.execute("PRAGMA user_version = 9")


def newer_state(home):
    with closing(Store(str(home / FILE))) as store, store:
        store.save(Key("claude_code", "s", "main"), Saved(json.dumps({"version": 99}), "{}"))


def broken_state(home):
    with closing(Store(str(home / FILE))) as store, store:
        store.save(Key("claude_code", "s", "main"), Saved("{", "{"))


def folder_for_file(home):
    (home / FILE).mkdir(parents=True)


def bad_settings(home):
    (home.parent / "unstuck.toml").write_text("window = true\n", "utf-8")


FAILURES = [
    ("empty input", nothing, b"", "the event: it is empty"),
    (
        "no JSON",
        nothing,
        b"{not json",
        "the event: no JSON: Expecting property name enclosed in double quotes at line 1, column 2",
    ),
    ("a list", nothing, b"[1, 2]", "the event: it is no JSON object"),
    ("binary", nothing, bytes(range(256)), "the event: no JSON: Expecting value at line 1, column 1"),
    ("no end", nothing, b"[" * 100_000, "RecursionError"),
    ("no session", nothing, b'{"hook_event_name": "PreToolUse"}', "the event: it has no session_id"),
    ("no tool", nothing, b'{"session_id": "s", "hook_event_name": "PreToolUse"}', "the event: it has no tool_name"),
    ("a broken file", garbage, event(), "counting begins anew"),
    ("a newer file", newer_schema, event(), "version 9"),
    ("a newer state", newer_state, event(), "version 99"),
    ("a broken state", broken_state, event(), "begun anew"),
    ("a folder in the file's place", folder_for_file, event(), "unable to open"),
    ("settings that are wrong", bad_settings, None, "window=True"),
]


@pytest.mark.parametrize(("prepare", "given", "reason"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES])
def test_whatever_is_wrong_the_call_goes_through(tmp_path, prepare, given, reason):
    """Nothing is answered, the exit status is 0, and the reason stands in the log, without what the event held."""
    home = tmp_path / "state"
    prepare(home)
    done = hook(home, event(cwd=str(tmp_path)) if given is None else given)
    assert (done.returncode, done.stdout) == (0, b"")
    assert reason in errors(home)
    assert "command 1" not in errors(home)


def test_an_event_of_any_length_is_taken_in_and_memory_is_bounded(monkeypatch):
    """No more is kept than the bound and a byte, the writer is heard to the end, and the log says why nothing was judged."""
    monkeypatch.setattr(run, "MOST_BYTES", 1024 * 1024)
    for size in (0, 1024 * 1024, 1024 * 1024 + 1, 5_000_000):
        stream = io.BytesIO(b" " * size)
        raw = run._taken(stream)
        assert (len(raw), stream.tell()) == (min(size, 1024 * 1024 + 1), size)
    done = run.answer("claude_code", raw, {}, 1.0)
    assert (done.output, done.entries[0]["error"]) == ("", "the event: it is longer than 1 MB")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("closed", [None, 0, 1, 2])
def test_an_answer_that_cannot_be_written_is_logged(tmp_path, closed):
    """A full disk behind standard output, or a closed stream: the exit status is 0, and it stands in the log what is known."""
    home = tmp_path / "state"
    for number in range(3):
        with Path("/dev/full").open("wb") as full:
            for name in ("PreToolUse", "PostToolUse"):
                done = subprocess.run(
                    COMMAND,
                    input=event(
                        hook_event_name=name, tool_use_id=f"t{number}", tool_input={"command": "x"}, tool_response="same"
                    ),
                    stdout=full if closed is None else subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env={**os.environ, "UNSTUCK_HOME": str(home)},
                    preexec_fn=None if closed is None else lambda: os.close(closed),
                    check=False,
                    timeout=60,
                )
                assert (done.returncode, done.stderr) == (0, b"")
    said = [entry.get("error") or entry["action"] for entry in log.entries(str(home))]
    assert said == (
        ["nudged", "the answer cannot be written: No space left on device"] if closed is None
        else ["the event: it is empty"] * 6 if closed == 0 else ["nudged"]
    )  # fmt: skip


@pytest.mark.parametrize("more", [{"hook_event_name": "SessionStart"}, {"hook_event_name": 3}, {"hook_event_name": "Unheard"}])
def test_an_unknown_event_is_passed_over(tmp_path, more):
    """A newer coding agent may say what this release does not know: no answer, no entry."""
    done = hook(tmp_path / "state", event(**more))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not (tmp_path / "state").exists()


def test_an_unknown_agent_blocks_nothing(tmp_path):
    """The exit status is not 2, which would mean a block."""
    done = hook(tmp_path / "state", event(), [*COMMAND[:-1], "nobody"])
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"claude_code" in done.stderr


@posix
def test_a_full_disk_lets_the_call_through(tmp_path):
    """Where not even the log can be written, the reason goes to standard error."""
    import resource

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = hook(tmp_path / "state", event(), preexec_fn=full)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"unstuck:" in done.stderr


@posix
@pytest.mark.skipif(os.name != "nt" and os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_lets_the_call_through(tmp_path):
    """The reason goes to standard error."""
    home = tmp_path / "state"
    home.mkdir(mode=0o500)
    done = hook(home, event())
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"unstuck:" in done.stderr


def test_a_hook_gives_up_when_its_time_is_used_up(tmp_path):
    """Also while it waits for input that never ends."""
    program = "import unstuck.hooks.run as r; r.BUDGET = 0.3; r.main(['claude_code'])"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "UNSTUCK_HOME": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.wait(timeout=60) == 0
    assert "no answer within 0.3 s" in errors(tmp_path)


def test_a_locked_file_lets_the_call_through(tmp_path):
    """Somebody else holds the file for longer than a hook waits."""
    program = "import unstuck.hooks.run as r; r.PATIENCE = 0.1; r.main(['claude_code'])"
    with closing(Store(str(tmp_path / FILE))) as store, store:
        done = hook(tmp_path, event(), [sys.executable, "-c", program])
    assert (done.returncode, done.stdout) == (0, b"")
    assert "locked" in errors(tmp_path)


def test_a_result_of_50_megabytes_is_taken(tmp_path):
    """A large output is judged like a small one."""
    home = tmp_path / "state"
    hook(home, event())
    done = hook(home, event(hook_event_name="PostToolUse", tool_response={"stdout": "line\n" * 10_000_000}))
    assert (done.returncode, done.stdout, errors(home)) == (0, b"", "")


def calls_of(home: Path) -> int:
    """How many calls the saved monitor has counted, once SQLite has found its file sound."""
    with closing(sqlite3.connect(home / FILE)) as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with closing(Store(str(home / FILE))) as store, store:
        saved = store.load(Key("claude_code", "s", "main"))
    assert saved is not None
    monitor = Monitor.load(saved.state)
    assert monitor.calls == saved.calls
    return monitor.calls


def many(home: Path, count: int) -> list[subprocess.Popen[bytes]]:
    """So many hooks of one session at once, each with an event of its own."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "UNSTUCK_HOME": str(home)}
    processes = []
    for number in range(count):
        given = home.parent / f"event-{number}"
        given.write_bytes(event(number))
        with given.open("rb") as file:
            processes.append(subprocess.Popen(COMMAND, stdin=file, stdout=subprocess.PIPE, env=environment, cwd=home.parent))
    return processes


def finish(process: subprocess.Popen[bytes]) -> int:
    assert process.stdout is not None
    process.stdout.read()
    process.stdout.close()
    return process.wait(timeout=120)


def test_fifty_hooks_at_once_lose_no_call(tmp_path):
    """Also the very first of a session, while the file is being made."""
    home = tmp_path / "state"
    processes = many(home, 50)
    assert [finish(process) for process in processes] == [0] * 50
    assert errors(home) == ""
    assert calls_of(home) == 50


@posix
def test_hooks_killed_at_random_lose_at_most_their_own_call(tmp_path):
    """The state stays sound, and every hook that came to its end was counted."""
    home = tmp_path / "state"
    choose = random.Random(5)
    processes = many(home, 50)
    victims = choose.sample(processes, 20)
    for process in victims:
        time.sleep(choose.uniform(0, 0.05))
        process.kill()
    ended = [finish(process) for process in processes]
    done = ended.count(0)
    assert set(ended) <= {0, -9}
    assert 30 <= done < 50
    assert errors(home) == ""
    assert done <= calls_of(home) <= 50


def loaded(code: str) -> set[str]:
    code += "\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


def test_a_hook_loads_only_what_it_needs(tmp_path):
    """No command line, no readers' decoder, no dataclasses, no event loop, no path library."""
    code = f"""
import os, unstuck.cli, unstuck.hooks.run as run
done = run.answer("claude_code", {event()!r}, {{"UNSTUCK_HOME": {str(tmp_path)!r}}}, 1.0)
assert done == ("", ()), done
"""
    heavy = {
        "click",
        "rich",
        "msgspec",
        "dataclasses",
        "asyncio",
        "argparse",
        "pathlib",
        "inspect",
        "threading",
        "subprocess",
        "tomllib",
    }
    assert loaded(code) & heavy == set()
