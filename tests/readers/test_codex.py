"""The reader of Codex's rollouts and of the stream of `codex exec --json`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from unstuck.events import Call, Compaction, Message, Result, Retry, RunStart, Usage, User
from unstuck.readers import read
from unstuck.readers.codex.outputs import output
from unstuck.testing import Counts, ReaderSuite
from unstuck.traces.source import Source

DATA = Path(__file__).resolve().parent.parent / "data" / "codex"


class _Codex(ReaderSuite):
    format = "codex"

    def kinds(self, kind):
        return [event for event in self.events(self.sample.read_bytes()) if isinstance(event, kind)]


class TestTokensFirst(_Codex):
    """A rollout of 2025: the tokens of a response come before its parts."""

    sample = DATA / "tokens-first.jsonl"
    counts = Counts(runs=1, messages=2, calls=2)

    def test_calls_of_one_response_are_one_round(self):
        """Outputs between two calls do not part them where the tokens mark the responses."""
        assert [(call.id, call.message) for call in self.kinds(Call)] == [("call_1", 1), ("call_2", 1)]
        assert [(message.calls, message.usage) for message in self.kinds(Message)] == [
            (2, Usage(1_000, 50, 900)),
            (0, Usage(1_200, 12, 1_000)),
        ]

    def test_exit_codes_decide_the_outcome(self):
        """An exit code other than 0 is an error; the output is the text, without the clock around it."""
        assert [(result.content, result.outcome) for result in self.kinds(Result)] == [
            ("a.py\nb.py\n", "ok"),
            ("ls: lib: No such file\n", "error"),
        ]

    def test_people_and_program(self):
        """The environment is the program's word; what Codex noted as a person's message is a request, once."""
        assert [user.origin for user in self.kinds(User)] == ["harness", "user"]
        assert self.kinds(RunStart) == [RunStart("r-old")]


class TestTokensLast(_Codex):
    """A rollout of 2026: the tokens come behind the parts, the outputs behind the tokens."""

    sample = DATA / "tokens-last.jsonl"
    counts = Counts(runs=1, messages=4, calls=4)

    def test_each_response_has_its_own_tokens(self):
        """Two records of the same tokens count once."""
        assert [(message.calls, message.usage and message.usage.total) for message in self.kinds(Message)] == [
            (2, 4_080),
            (1, 4_360),
            (1, 4_520),
            (0, 2_005),
        ]

    def test_all_kinds_of_calls_and_endings(self):
        """Functions, shells and custom tools; failed, refused by a person, kept back by a hook."""
        ends = {result.id: result.outcome for result in self.kinds(Result)}
        assert [(call.tool, ends[call.id]) for call in self.kinds(Call)] == [
            ("exec_command", "error"),
            ("local_shell", "ok"),
            ("apply_patch", "denied"),
            ("view_image", "blocked"),
        ]
        assert self.kinds(Result)[0].content == "Process exited with code 2\nOutput:\nmake: *** No rule to make target\n"

    def test_headless_compacted_and_retried(self):
        """`codex exec` is unattended; a compaction told twice is one; a broken stream is a retry."""
        assert self.kinds(RunStart) == [RunStart("r-new", attended=False)]
        assert (len(self.kinds(Compaction)), len(self.kinds(Retry))) == (1, 1)
        assert [(user.text, user.origin) for user in self.kinds(User)] == [
            ("Make it build.", "user"),
            ("<turn_aborted>The user interrupted.</turn_aborted>", "harness"),
        ]


class TestExecStream(_Codex):
    """What `codex exec --json` prints."""

    sample = DATA / "exec.jsonl"
    counts = Counts(runs=1, messages=5, calls=4)

    def test_calls_that_run_together_are_one_round(self):
        """A call that begins while another runs is parallel; one that begins behind is a new response."""
        assert [(call.tool, call.message) for call in self.kinds(Call)] == [
            ("command_execution", 1),
            ("mcp__docs__search", 1),
            ("command_execution", 2),
            ("file_change", 3),
        ]
        assert [result.outcome for result in self.kinds(Result)] == ["ok", "ok", "error", "ok"]

    def test_tokens_of_turns_are_noted_beside_the_responses(self):
        """The stream tells tokens for each turn only; they are summed for the run and given to no response."""
        source = Source(io.BytesIO(self.sample.read_bytes()), "sample")
        assert all(event.usage is None for event in read(source)[1] if isinstance(event, Message))
        assert source.usage["r-exec"][0] == Usage(10_000, 123, 8_000)


OUTPUTS = [
    ("done\n", ("done\n", "ok")),
    ('{"output":"x","metadata":{"exit_code":1}}', ("x", "error")),
    ({"content": "x", "success": False}, ("x", "error")),
    ("Exit code: 3\nWall time: 1 seconds\nOutput:\nx", ("Exit code: 3\nOutput:\nx", "error")),
    (
        "Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n",
        ("Process running with session ID 7\nOutput:\n", "ok"),
    ),
    ("unsupported call: fly", ("unsupported call: fly", "error")),
    ("exec command rejected by user", ("exec command rejected by user", "denied")),
    ("aborted by user after 3.1s", ("aborted by user after 3.1s", "denied")),
    ("Command blocked by PreToolUse hook: no", ("Command blocked by PreToolUse hook: no", "blocked")),
    ('{"isError": true, "content": []}', ('{"isError": true, "content": []}', "error")),
    ('{"half": ', ('{"half": ', "ok")),
    ("Exit code: 9 is what the page says", ("Exit code: 9 is what the page says", "ok")),
    (None, (None, "ok")),
]


@pytest.mark.parametrize(("written", "meant"), OUTPUTS, ids=[json.dumps(written)[:40] for written, _ in OUTPUTS])
def test_outputs(written, meant):
    """What Codex writes as an output is text and outcome; clocks and chunk numbers are not part of the text."""
    assert output(written) == meant


def test_without_tokens_a_part_behind_outputs_begins_a_response():
    """A rollout without any tokens still has its responses."""
    items = [
        {"type": "function_call", "name": "ls", "arguments": "{}", "call_id": "a"},
        {"type": "function_call_output", "call_id": "a", "output": "x"},
        {"type": "function_call", "name": "ls", "arguments": "{}", "call_id": "b"},
    ]
    data = "\n".join(json.dumps({"type": "response_item", "payload": item}) for item in items).encode()
    events = TestTokensLast().events(data)
    assert [event.message for event in events if isinstance(event, Call)] == [1, 2]


def test_the_first_rollouts_had_bare_items():
    """Rollouts of spring 2025 have no envelope around their items."""
    lines = [
        {"id": "r-first", "timestamp": "2025-05-01T10:00:00.000Z", "instructions": "", "git": {}},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "a"},
        {"type": "function_call_output", "call_id": "a", "output": "x"},
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    assert [type(event) for event in TestTokensLast().events(data)] == [RunStart, User, Message, Call, Result]
