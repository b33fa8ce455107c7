"""What each coding agent says, and what it is answered: recorded sequences of our own making."""

from __future__ import annotations

import importlib
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from unstuck import live
from unstuck.hooks import AGENTS, module_of
from unstuck.hooks.run import answer

DATA = Path(__file__).resolve().parent.parent / "data" / "hooks"
TEXT = re.compile(r'"(additionalContext|permissionDecisionReason|reason|stopReason)": "[^"]+[.]"')


def golden(agent: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / f"{agent}.jsonl").read_text("utf-8").splitlines()]


def plain(output: str) -> object:
    """The answer with `<text>` for the words, which must be there."""
    return json.loads(TEXT.sub(r'"\1": "<text>"', json.dumps(json.loads(output)))) if output else None


@pytest.mark.parametrize("agent", AGENTS)
def test_each_event_is_answered_as_recorded(agent, tmp_path):
    """One session from a person's request to the end, every event in its turn, and once more after the person has spoken again."""
    environ = {"UNSTUCK_HOME": str(tmp_path)}
    for number, one in enumerate(golden(agent)):
        done = answer(agent, json.dumps(one["stdin"]).encode(), environ, 1_777_881_600.0 + 10 * number)
        assert (one["about"], plain(done.output)) == (one["about"], one["stdout"])
        assert [entry for entry in done.entries if "error" in entry] == []


@pytest.mark.parametrize("agent", AGENTS)
def test_a_process_for_each_event_answers_the_same(agent, tmp_path):
    """What a coding agent runs gives the same answers, on standard output alone, with exit status 0."""
    for one in golden(agent):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "unstuck", "hook", "run", agent],
            input=json.dumps(one["stdin"]).encode(),
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", "UNSTUCK_HOME": str(tmp_path / "state")},
            cwd=tmp_path,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert (one["about"], plain(done.stdout.decode())) == (one["about"], one["stdout"])


@pytest.mark.parametrize("agent", AGENTS)
def test_a_reason_is_true_and_of_use(agent, tmp_path):
    """A denied call is said not to have been executed, how often it was made, and what to do."""
    reasons = []
    for number, one in enumerate(golden(agent)):
        done = answer(agent, json.dumps(one["stdin"]).encode(), {"UNSTUCK_HOME": str(tmp_path)}, 10.0 * number)
        reasons += re.findall(r'"(?:permissionDecisionReason|reason)":"([^"]+)"', done.output)
    assert reasons[0].startswith(f"{live.MARK}This call was not executed.")
    assert "5 times" in reasons[0]
    assert "until the person speaks" in reasons[-1]


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agents_file_follows_the_protocol(agent):
    """Each module in the registry offers everything that the protocol names, and events are listened to once."""
    from unstuck.hooks.dialect import Dialect

    module = importlib.import_module(AGENTS[agent])
    wanted = set(Dialect.__annotations__) | {"read", "answer"}
    assert wanted <= set(vars(module))
    assert len(set(module.EVENTS)) == len(module.EVENTS)
    assert AGENTS[agent] == f"unstuck.hooks.{agent}"


@pytest.mark.parametrize("agent", AGENTS)
def test_no_agents_file_knows_another(agent):
    """One file a coding agent: what two of them share stands in the dialect."""
    source = Path(importlib.import_module(AGENTS[agent]).__file__ or "").read_text("utf-8")
    assert [other for other in AGENTS if other != agent and f"hooks.{other}" in source] == []


def test_cursor_has_hooks_of_its_own(tmp_path):
    """Cursor also fires what stands in Claude Code's settings: such an event is left alone."""
    event = {**golden("claude_code")[2]["stdin"], "cursor_version": "2026.09.18"}
    assert answer("claude_code", json.dumps(event).encode(), {"UNSTUCK_HOME": str(tmp_path)}, 0.0) == ("", ())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("page", ["README.md", "docs/hooks.md"])
def test_the_tables_of_agents_are_those_of_the_registry(page):
    """Each agent has its row, made from its module; `docs/tables.py` writes them."""
    root = Path(__file__).resolve().parents[2]
    text = (root / page).read_text("utf-8")
    assert text == runpy.run_path(str(root / "docs" / "tables.py"))["agents"](text), "run docs/tables.py"
    assert [row for row in text.splitlines() if any(f"| {module_of(agent).TITLE} | `~" in row for agent in AGENTS)] != []
