"""The reader of Goose's sessions."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from unstuck.events import Message, Result
from unstuck.readers import detect
from unstuck.testing import Counts, ReaderSuite
from unstuck.traces.source import Source


class TestGoose(ReaderSuite):
    format = "goose"
    counts = Counts(runs=1, messages=2, calls=2)
    spreads = False
    cuts = 40

    @pytest.fixture(autouse=True)
    def made(self, database):
        type(self).sample = database("goose/sessions.sql")

    def test_values_of_a_wrong_kind_never_raise(self, database):
        """Whatever stands in the columns, what can be read is read."""
        path = database("goose/sessions.sql")
        with closing(sqlite3.connect(path)) as base:
            for value in (None, 3, b"\xff\xfe", "[]", "{", '[3, {"type": "toolRequest", "id": "x", "toolCall": []}]'):
                base.execute("UPDATE messages SET content_json = ?", (value,))
                base.commit()
                self.events(path.read_bytes())

    def kinds(self, kind):
        return [event for event in self.events(self.sample.read_bytes()) if isinstance(event, kind)]

    def test_a_response_has_its_words_and_thoughts(self):
        """Blocks of one message are one response."""
        first = self.kinds(Message)[0]
        assert (first.calls, first.text, first.reasoning, first.time) == (2, "Running.", "Tests first.", 1777881601.0)

    def test_results_say_how_the_call_ended(self):
        """`isError` is an error, a declined call was a person's no."""
        outcomes = [(result.id, result.content, result.outcome) for result in self.kinds(Result)]
        assert outcomes == [("c1", "1 failed", "error"), ("c2", "The user has declined to run this tool.", "denied")]


class TestOlderSession(ReaderSuite):
    format = "goose"
    sample = Path(__file__).resolve().parent.parent / "data" / "goose" / "older.jsonl"
    counts = Counts(runs=1, messages=2, calls=1)

    def test_its_content_is_recognised(self):
        """Its lines are chat messages to a reader that is asked later."""
        source = Source.open(self.sample)
        assert detect(source.head, "sample") == self.format
        source.close()
