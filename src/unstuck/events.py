"""
The events of a run: the only thing that detectors, readers and adapters have in common.

Every type is an immutable named tuple, because events are created on every tool call of a live agent and inside short-lived
hook processes: named tuples are the cheapest typed value that CPython offers, to import and to build.
`docs/events.md` describes the JSON form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

Outcome: TypeAlias = Literal["ok", "error", "retry", "denied", "blocked"]
"""How a call ended: `retry` = the tool asked the model to try again, `denied` = a person refused, `blocked` = a guard did."""

Origin: TypeAlias = Literal["model", "harness", "retry"]
"""Who made a call: the model, a program around it, or the transport sending the same call again."""

OUTCOMES: frozenset[str] = frozenset(("ok", "error", "retry", "denied", "blocked"))
ORIGINS: frozenset[str] = frozenset(("model", "harness", "retry"))
MAIN = "main"
"""The agent that acted where an event names none."""


class Usage(NamedTuple):
    """Tokens of one response; `input_tokens` includes the cached ones, as in the price tables."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def total(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens


class RunStart(NamedTuple):
    """A run begins; `attended=False` says that nobody can answer a question while it lasts."""

    run: str
    attended: bool = True
    meta: Mapping[str, Any] | None = None


class User(NamedTuple):
    """A message in the user's role; only one with `origin="user"` is a person's request."""

    run: str
    text: str | None = None
    origin: str = "user"


class Message(NamedTuple):
    """One response of the model, before its calls; `calls` is how many it holds (`None`: unknown)."""

    run: str
    message: int
    calls: int | None = None
    agent: str = MAIN
    parent: str | None = None
    text: str | None = None
    reasoning: str | None = None
    model: str | None = None
    usage: Usage | None = None
    time: float | None = None


class Call(NamedTuple):
    """A tool call about to run; calls with one `message` number are parallel and form one round."""

    run: str
    id: str
    tool: str
    args: Any = None
    message: int | None = None
    agent: str = MAIN
    parent: str | None = None
    depth: int | None = None
    time: float | None = None
    origin: Origin = "model"
    replay_of: str | None = None
    approved: bool = False
    annotations: Mapping[str, Any] | None = None


class Result(NamedTuple):
    """What came back for the latest open call with that id."""

    run: str
    id: str
    content: Any = None
    outcome: Outcome = "ok"
    time: float | None = None


class Retry(NamedTuple):
    """The transport starts over; what it sends again is marked `origin="retry"`."""

    run: str


class Compaction(NamedTuple):
    """The context was compacted here."""

    run: str


class RunEnd(NamedTuple):
    """A run is over."""

    run: str
    outcome: str | None = None


Event: TypeAlias = RunStart | User | Message | Call | Result | Retry | Compaction | RunEnd
"""Any event of a run."""

TYPE_NAMES: Mapping[type[Event], str] = {
    RunStart: "run_start",
    User: "user",
    Message: "message",
    Call: "call",
    Result: "result",
    Retry: "retry",
    Compaction: "compaction",
    RunEnd: "run_end",
}
"""The `type` field of each event in JSON."""
