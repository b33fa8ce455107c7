"""The reader of OpenHands' conversations."""

from __future__ import annotations

from pathlib import Path

import pytest

from unstuck.events import Compaction, Message, Result, User
from unstuck.readers import read
from unstuck.testing import Counts, ReaderSuite
from unstuck.traces.source import Source

DATA = Path(__file__).resolve().parent.parent / "data" / "openhands"


class TestOpenHands(ReaderSuite):
    format = "openhands"
    sample = DATA / "events.json"
    counts = Counts(runs=1, messages=4, calls=4)
    spreads = False

    def kinds(self, kind):
        return [event for event in self.events(self.sample.read_bytes()) if isinstance(event, kind)]

    def test_actions_of_one_response_are_one_round(self):
        """Actions with one response id belong to one message, whose text is the thought."""
        first = self.kinds(Message)[0]
        assert (first.calls, first.text, first.reasoning) == (2, "Let me test.", "Look.")

    def test_results_say_how_the_call_ended(self):
        """An exit code and an agent error are errors, a rejected action was a person's no."""
        outcomes = [(result.id, result.outcome) for result in self.kinds(Result)]
        assert outcomes == [("c1", "error"), ("c2", "ok"), ("c3", "denied"), ("c4", "error")]

    def test_a_condensation_is_a_compaction(self):
        """What was forgotten may fairly be read again."""
        assert len(self.kinds(Compaction)) == 1


class TestOlderEvents(ReaderSuite):
    format = "openhands"
    sample = DATA / "older.json"
    counts = Counts(runs=1, messages=3, calls=2)
    spreads = False

    def test_observations_find_their_action_by_its_number(self):
        """Calls without an id of the model's have one made of the event's number."""
        events = self.events(self.sample.read_bytes())
        results = [(event.id, event.content, event.outcome) for event in events if isinstance(event, Result)]
        assert results == [("t1", "1 failed", "error"), ("event-3", "import csv", "ok")]


@pytest.mark.parametrize(("file", "texts"), [("event-00001-e1.json", ["Fix it."]), ("event-00002-e2.json", [])])
def test_a_file_for_each_event_is_one_conversation(file, texts):
    """The first file stands for all of them, under the conversation's name; the others hold nothing more."""
    source = Source.open(DATA / "conversation" / "events" / file)
    _, events = read(source)
    found = list(events)
    source.close()
    assert [event.text for event in found if isinstance(event, User)] == texts
    assert {event.run for event in found} <= {"conversation"}
    assert sum(isinstance(event, Message) for event in found) == 2 * len(texts)
