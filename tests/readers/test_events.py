"""The reader of unstuck's own event format."""

from __future__ import annotations

from pathlib import Path

import pytest

from unstuck.events import Call, Compaction, Message, Result, Retry, RunEnd, RunStart, Usage, User
from unstuck.testing import Counts, ReaderSuite

DATA = Path(__file__).resolve().parent.parent / "data" / "events"


class TestEvents(ReaderSuite):
    format = "events"
    sample = DATA / "session.jsonl"
    counts = Counts(runs=2, messages=3, calls=4)

    def test_every_type_and_field_is_taken_over(self):
        """Each line becomes the event that it names, with its fields; unknown types and fields leave no trace."""
        first = [event for event in self.events(self.sample.read_bytes()) if event.run == "first"]
        assert first == [
            RunStart("first", attended=False, meta={"suite": "nightly"}),
            User("first", "Find the slow query."),
            Message("first", 1, 2, reasoning="Two reads at once.", model="gpt-5-mini", usage=Usage(900, 40, 512, 0), time=10.0),
            Call("first", "c1", "read_file", {"path": "slow.log"}, 1, time=10.5, annotations={"readOnlyHint": True}),
            Call("first", "c2", "run_sql", '{"sql": "select 1"}', 1, approved=True),
            Result("first", "c2", [{"rows": 1}], time=11.0),
            Result("first", "c1", None, "error"),
            Retry("first"),
            Call("first", "c3", "run_sql", '{"sql": "select 1"}', origin="retry", replay_of="c2"),
            Result("first", "c3", "the caller said no", "denied"),
            Compaction("first"),
            User("first", "Keep going.", "harness"),
            Message("first", 2, 1),
            Call("first", "7", "read_file", None, 2, depth=0),
            Result("first", "7", "", "retry"),
            RunEnd("first"),
        ]

    def test_numbers_from_python_programs_are_read(self):
        """NaN, infinities, numbers over 64 bits and lone surrogates are what they say, not broken lines."""
        errors = []
        line = b'{"type": "call", "run": "r", "id": "c", "tool": "t", "args": [1e999, -Infinity, 1180591620717411303424, "\\ud800"]}\n'
        (call,) = self.events(line, errors)
        assert (call.args, errors) == ([float("inf"), float("-inf"), 2**70, "\ud800"], [])


BROKEN = [
    ('{"type": "call", "run": "r", "id": "c1"}', "call without tool"),
    ('{"type": "call", "run": "r", "tool": "t"}', "call without id"),
    ('{"type": "result", "run": "r"}', "result without id"),
    ('{"type": "message", "run": "r"}', "message without its number (field message)"),
    ('{"type": "user", "text": "hi"}', "user without run"),
    ('{"type": "result", "run": "r", "id": "c", "outcome": "fine"}', "outcome is none of blocked, denied, error, ok, retry"),
    ('{"type": "call", "run": "r", "id": "c", "tool": "t", "origin": "me"}', "origin is none of harness, model, retry"),
    (
        '{"type": "message", "run": "r", "message": "1"}',
        "not a record of this format: Expected `int | null`, got `str` - at `$.message`",
    ),
    ("[1, 2]", "not a record of this format: Expected `object`, got `array`"),
    ('{"type": "user", "run": "r"', "no JSON: Expecting ',' delimiter at column 28"),
    (
        '{"type": "result", "run": "r", "id": "c", "content": ' + "[" * 100_000 + "]" * 100_000 + "}",
        "nested too deeply to be read",
    ),
    ('{"type": "user", "run": "r", "text": "\\udc"}', "no JSON: Invalid \\uXXXX escape at column 40"),
    ('{"type": "result", "run": "r", "id": "c", "content": ' + "9" * 5000 + "}", "a number is too long to be read"),
]


@pytest.mark.parametrize(("line", "why"), BROKEN, ids=[why for _, why in BROKEN])
def test_a_broken_line_is_named_and_left_out(line, why):
    """The error names file, line and reason, quotes nothing of the content, and the other lines are read."""
    errors = []
    good = b'{"type": "user", "run": "r", "text": "good"}\n'
    events = TestEvents().events(good + line.encode() + b"\n" + good, errors)
    assert events == [User("r", "good")] * 2
    assert [str(error) for error in errors] == [f"sample:2: {why}"]
