"""The real Claude Code, the hooks installed, a model server on loopback that follows a script."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
FAILING = "echo reading; exit 3"


def program() -> str:
    """The bundled program of the package claude-agent-sdk, else the one on the path; skips where there is none."""
    try:
        import claude_agent_sdk
    except ImportError:
        found = shutil.which("claude")
        if found is None:
            pytest.skip("the package claude-agent-sdk, which brings Claude Code, is not installed")
        return found
    bundled = Path(claude_agent_sdk.__file__).parent / "_bundled" / ("claude.exe" if os.name == "nt" else "claude")
    if not bundled.exists():
        pytest.skip("this claude-agent-sdk brings no program for this system")
    return str(bundled)


class Session:
    """What one run of the program came to."""

    def __init__(self, folder: Path, done: subprocess.CompletedProcess[str], model) -> None:
        self.folder = folder
        self.done = done
        self.model = model
        self.log = [json.loads(line) for line in self._lines(folder / "state" / "hooks.jsonl")]

    def _lines(self, path: Path) -> list[str]:
        return path.read_text("utf-8").splitlines() if path.exists() else []

    def actions(self, agent: str | None = None) -> list[str]:
        done = [entry.get("action") or entry.get("error") for entry in self.log if agent in (None, entry["agent"])]
        return [one for one in done if one]

    def seen_by_model(self) -> str:
        return json.dumps([request["messages"] for request in self.model.requests])

    def findings(self, *paths: Path) -> list[tuple[str, str, int | None]]:
        """What a scan of the transcripts finds: pattern, decision, call."""
        command = [sys.executable, "-m", "unstuck", "scan", *map(str, paths), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=self.folder, timeout=120)
        runs = [json.loads(line) for line in done.stdout.splitlines()]
        return [(one["pattern"], one["decision"], one["call"]) for run in runs for one in run["findings"]]

    def transcripts(self) -> list[Path]:
        return sorted((self.folder / "config" / "projects").rglob("*.jsonl"))

    def logged(self, agent: str) -> list[tuple[str, str, int | None]]:
        """What the hooks found, each level once."""
        found: list[tuple[str, str, int | None]] = []
        for entry in self.log:
            if entry["agent"] == agent and not any(entry["level"] == level for _, level, _ in found):
                found.append((entry["pattern"], entry["level"], entry["call"]))
        return found


@pytest.fixture
def run(tmp_path, serve):
    """`run(script)`: hooks into a new configuration, one headless session of the program."""
    claude = program()

    def start(script) -> Session:
        model = serve("anthropic", script)
        work = tmp_path / "work"
        work.mkdir()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "CLAUDE_CONFIG_DIR": str(tmp_path / "config"),
            "UNSTUCK_HOME": str(tmp_path / "state"),
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": model.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        hooks = [sys.executable, "-m", "unstuck", "hook", "install", "claude_code"]
        subprocess.run(hooks, env=environment, check=True, cwd=work, timeout=60, capture_output=True)
        ask = [claude, "-p", "MAINTASK", "--output-format", "json", "--model", "claude-sonnet-4-5", "--max-turns", "60"]
        allow = ["--allowedTools", "Bash", "Read", "Edit", "Agent", "Task"]
        done = subprocess.run(
            [*ask, *allow],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert model.errors == []
        return Session(tmp_path, done, model)

    return start


def bash(command: str) -> list[tuple[str, dict[str, str]]]:
    return [("Bash", {"command": command, "description": "d"})]


def test_a_session_that_loops_is_nudged_denied_and_ended(run):
    """The same failing command is answered with a nudge, then denied with a reason, then the run ends; a scan finds the same."""
    session = run(lambda asked, results: bash(FAILING) if results < 40 else "done")
    assert session.actions() == ["nudged", "denied", "denied", "denied", "ended"]
    seen = session.seen_by_model()
    assert seen.count("You have made the same call") >= 2
    assert "This call was not executed." in seen
    assert len(session.model.requests) < 20
    assert session.findings(*session.transcripts()) == session.logged("main")


def test_polling_that_advances_passes_untouched(run):
    """A poll whose reading moves on each time is not a loop."""
    command = 'n=$(cat count 2>/dev/null || echo 0); n=$((n+1)); echo $n > count; echo "$((n * 5))% of the upload is done"'
    session = run(lambda asked, results: bash(command) if results < 12 else "uploaded")
    assert session.log == []
    assert "uploaded" in session.done.stdout


def test_fixing_tests_passes_untouched(run):
    """The same test command between edits is work, also while the tests still fail in the same way."""

    def script(asked: str, results: int):
        if results >= 24:
            return "all green"
        if results % 2:
            return bash("cat fixes; test $(wc -l < fixes) -gt 10 && echo 12 passed || (echo 1 failed; exit 1)")
        return bash(f"echo fix {results} >> fixes")

    session = run(script)
    assert session.log == []
    assert "all green" in session.done.stdout


def test_sub_agents_are_judged_apart(run):
    """Two sub-agents that each make a call twice, and a main agent that makes it twice too, are no loop; one that loops is ended."""

    said: list[str] = []

    def script(asked: str, results: int):
        if "FIRSTPART" in asked:
            return bash(FAILING) if results < 2 else "first part done"
        if "SECONDPART" in asked:
            return bash(FAILING) if results < 30 else "second part done"
        if results < 2:
            return bash(FAILING)
        if results < 4:
            part = ("FIRSTPART", "SECONDPART")[results - 2]
            return [("Agent", {"description": part, "prompt": part, "subagent_type": "general-purpose"})]
        said.append(f"report {len(said)}: all done")
        return said[-1]

    session = run(script)
    assert session.actions("main") == []
    agents = {entry["agent"] for entry in session.log}
    assert len(agents) == 1
    assert session.actions()[:2] == ["nudged", "denied"]
    assert session.actions()[-1] == "ended"
    assert "all done" in session.done.stdout  # the end of a sub-agent is not that of the session
    (agent,) = agents
    paths = [path for path in session.transcripts() if agent in path.name]
    assert session.findings(*paths) == session.logged(agent)
