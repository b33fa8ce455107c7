"""The real Gemini CLI, the hooks installed, a model server on loopback that follows a script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
FAILING = [("run_shell_command", {"command": "echo reading; exit 3"})]


@pytest.fixture
def run(tmp_path, serve, npm_program):
    """`run(script)`: hooks into new settings, one headless session; what the hooks logged and what the model was sent."""
    gemini = npm_program("gemini", "@google/gemini-cli@0.61.0")

    def start(script):
        model = serve("gemini", script)
        settings = tmp_path / ".gemini" / "settings.json"
        settings.parent.mkdir()
        chosen = {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
            "model": {"disableLoopDetection": True},  # its own ends a run at the fifth equal call in a row
        }
        settings.write_text(json.dumps(chosen), "utf-8")
        work = tmp_path / "work"
        work.mkdir()
        (work / "poll.sh").write_text('echo x >> count\necho "$(wc -l < count) of 20 files are uploaded"\n', "utf-8")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "UNSTUCK_HOME": str(tmp_path / "state"),
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": model.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "NO_COLOR": "1",
        }
        hooks = [sys.executable, "-m", "unstuck", "hook", "install", "gemini_cli"]
        subprocess.run(hooks, env=environment, check=True, cwd=work, timeout=60, capture_output=True)
        ask = [gemini, "-p", "MAINTASK", "--yolo", "-m", "gemini-2.5-flash"]
        done = subprocess.run(
            ask, cwd=work, env=environment, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL, check=False
        )
        assert model.errors == []
        log = tmp_path / "state" / "hooks.jsonl"
        entries = [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []
        return done, entries, model

    return start


def scanned(folder: Path) -> list[tuple[str, str, int | None]]:
    command = [sys.executable, "-m", "unstuck", "scan", str(folder), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    return [(one["pattern"], one["decision"], one["call"]) for run in runs for one in run["findings"]]


def test_a_session_that_loops_is_nudged_denied_and_ended(run, tmp_path):
    """The same failing command is answered with a nudge, then denied with a reason, then the run ends; a scan finds the same."""
    _, entries, model = run(lambda asked, results: FAILING if results < 40 else "done")
    assert [entry.get("action") or entry["error"] for entry in entries] == ["nudged", "denied", "denied", "denied", "ended"]
    seen = json.dumps(model.requests[-1]["contents"])
    assert "You have made the same call" in seen
    assert "This call was not executed." in seen
    found = {(entry["pattern"], entry["level"]): entry["call"] for entry in reversed(entries)}
    assert scanned(tmp_path / ".gemini" / "tmp") == sorted(
        ((*what, call) for what, call in found.items()), key=lambda one: one[2]
    )


def test_work_passes_untouched(run):
    """A poll whose reading moves on each time, and tests between edits, are no loops."""

    def script(asked: str, results: int):
        if results >= 20:
            return "all green"
        if results < 8:
            command = "sh poll.sh"
        elif results % 2:
            command = "cat fixes; grep 18 fixes || exit 1"
        else:
            command = f"echo fix {results} >> fixes"
        return [("run_shell_command", {"command": command})]

    done, entries, _ = run(script)
    assert entries == []
    assert "all green" in done.stdout
