"""Recordings of the real programs, where they lie beside the repository."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from unstuck.events import Call, Message
from unstuck.readers import read
from unstuck.traces.source import Source

SHARED = Path(__file__).resolve().parents[3] / "shared" / "traces"
READ = {
    "claude_code/small.jsonl": (2, 3, 0, 0),
    "claude_code/edge_cases.jsonl": (3, 4, 923, 7),
    "claude_code/session.jsonl": (23, 10, 209_161, 0),
    "codex/exec-1.jsonl": (0, 1, 2_953, 0),
    "codex/exec-4.jsonl": (1, 2, 6_291, 0),
    "codex/exec-5.jsonl": (1, 2, 6_309, 0),
    "codex/exec-tools.jsonl": (4, 8, 64, 0),
    "codex/rollout-2025-09-25T15-12-14.jsonl": (34, 35, 543_488, 0),
    "gemini_cli/session-append.jsonl": (6, 8, 64, 0),
    "gemini_cli/session.json": (3, 4, 22_257, 0),
    "qwen_code/session.jsonl": (6, 8, 64, 0),
    "opencode/opencode.db": (5, 6, 48, 0),
    "openhands/events.json": (2, 3, 0, 0),
    "openai_messages/tau_airline_2.json": (8, 20, 0, 0),
}
"""File -> calls, responses, tokens, broken lines; counted by hand or by other means than the reader."""


@pytest.mark.skipif(not SHARED.exists(), reason="no ../shared/traces")
@pytest.mark.parametrize("name", READ)
def test_real_sessions_are_read(name):
    """Every call, response and token of a real session is found, and only what is broken is left out."""
    errors = []
    source = Source.open(SHARED / name, report=errors.append)
    found, events = read(source)
    count: Counter[type] = Counter()
    tokens = 0
    for event in events:
        count[type(event)] += 1
        tokens += event.usage.total if isinstance(event, Message) and event.usage else 0
    tokens += sum(usage.total for usage, _ in source.usage.values())
    source.close()
    assert found == name.split("/")[0]
    assert (count[Call], count[Message], tokens, len(errors)) == READ[name]
