"""The recorded sessions in `examples/`: made by the committed script, and what the README says of them."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from unstuck.findings import Level
from unstuck.scan import Scan
from unstuck.traces.source import Source

ROOT = Path(__file__).resolve().parent.parent
SESSIONS = ROOT / "examples" / "sessions"

EXPECTED = {
    "claude-code-47-reads.jsonl": [("claude_code", 48, Level.STOP, 46)],
    "claude-code-test-fix.jsonl": [("claude_code", 7, Level.CONTINUE, 0)],
    "codex-cycle-of-three.jsonl": [("codex", 21, Level.STOP, 18)],
    "events-deploy-poll.jsonl": [("events", 14, Level.CONTINUE, 0)],
    "openai-messages-support.json": [("openai_messages", 9, Level.STOP, 8), ("openai_messages", 2, Level.CONTINUE, 0)],
}
"""File -> for each run: format, calls, strongest decision, repeated calls."""


def test_the_script_writes_these_very_sessions(tmp_path):
    """Running the script again gives the same bytes."""
    script = runpy.run_path(str(ROOT / "examples" / "make_sessions.py"))
    script["main"].__globals__["FOLDER"] = tmp_path
    script["main"]()
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in SESSIONS.iterdir()}
    assert made.keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_each_session_is_judged_as_meant(name):
    """The incident, the cycle and the stuck task are stopped; repairing, waiting and helping are left alone."""
    errors = []
    source = Source.open(SESSIONS / name, report=errors.append)
    reports = list(Scan().runs(source))
    source.close()
    assert [(r.format, r.calls, r.level, r.repeated.calls) for r in reports] == EXPECTED[name]
    assert errors == []
    assert all(report.tokens for report in reports if report.format != "openai_messages")
