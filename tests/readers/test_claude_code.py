"""The reader of Claude Code's session logs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from unstuck.events import Call, Compaction, Message, Result, Retry, RunStart, Usage, User
from unstuck.readers import detect
from unstuck.testing import Counts, ReaderSuite
from unstuck.traces.source import Source

DATA = Path(__file__).resolve().parent.parent / "data" / "claude_code"


class TestClaudeCode(ReaderSuite):
    format = "claude_code"
    sample = DATA / "session.jsonl"
    counts = Counts(runs=1, messages=7, calls=6)

    def kinds(self, kind):
        return [event for event in self.events(self.sample.read_bytes()) if isinstance(event, kind)]

    def test_the_lines_of_a_response_become_one_message(self):
        """One message id is one response: texts and calls together, tokens once and as they stood at its end."""
        first = self.kinds(Message)[0]
        assert first == Message(
            "s-1",
            1,
            2,
            text="Reading both.",
            reasoning="Look at both files.",
            model="claude-opus-4-5-20251101",
            usage=Usage(10_005, 96, 8_000, 2_000),
            time=1777881612.0,
        )
        assert [(call.id, call.message) for call in self.kinds(Call)[:2]] == [("toolu_1", 1), ("toolu_2", 1)]

    def test_a_response_waits_for_its_last_line(self):
        """A result that was logged between the lines of a response comes behind the response, in its place."""
        events = self.events(self.sample.read_bytes())
        start = events.index(self.kinds(Message)[0])
        assert [type(event) for event in events[start : start + 5]] == [Message, Call, Result, Call, Result]

    def test_sub_agents_act_under_their_own_name(self):
        """Lines of a side chain carry the agent's id, and the main agent as parent."""
        assert [(call.agent, call.parent, call.depth) for call in self.kinds(Call)] == [
            *[("main", None, None)] * 3,
            ("f00d", "main", 1),
            *[("main", None, None)] * 2,
        ]

    def test_results_say_how_the_call_ended(self):
        """is_error is an error, a person's no is denied, a hook's is blocked; reminders in a result are not the tool's words."""
        assert [(result.id, result.content, result.outcome) for result in self.kinds(Result)] == [
            ("toolu_1", "     1\timport csv", "ok"),
            ("toolu_2", "Exit code 1\n2 failed", "error"),
            ("toolu_4", "main.py:3", "ok"),
            ("toolu_3", "main.py calls it.", "ok"),
            ("toolu_5", "The user doesn't want to proceed with this tool use. The tool use was rejected.", "denied"),
            ("toolu_6", "PreToolUse:Bash hook error: pushing is not allowed here", "blocked"),
        ]

    def test_only_people_make_requests(self):
        """What a person typed is a request, at once or queued; what the program wrote in the user's role is not."""
        assert [(user.origin, user.text.splitlines()[-1][:30]) for user in self.kinds(User)] == [
            ("harness", "Caveat: The messages below wer"),
            ("harness", "<command-args>opus</command-ar"),
            ("harness", "<local-command-stdout>Set mode"),
            ("user", "The importer loses rows. Repai"),
            ("user", "and add a test"),
            ("harness", "List the callers of load()."),
            ("harness", "[Request interrupted by user f"),
            ("user", "<command-name>/review</command"),
            ("harness", "Review the change."),
            ("harness", "<task-notification><status>com"),
        ]

    def test_compaction_and_retries(self):
        """A compaction is told once although two lines tell of it; a failed request to the service is a retry, not a response."""
        assert (len(self.kinds(Compaction)), len(self.kinds(Retry))) == (1, 1)

    def test_a_headless_run_is_unattended(self):
        """`claude -p` has nobody who could answer."""
        events = self.events((DATA / "headless.jsonl").read_bytes())
        assert events[0] == RunStart("s-2", attended=False)


def line(kind, content, **fields):
    return json.dumps({"type": kind, "sessionId": "s", "uuid": "u", "message": {"role": kind, "content": content}} | fields)


BROKEN = [
    (line("user", None), "user line without message content"),
    (line("user", ["text"]), "a content block that is no object"),
    (json.dumps({"type": "assistant", "message": "oops"}), "assistant line without message content"),
    (line("assistant", [{"type": "tool_use", "input": {}}]), "a tool call without id or name"),
    (line("user", [{"type": "tool_result", "content": "x"}]), "a tool result without tool_use_id"),
    ('{"silly": "this"}', "a line without type"),
    ("42", "not a record of this format: Expected `object`, got `int`"),
]


@pytest.mark.parametrize(("broken", "why"), BROKEN, ids=[why for _, why in BROKEN])
def test_a_broken_record_is_named_and_left_out(broken, why):
    """The rest of the session is read."""
    errors = []
    good = line("user", "Go.")
    events = TestClaudeCode().events(f"{good}\n{broken}\n{good}\n".encode(), errors)
    assert [event.text for event in events if isinstance(event, User) and event.text] == ["Go.", "Go."]
    assert [str(error) for error in errors] == [f"sample:2: {why}"]


def test_a_block_that_comes_late_belongs_to_its_response():
    """A call logged behind the next response keeps the number of its own."""

    def call(message, id):
        block = {"type": "tool_use", "id": id, "name": "Read", "input": {}}
        return json.dumps({"type": "assistant", "sessionId": "s", "uuid": "u", "message": {"id": message, "content": [block]}})

    lines = [call("m1", "a"), call("m2", "b"), call("m1", "c")]
    events = TestClaudeCode().events("\n".join(lines).encode())
    assert [(event.id, event.message) for event in events if isinstance(event, Call)] == [("a", 1), ("b", 2), ("c", 1)]


def test_sessions_in_one_file_are_runs_of_their_own():
    """Each session id is a run, however their lines are mixed."""
    lines = [line("user", f"Go {n}.", sessionId=f"s{n % 2}") for n in range(4)]
    events = TestClaudeCode().events("\n".join(lines).encode())
    assert sorted(event.run for event in events) == ["s0", "s0", "s1", "s1"]


@pytest.mark.parametrize("kind", ["file-history-snapshot", "queue-operation", "summary", "permission-mode"])
def test_a_log_that_begins_with_the_programs_own_lines_is_recognised(kind):
    """Fifty bookkeeping lines before the first word do not hide what the file is."""
    book = json.dumps({"type": kind, "sessionId": "s", "snapshot": {}, "leafUuid": "u"})
    events = TestClaudeCode().events("\n".join([book] * 50 + [line("user", "Go.")]).encode())
    assert [event.text for event in events] == ["Go."]
    assert detect(Source(io.BytesIO(f"{book}\n".encode() * 50), "s").head, "s") == "claude_code"
