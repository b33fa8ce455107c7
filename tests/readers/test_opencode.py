"""The reader of opencode's database."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from unstuck.events import Call, Compaction, Message, Result, Usage, User
from unstuck.readers import read
from unstuck.testing import Counts, ReaderSuite
from unstuck.traces.source import Source


class TestOpencode(ReaderSuite):
    format = "opencode"
    counts = Counts(runs=2, messages=3, calls=5)
    spreads = False
    cuts = 40

    @pytest.fixture(autouse=True)
    def made(self, database):
        type(self).sample = database("opencode/opencode.sql", "WAL")

    def test_values_of_a_wrong_kind_never_raise(self, database):
        """Whatever stands in the columns, what can be read is read."""
        path = database("opencode/opencode.sql")
        with closing(sqlite3.connect(path)) as base:
            for value in (None, 3, b"\xff\xfe", "[]", "{", '{"type":"tool","tool":3}', '{"type":"tool","tool":"x","state":[]}'):
                base.execute("UPDATE part SET data = ?", (value,))
                base.execute("UPDATE message SET data = ? WHERE id = 'm5'", (value,))
                base.commit()
                self.events(path.read_bytes())

    def kinds(self, kind):
        return [event for event in self.events(self.sample.read_bytes()) if isinstance(event, kind)]

    def test_a_response_has_its_words_thoughts_and_tokens(self):
        """Tokens that the cache held are counted among the input."""
        assert self.kinds(Message)[0] == Message(
            "ses_1",
            1,
            2,
            text="Running.",
            reasoning="Tests first.",
            model="gpt-5",
            usage=Usage(550, 15, 400, 50),
            time=1777881601.0,
        )

    def test_results_say_how_the_call_ended(self):
        """An exit code beside the output is an error, a person's no is denied, a call that still runs has no result."""
        outcomes = [(result.id, result.outcome) for result in self.kinds(Result)]
        assert outcomes == [("c1", "error"), ("c2", "ok"), ("c3", "denied"), ("c4", "error")]

    def test_a_sub_agent_is_a_run_of_its_own(self):
        """Its session has its own id; a compaction is no request of a person."""
        assert [call.run for call in self.kinds(Call)] == ["ses_1"] * 4 + ["ses_2"]
        assert len(self.kinds(Compaction)) == 1
        assert [user.text for user in self.kinds(User)] == ["Run the tests."]


def test_a_database_in_use_is_read_and_left_alone(database):
    """What a running program has written is seen, also before it is checkpointed; nothing is made or changed beside it."""
    path = database("opencode/opencode.sql", "WAL")
    with closing(sqlite3.connect(path)) as program:
        program.execute("INSERT INTO session VALUES ('ses_3', NULL, 'new', 9)")
        program.execute("INSERT INTO message VALUES ('m9', 'ses_3', 9, '{\"role\":\"assistant\"}')")
        program.commit()
        before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
        source = Source.open(path)
        _, events = read(source)
        assert "ses_3" in {event.run for event in events}
        source.close()
        after = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    assert after.keys() == before.keys()
    assert all(after[name] == before[name] for name in after if not name.endswith("-shm"))  # readers enter themselves there


def test_a_database_at_rest_leaves_no_files_beside_it(database):
    """Reading a database that nobody uses makes no -wal and no -shm."""
    path = database("opencode/opencode.sql", "WAL")
    source = Source.open(path)
    assert list(read(source)[1])
    source.close()
    assert list(path.parent.iterdir()) == [path]
