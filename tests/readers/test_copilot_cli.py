"""The reader of Copilot CLI's sessions."""

from __future__ import annotations

from pathlib import Path

from unstuck.events import Compaction, Message, Result, Usage
from unstuck.testing import Counts, ReaderSuite


class TestCopilotCli(ReaderSuite):
    format = "copilot_cli"
    sample = Path(__file__).resolve().parent.parent / "data" / "copilot_cli" / "events.jsonl"
    counts = Counts(runs=1, messages=3, calls=4)

    def kinds(self, kind):
        return [event for event in self.events(self.sample.read_bytes()) if isinstance(event, kind)]

    def test_the_tokens_of_a_response_stand_before_it(self):
        """They are matched by the id of the request, not by their place."""
        assert self.kinds(Message)[0] == Message(
            "p-1", 1, 2, text="Running.", model="gpt-5", usage=Usage(800, 11, 600), time=1777881604.0
        )

    def test_results_say_how_the_call_ended(self):
        """The exit code decides, not `success`; a hook's no is blocked, a person's is denied."""
        outcomes = [(result.id, result.outcome) for result in self.kinds(Result)]
        assert outcomes == [("c1", "error"), ("c2", "ok"), ("c3", "blocked"), ("c4", "denied")]

    def test_the_number_of_the_shell_is_no_result(self):
        """It counts up with every command; the exit code behind it stays."""
        assert self.kinds(Result)[0].content == "1 failed\n<completed with exit code 1>"

    def test_a_compaction_is_noticed(self):
        """What was forgotten may fairly be read again."""
        assert len(self.kinds(Compaction)) == 1
