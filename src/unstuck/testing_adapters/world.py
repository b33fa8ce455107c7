"""The scripted surroundings of a run: what the model does turn by turn, what its tools answer, what it was sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

from unstuck.events import TYPE_NAMES, Call, Event, Message, Result
from unstuck.scan import Scan
from unstuck.traces.source import Source

TEXT = "Let me look."
"""What the scripted model says with each of its calls."""
DONE = "That is all."
"""Its last answer."""
INPUT_TOKENS, OUTPUT_TOKENS = 50, 7
"""Of each response."""


class Ask(NamedTuple):
    """A call that the scripted model makes."""

    tool: str
    args: Mapping[str, str]


class ToolBrokeError(Exception):
    """What a tool of the script raises."""


class Said(NamedTuple):
    """A text in a request to the model; *role* is `user`, `assistant` or `system`."""

    role: str
    text: str


class Asked(NamedTuple):
    """A call in a request to the model."""

    id: str


class Answered(NamedTuple):
    """A result in a request to the model."""

    id: str
    text: str


Item: TypeAlias = Said | Asked | Answered


class Scenario(NamedTuple):
    """What the model does turn by turn, and what its tools answer at their nth execution with these arguments (1-based)."""

    turns: tuple[tuple[Ask, ...], ...]
    answer: Callable[[Ask, int], str]


READ = Ask("read_file", {"path": "notes.txt"})
LOOP = Scenario(((READ,),) * 47, lambda ask, nth: "10 lines")
"""The incident: a model that reads one file 47 times, whatever it is told."""
TWICE = Scenario(((READ,),) * 2, lambda ask, nth: "10 lines")
PAIRS = Scenario(((READ, Ask("read_file", {"path": "todo.txt"})),) * 47, lambda ask, nth: f"10 lines of {ask.args['path']}")
BROKEN = Scenario(((READ,),), lambda ask, nth: "")
POLLING = Scenario(((Ask("job_status", {"job": "7"}),),) * 12, lambda ask, nth: f"running, {nth * 8} percent")
_TEST, _EDIT = Ask("run_tests", {"target": "all"}), "edit_file"
TEST_FIX = Scenario(
    tuple(turn for n in range(6) for turn in ((_TEST,), (Ask(_EDIT, {"path": "a.py", "text": f"version {n}"}),))),
    lambda ask, nth: f"{7 - nth} failed" if ask == _TEST else "OK: file updated",
)
BATCH = Scenario(
    tuple((Ask(_EDIT, {"path": f"page-{n}.md", "text": "new title"}),) for n in range(20)), lambda ask, nth: "OK: file updated"
)
USEFUL = {"polling": POLLING, "test_fix": TEST_FIX, "batch": BATCH}


class World:
    """
    The surroundings of one run: the script, the tools, and what was seen of them.

    *executed* are the calls whose tool ran; *requests* is what the model was sent each time, *executed_before* how many had run then.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.executed: list[Ask] = []
        self.requests: list[list[Item]] = []
        self.executed_before: list[int] = []
        self.fails = scenario is BROKEN
        self._lock = Lock()

    def turn(self, request: Iterable[Item]) -> list[tuple[str, Ask]]:
        """Note what the model is sent; return its calls with their ids, none when it is done."""
        with self._lock:
            self.requests.append(list(request))
            self.executed_before.append(len(self.executed))
            number = len(self.requests)
        calls = self.scenario.turns[number - 1] if number <= len(self.scenario.turns) else ()
        return [(f"call-{number}-{place}", ask) for place, ask in enumerate(calls)]

    def do(self, tool: str, **args: str) -> str:
        """A tool runs."""
        ask = Ask(tool, args)
        with self._lock:
            self.executed.append(ask)
            answer = self.scenario.answer(ask, self.executed.count(ask))
        if self.fails:
            raise ToolBrokeError("disk on fire")
        return answer

    def tools(self) -> list[Callable[..., str]]:
        """The tools as typed functions with docstrings, as most frameworks take them."""

        def read_file(path: str) -> str:
            """Read a file."""
            return self.do("read_file", path=path)

        def job_status(job: str) -> str:
            """Look how far a job has come."""
            return self.do("job_status", job=job)

        def run_tests(target: str) -> str:
            """Run the tests."""
            return self.do("run_tests", target=target)

        def edit_file(path: str, text: str) -> str:
            """Change a file."""
            return self.do("edit_file", path=path, text=text)

        return [read_file, job_status, run_tests, edit_file]


def chat_calls(calls: Iterable[tuple[str, Ask]]) -> list[dict[str, Any]]:
    """The calls of a turn as chat completions have them."""
    return [
        {
            "id": id,
            "index": place,
            "type": "function",
            "function": {"name": ask.tool, "arguments": json.dumps(dict(ask.args))},
        }
        for place, (id, ask) in enumerate(calls)
    ]


def texts(request: Sequence[Item]) -> str:
    """All that is said or answered in *request*."""
    return "\n".join(item.text for item in request if not isinstance(item, Asked))


def answer_of(request: Sequence[Item], id: str) -> str:
    """The text of the one answer to the call *id* in *request*."""
    found = [item.text for item in request if isinstance(item, Answered) and item.id == id]
    assert len(found) == 1, f"call {id} has {len(found)} answers"
    return found[0]


def assert_paired(request: Sequence[Item]) -> None:
    """Whether each call is answered once, before anything else is said."""
    open_: list[str] = []
    for item in request:
        if isinstance(item, Asked):
            open_.append(item.id)
        elif isinstance(item, Answered):
            assert item.id in open_, f"{item.id} is answered and was not asked, or twice"
            open_.remove(item.id)
        else:
            assert not open_ or item.role == "assistant", f"{item.role} speaks while {open_} are open"
    assert not open_, f"{open_} were never answered"


def events_of(scenario: Scenario) -> list[Event]:
    """The events of *scenario* as a run without a guard would have them."""
    events: list[Event] = []
    seen: list[Ask] = []
    for number, turn in enumerate(scenario.turns, 1):
        events.append(Message("run", number, len(turn), text=TEXT))
        ids = [f"call-{number}-{place}" for place in range(len(turn))]
        events += [Call("run", id, ask.tool, dict(ask.args), number) for id, ask in zip(ids, turn, strict=True)]
        for id, ask in zip(ids, turn, strict=True):
            seen.append(ask)
            events.append(Result("run", id, scenario.answer(ask, seen.count(ask))))
    return [*events, Message("run", len(scenario.turns) + 1, 0, text=DONE)]


def scanned(events: Iterable[Event], path: Path) -> list[tuple[str, int | None, int, str]]:
    """What `unstuck scan` finds in *events*: pattern, call, response, level; they are written to *path*."""
    path.write_text("".join(f"{as_json(event)}\n" for event in events), "utf-8")
    return scanned_file(path)


def scanned_file(path: Path) -> list[tuple[str, int | None, int, str]]:
    """What `unstuck scan` finds in the one run that *path* holds."""
    source = Source.open(path)
    try:
        findings = next(iter(Scan().runs(source))).findings
    finally:
        source.close()
    return [(found.pattern, found.call, found.message, found.level.label) for found in findings]


def as_json(event: Event) -> str:
    """*event* as a line of an event file."""
    fields = {name: value for name, value in event._asdict().items() if value is not None}
    if isinstance(event, Message) and event.usage is not None:
        fields["usage"] = event.usage._asdict()
    return json.dumps({"type": TYPE_NAMES[type(event)], **fields})
