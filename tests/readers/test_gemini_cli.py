"""The reader of Gemini CLI's sessions."""

from __future__ import annotations

from pathlib import Path

from unstuck.events import Call, Compaction, Message, Result, Usage, User
from unstuck.testing import Counts, ReaderSuite

DATA = Path(__file__).resolve().parent.parent / "data" / "gemini_cli"


class TestGeminiCli(ReaderSuite):
    format = "gemini_cli"
    sample = DATA / "session.jsonl"
    counts = Counts(runs=1, messages=4, calls=5)

    def kinds(self, kind):
        return [event for event in self.events(self.sample.read_bytes()) if isinstance(event, kind)]

    def test_what_was_written_last_counts(self):
        """A message that is written again with its calls is one response, with the tokens of it."""
        assert self.kinds(Message)[0] == Message(
            "g-1",
            1,
            2,
            text="I will look.",
            reasoning="Look first.",
            model="gemini-2.5-pro",
            usage=Usage(900, 25, 400),
            time=1777881602.0,
        )
        assert [(call.id, call.message) for call in self.kinds(Call)[:3]] == [("read-1", 1), ("sh-1", 1), ("sh-2", 2)]

    def test_results_say_how_the_call_ended(self):
        """A shell's exit code in the text is an error, a cancelled call was a person's no, a blocked one a hook's."""
        assert [(result.id, result.outcome) for result in self.kinds(Result)] == [
            ("read-1", "ok"),
            ("sh-1", "error"),
            ("sh-2", "denied"),
            ("read-2", "error"),
            ("sh-3", "blocked"),
        ]

    def test_process_ids_and_added_context_are_no_result(self):
        """The number of the process group differs each time and what hooks add is not the tool's: both are left out."""
        (content,) = [result.content for result in self.kinds(Result) if result.id == "sh-1"]
        assert "1 failed" in content
        assert "PGID" not in content
        assert "Mind the tests" not in content

    def test_only_what_a_person_typed_is_a_request(self):
        """The context that the program puts before it is the harness's."""
        assert [(user.text, user.origin) for user in self.kinds(User)] == [
            ("<session_context>\nToday is Monday.\n</session_context>", "harness"),
            ("Fix the tests.", "user"),
            ("<session_context>summary</session_context>", "harness"),
        ]

    def test_a_history_that_is_written_anew_was_compacted(self):
        """Messages set again behind others mark a compaction, those at the beginning do not."""
        assert len(self.kinds(Compaction)) == 1


class TestOlderSession(ReaderSuite):
    format = "gemini_cli"
    sample = DATA / "session.json"
    counts = Counts(runs=1, messages=2, calls=1)
    spreads = False
