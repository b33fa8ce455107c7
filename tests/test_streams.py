"""Standard streams that are closed, full, or whose reader goes away: the exit status keeps its meaning."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.event_lines import text
from unstuck.testing import run_of

RUN = run_of([("read_file", {"path": "a.txt"}, "same")] * 4)


@pytest.fixture
def logs(tmp_path):
    """A folder with one run."""
    (tmp_path / "a.jsonl").write_text(text(RUN), "utf-8")
    return tmp_path


PIPED = ["scan a.jsonl", "scan a.jsonl --json", "explain a.jsonl r7", "schema", "--help", "scan --help", "log"]


@pytest.mark.skipif(os.name == "nt", reason="no closed pipes of this kind on Windows")
@pytest.mark.parametrize("arguments", PIPED)
def test_a_closed_pipe_is_quiet(logs, arguments):
    """When the reader of the answer goes away, there is no traceback, and no status that would say that a run looped."""
    (logs / "a.jsonl").write_text(text([event._replace(run=f"r{n}") for n in range(300) for event in RUN]), "utf-8")
    (logs / "hooks.jsonl").write_text('{"time": 1, "program": "codex", "session": "s", "error": "x"}\n', "utf-8")
    command = [sys.executable, "-m", "unstuck", *arguments.split()]
    environment = {**os.environ, "UNSTUCK_HOME": str(logs)}
    with subprocess.Popen(command, cwd=logs, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


CLOSED = [(["scan", "a.jsonl"], 0), (["scan", "-"], 3), (["explain", "-"], 3), (["--help"], 0)]


@pytest.mark.skipif(os.name == "nt", reason="closed as a shell of Unix does it")
@pytest.mark.parametrize(("arguments", "status"), CLOSED, ids=[" ".join(arguments) for arguments, _ in CLOSED])
@pytest.mark.parametrize("stream", [0, 1, 2])
def test_a_closed_stream_is_like_an_empty_one(logs, arguments, status, stream):
    """Whichever of the standard streams is closed, the exit status means what it always means."""
    done = subprocess.run(
        [sys.executable, "-m", "unstuck", *arguments], cwd=logs, stdin=subprocess.DEVNULL, capture_output=True, check=False,
        preexec_fn=lambda: os.close(stream), timeout=60,
    )  # fmt: skip
    assert (done.returncode, b"Traceback" in done.stderr) == (status, False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "arguments", [["scan", "a.jsonl", "--json"], ["explain", "a.jsonl"], ["schema"], ["--help"]], ids=" ".join
)
def test_a_full_disk_is_told(logs, arguments):
    """An answer that cannot be written is no failed check: exit status 74 and one line."""
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "unstuck", *arguments]
        done = subprocess.run(command, cwd=logs, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (74, b"unstuck: No space left on device\n")
