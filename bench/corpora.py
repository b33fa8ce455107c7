"""Runs for the benches: read from event files whose paths are given, or a small corpus of our own making."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from unstuck.events import Call, Event, Message, Outcome, Result, RunEnd, RunStart, User
from unstuck.readers import read
from unstuck.traces.source import Source

SUFFIXES = (".events.jsonl.zst", ".events.jsonl.gz", ".events.jsonl")
"""Event files; the labels of `NAME.events.jsonl...` stand beside it in `NAME.labels.jsonl`, verdicts in `NAME.expected.jsonl`."""


class Run(NamedTuple):
    """One run: its events in order, the corpus it is from, and its label or verdict, where there is one."""

    name: str
    source: str
    events: list[Event]
    label: dict[str, Any] | None = None

    @property
    def good(self) -> bool:
        """Whether it is known to have succeeded without a loop; a run without a label counts as good."""
        return self.label is None or (self.label.get("success") is True and self.label.get("loop") is not True)


class Exchange(NamedTuple):
    """A call with what came back."""

    tool: str
    args: Any
    content: Any
    outcome: Outcome = "ok"

    @property
    def key(self) -> str:
        """The call as text."""
        return f"{self.tool} {json.dumps(self.args, sort_keys=True, default=str)}"


def beside(path: Path, kind: str) -> Path | None:
    """The file of *kind* (`labels`, `expected`) that stands beside an event file, where there is one."""
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            found = path.with_name(f"{path.name.removesuffix(suffix)}.{kind}.jsonl")
            return found if found.exists() else None
    return None


def rows(path: Path) -> dict[str, dict[str, Any]]:
    """Labels or verdicts by run."""
    lines = (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())
    return {row["run"]: row for row in lines}


def runs_in(path: Path, labels: dict[str, dict[str, Any]] | None = None) -> list[Run]:
    """The runs of a file in any format that unstuck reads, in the order they began."""
    source = Source.open(path)
    name = next((path.name.removesuffix(suffix) for suffix in SUFFIXES if path.name.endswith(suffix)), path.stem)
    found: dict[str, list[Event]] = {}
    try:
        for event in read(source)[1]:
            found.setdefault(event.run, []).append(event)
    finally:
        source.close()
    return [Run(run, name, events, (labels or {}).get(run)) for run, events in found.items()]


def labelled(path: Path) -> list[Run]:
    """The runs of an event file with the labels that stand beside it."""
    labels = beside(path, "labels")
    return runs_in(path, rows(labels) if labels else None)


def exchanges_of(events: list[Event]) -> list[Exchange]:
    """The calls of a run that have a result, in the order of the results."""
    waiting: dict[str, Call] = {}
    found: list[Exchange] = []
    for event in events:
        if isinstance(event, Call):
            waiting[event.id] = event
        elif isinstance(event, Result) and event.id in waiting:
            call = waiting.pop(event.id)
            found.append(Exchange(call.tool, call.args, event.content, event.outcome))
    return found


def told(run: str, exchanges: Iterable[Exchange], before: int = 0, agent: str = "main") -> Iterator[Event]:
    """The events of *exchanges*, one call a response, numbered from *before* + 1."""
    for number, exchange in enumerate(exchanges, before + 1):
        id = f"call-{number}"
        yield Message(run, number, 1, agent)
        yield Call(run, id, exchange.tool, exchange.args, number, agent)
        yield Result(run, id, exchange.content, exchange.outcome)


PARTS = "ledger parser router cache session invoice report sensor planner mailer index backup viewer quota signup".split()
VERBS = "loads checks merges drops counts renames sorts splits signs stores reads sends".split()
FAILURES = (
    "make: *** No rule to make target '{}'.  Stop.",
    "{}.c:31:9: error: expected ';' before 'return'",
    "PermissionError: [Errno 13] Permission denied: '{}'",
    "{}: command not found",
    "AssertionError: {} is not sorted",
)
NOUNS = "rows keys lines users orders dates totals paths tokens pages names jobs".split()


def _sentence(choose: random.Random) -> str:
    return f"{choose.choice(PARTS)} {choose.choice(VERBS)} {choose.choice(NOUNS)} of {choose.choice(PARTS)} {choose.randrange(999)}"


def _text(choose: random.Random, lines: int) -> str:
    return "\n".join(_sentence(choose) for _ in range(lines))


def _step(choose: random.Random, number: int) -> Exchange:
    part = f"{choose.choice(PARTS)}_{number}"
    passed, failed = choose.randrange(20, 90), choose.randrange(1, 9)
    kinds = (
        Exchange("read_file", {"path": f"src/{part}.py"}, _text(choose, choose.randrange(3, 30))),
        Exchange("search", {"query": _sentence(choose)}, "\n".join(f"src/{choose.choice(PARTS)}.py:{n}" for n in range(3, 9))),
        Exchange("edit_file", {"path": f"src/{part}.py", "old": _sentence(choose), "new": _sentence(choose)}, "File edited."),
        Exchange("bash", {"command": f"pytest tests/test_{part}.py"}, f"{failed} failed, {passed} passed\n{_text(choose, 4)}"),
        Exchange("bash", {"command": f"make {part}"}, choose.choice(FAILURES).format(part), "error"),
        Exchange("get_order", {"order_id": f"#W{choose.randrange(10**6)}"}, json.dumps({"item": part, "total": passed})),
        Exchange("query", {"table": part, "columns": choose.choice(NOUNS)}, f"[({passed},), ({failed},)]"),
    )
    return choose.choice(kinds)


def generated(count: int = 120, seed: int = 0) -> list[Run]:
    """Runs in which agents read, search, edit, test and query, and never do the same twice."""
    choose = random.Random(seed)
    made = []
    for number in range(count):
        name = f"generated/{number}"
        steps = [_step(choose, index) for index in range(choose.randrange(6, 40))]
        events: list[Event] = [RunStart(name, attended=False), User(name, f"Mend the {_sentence(choose)}.")]
        made.append(Run(name, "generated", [*events, *told(name, steps), RunEnd(name)], {"success": True, "loop": None}))
    return made
