"""
Tests for what others add to unstuck: short ways to write events, and the suite that every reader passes.

```python
class TestMyFormat(ReaderSuite):
    format = "my_format"
    sample = Path("tests/data/my_format/session.jsonl")
    counts = Counts(runs=1, messages=4, calls=3)
```
"""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from unstuck.errors import LineError, ReadError
from unstuck.events import Call, Event, Message, Outcome, Result, RunEnd, RunStart, User
from unstuck.readers import formats, read, reader
from unstuck.traces.source import Source


def message(number: int = 1, *, run: str = "r", calls: int | None = 1, **fields: Any) -> Message:
    """Response *number* of *run*."""
    return Message(run, number, calls, **fields)


def call(tool: str = "read_file", args: Any = None, *, id: str = "c1", run: str = "r", **fields: Any) -> Call:
    """A call of *tool*."""
    return Call(run, id, tool, args, **fields)


def result(content: Any = "ok", *, id: str = "c1", run: str = "r", outcome: Outcome = "ok", **fields: Any) -> Result:
    """What came back for the call *id*."""
    return Result(run, id, content, outcome, **fields)


def run_of(exchanges: Iterable[tuple[str, Any, Any]], *, run: str = "r", request: str | None = "Go.") -> list[Event]:
    """A run of (tool, arguments, result), one call a response, after a person's *request* (`None`: without one)."""
    events: list[Event] = [] if request is None else [User(run, request)]
    for number, (tool, args, content) in enumerate(exchanges, 1):
        id = f"c{number}"
        events += [message(number, run=run), call(tool, args, id=id, run=run, message=number), result(content, id=id, run=run)]
    return events


class Counts(NamedTuple):
    """What a sample holds."""

    runs: int
    messages: int
    calls: int


class ReaderSuite:
    """
    What every reader does, as tests for pytest; derive a class that names *format*, *sample* and what the sample *counts*.

    *spreads*: the format has one record a line, so a file of any length is read in the same memory. *cuts*: at how many places the
    sample is cut off and damaged.
    """

    format: ClassVar[str]
    sample: ClassVar[Path]
    counts: ClassVar[Counts]
    spreads: ClassVar[bool] = True
    cuts: ClassVar[int] = 400

    def events(self, data: bytes, errors: list[LineError] | None = None) -> list[Event]:
        """The events of *data*; *errors* takes what is broken. Where the content is in no known format, there are none."""
        source = Source(io.BytesIO(data), "sample", report=(errors if errors is not None else []).append)
        try:
            return list(read(source, self.format)[1])
        except ReadError:
            return []

    def test_its_content_is_recognised(self) -> None:
        """Detection picks this reader, and no other claims the sample."""
        claims = [
            name for name in formats() if reader(name).detect(Source(io.BytesIO(self.sample.read_bytes()), "sample").head)
        ]
        assert claims == [self.format]

    def test_it_reads_all_of_the_sample(self) -> None:
        """Nothing of the sample is broken, and runs, responses and calls are as many as there are."""
        errors: list[LineError] = []
        events = self.events(self.sample.read_bytes(), errors)
        assert (errors, _count(events)) == ([], self.counts)

    def test_events_stand_in_a_legal_order(self) -> None:
        """Responses are numbered from 1, calls follow their response, open calls differ in their ids, results follow their call."""
        ended: set[str] = set()
        numbers: dict[str, int] = {}
        called: set[tuple[str, str]] = set()
        waiting: set[tuple[str, str]] = set()
        for event in self.events(self.sample.read_bytes()):
            if event.run in ended:
                # Runs without a name of their own follow each other under the same empty one.
                assert event.run == ""
                ended.discard(event.run)
                numbers.pop(event.run, None)
            if isinstance(event, RunStart):
                assert event.run not in numbers
            elif isinstance(event, Message):
                assert event.message == numbers.get(event.run, 0) + 1
                numbers[event.run] = event.message
            elif isinstance(event, Call):
                assert event.message is None or event.message <= numbers[event.run]
                assert (event.run, event.id) not in waiting
                called.add((event.run, event.id))
                waiting.add((event.run, event.id))
            elif isinstance(event, Result):
                assert (event.run, event.id) in called
                waiting.discard((event.run, event.id))
            elif isinstance(event, RunEnd):
                ended.add(event.run)

    def test_a_cut_file_is_read_as_far_as_it_goes(self) -> None:
        """Wherever the file is cut off, nothing raises, and what comes is the beginning of what the whole file gives."""
        data = self.sample.read_bytes()
        whole = self.events(data)
        for end in range(0, len(data), max(1, len(data) // self.cuts)):
            calls = [event for event in self.events(data[:end]) if isinstance(event, Call)]
            assert [event.id for event in calls] == [event.id for event in whole if isinstance(event, Call)][: len(calls)]

    def test_damaged_bytes_never_raise(self) -> None:
        """Whatever single byte is overwritten, the reader goes on or says that it cannot read this."""
        data = self.sample.read_bytes()
        choose = random.Random(7)
        for _ in range(self.cuts):
            damaged = bytearray(data)
            damaged[choose.randrange(len(data))] = choose.choice(b'\x00\xff"{}[]:,\\0an\n')
            self.events(bytes(damaged))

    def test_values_of_a_wrong_kind_never_raise(self) -> None:
        """Whatever value of a record is another kind of value, the reader goes on or says that it cannot read this."""
        data = self.sample.read_bytes()
        records = [json.loads(line) for line in data.splitlines()] if self.spreads else [json.loads(data)]
        choose = random.Random(11)
        for _ in range(self.cuts):
            changed = copy.deepcopy(records)
            _spoil(changed, choose)
            self.events(b"\n".join(json.dumps(record).encode() for record in changed))

    def test_compressed_files_give_the_same(self) -> None:
        """A gzip file is read like the plain one."""
        data = self.sample.read_bytes()
        assert self.events(gzip.compress(data)) == self.events(data)

    def test_memory_does_not_grow_with_the_file(self) -> None:
        """Forty times the lines take hardly more memory, where a format has lines."""
        if self.spreads:
            lines = self.sample.read_bytes().rstrip(b"\n") + b"\n"
            assert self._peak(lines * 44) < 1.5 * self._peak(lines * 4) + 64 * 1024

    def _peak(self, data: bytes) -> int:
        source = Source(io.BytesIO(data), "sample")
        tracemalloc.start()
        try:
            for _ in read(source, self.format)[1]:
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def _count(events: Iterable[Event]) -> Counts:
    """What *events* hold; each end makes room for another run of the same name."""
    live: set[str] = set()
    runs = messages = calls = 0
    for event in events:
        runs += event.run not in live
        messages += isinstance(event, Message)
        calls += isinstance(event, Call)
        (live.discard if isinstance(event, RunEnd) else live.add)(event.run)
    return Counts(runs, messages, calls)


def _spoil(value: Any, choose: random.Random) -> None:
    """Put something else in one place somewhere inside *value*."""
    while True:
        place = choose.choice(list(value) if isinstance(value, dict) else range(len(value)))
        if isinstance(value[place], dict | list) and value[place] and choose.random() < 0.8:
            value = value[place]
            continue
        value[place] = choose.choice([None, True, -1, 1.5, "", "x", [], [[]], [None], ["x"], {}, {"type": 3}, {"id": []}])
        return
