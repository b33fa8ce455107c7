"""The reader of Qwen Code's session logs."""

from __future__ import annotations

from pathlib import Path

from unstuck.events import Compaction, Message, Result, Usage
from unstuck.testing import Counts, ReaderSuite


class TestQwenCode(ReaderSuite):
    format = "qwen_code"
    sample = Path(__file__).resolve().parent.parent / "data" / "qwen_code" / "session.jsonl"
    counts = Counts(runs=1, messages=3, calls=4)

    def kinds(self, kind):
        return [event for event in self.events(self.sample.read_bytes()) if isinstance(event, kind)]

    def test_a_response_has_its_words_thoughts_and_tokens(self):
        """Thoughts are told from words; tokens include what the cache held."""
        assert self.kinds(Message)[0] == Message(
            "q-1",
            1,
            2,
            text="Running.",
            reasoning="First the tests.",
            model="qwen3-coder",
            usage=Usage(700, 15, 300),
            time=1777881602.0,
        )

    def test_results_say_how_the_call_ended(self):
        """An exit code in the text is an error, a cancelled call was a person's no, a call that a hook denied is blocked."""
        outcomes = [(result.id, result.outcome) for result in self.kinds(Result)]
        assert outcomes == [("c1", "error"), ("c2", "ok"), ("c3", "denied"), ("c4", "blocked")]

    def test_a_compression_is_a_compaction(self):
        """The program's own note about it counts, its telemetry does not."""
        assert len(self.kinds(Compaction)) == 1
