"""The real Codex, the hooks installed, a model server on loopback that follows a script."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


CONFIG = """
model = "gpt-5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[analytics]
enabled = false
"""


@pytest.fixture
def run(tmp_path, serve, npm_program):
    """`run(script)`: hooks into a new configuration, one headless session; what the hooks logged and what the model was sent."""
    codex = npm_program("codex", "@openai/codex@0.171.0")

    def start(script):
        model = serve("responses", script)
        home, work = tmp_path / "codex", tmp_path / "work"
        home.mkdir()
        work.mkdir()
        (work / "poll.sh").write_text('echo x >> count\necho "$(wc -l < count) of 20 files are uploaded"\n', "utf-8")
        (home / "config.toml").write_text(CONFIG.format(url=model.url), "utf-8")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "CODEX_HOME": str(home),
            "UNSTUCK_HOME": str(tmp_path / "state"),
            "SCRIPTED_KEY": "none",
        }
        hooks = [sys.executable, "-m", "unstuck", "hook", "install", "codex"]
        subprocess.run(hooks, env=environment, check=True, cwd=work, timeout=60, capture_output=True)
        ask = [codex, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        done = subprocess.run(
            [*ask, "--dangerously-bypass-hook-trust", "MAINTASK"],
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
    return [("exec_command", {"cmd": line})]


def test_a_session_that_loops_is_nudged_and_then_refused_everything(run):
    """Codex lets no hook end a run: behind the last rung every call is denied, other ones too, until the model ends its turn."""

    def script(asked: str, results: int):
        if results >= 12:
            return "I am stuck"
        return command("cat missing.txt" if results < 10 else f"echo something else {results}")

    done, entries, model = run(script)
    actions = [entry.get("action") or entry["error"] for entry in entries]
    assert actions == ["nudged"] + ["denied"] * 8
    assert {entry["level"] for entry in entries[-5:]} == {"stop"}
    seen = json.dumps(model.requests[-1]["input"])
    assert "You have made the same call" in seen
    assert "Every further call is refused until the person speaks" in seen
    assert "something else 11" in seen
    assert "I am stuck" in done.stdout


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
