"""The real Qwen Code, the hooks installed, a model server on loopback that follows a script."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path, serve, npm_program):
    """`run(script)`: hooks into new settings, one headless session; what the hooks logged and what the model was sent."""
    qwen = npm_program("qwen", "@qwen-code/qwen-code@0.15.10")  # later ones need Node 22

    def start(script):
        model = serve("completions", script)
        work = tmp_path / "work"
        work.mkdir()
        (work / "poll.sh").write_text('echo x >> count\necho "$(wc -l < count) of 20 files are uploaded"\n', "utf-8")
        (tmp_path / ".qwen").mkdir()
        chosen = {"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": False}}
        quiet = {"general": {"enableAutoUpdate": False}, "model": {"skipLoopDetection": True}}
        (tmp_path / ".qwen" / "settings.json").write_text(json.dumps({**chosen, **quiet}), "utf-8")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "UNSTUCK_HOME": str(tmp_path / "state"),
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": model.url,
            "OPENAI_MODEL": "scripted",
            "NO_COLOR": "1",
        }
        hooks = [sys.executable, "-m", "unstuck", "hook", "install", "qwen_code"]
        subprocess.run(hooks, env=environment, check=True, cwd=work, timeout=60, capture_output=True)
        done = subprocess.run(
            [qwen, "-p", "MAINTASK", "--yolo"],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert model.errors == []
        log = tmp_path / "state" / "hooks.jsonl"
        entries = [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []
        return done, entries, model

    return start


def command(line: str):
    return [("run_shell_command", {"command": line, "is_background": False})]


def test_a_session_that_loops_is_nudged_and_then_refused_everything(run, tmp_path):
    """Qwen Code lets no hook end a run: behind the last rung every call is denied; a scan of its log finds the same."""

    def script(asked: str, results: int):
        if results >= 10:
            return "I am stuck"
        return command("cat missing.txt" if results < 9 else "echo something else")

    done, entries, model = run(script)
    actions = [entry.get("action") or entry["error"] for entry in entries]
    assert actions == ["nudged"] + ["denied"] * 6
    seen = json.dumps(model.requests[-1]["messages"])
    assert "You have made the same call" in seen
    assert "Every further call is refused until the person speaks" in seen
    assert "I am stuck" in done.stdout
    scan = [sys.executable, "-m", "unstuck", "scan", str(tmp_path / ".qwen"), "--json"]
    told = subprocess.run(scan, capture_output=True, text=True, check=True, timeout=120).stdout
    found = [(one["decision"], one["call"]) for line in told.splitlines() for one in json.loads(line)["findings"]]
    logged = {entry["level"]: entry["call"] for entry in reversed(entries)}
    assert found == [(level, logged[level]) for level in ("nudge", "block", "stop")]


def test_work_passes_untouched(run):
    """A poll whose reading moves on each time, and tests between edits, are no loops."""

    def script(asked: str, results: int):
        if results >= 20:
            return "all green"
        if results < 8:
            return command("sh poll.sh")
        return command("cat fixes; grep 18 fixes || exit 1" if results % 2 else f"echo fix {results} >> fixes")

    done, entries, _ = run(script)
    assert entries == []
    assert "all green" in done.stdout
