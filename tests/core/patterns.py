"""Short ways to write runs, and what a monitor finds in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from unstuck.events import MAIN, Call, Compaction, Event, Message, Result, User
from unstuck.findings import Level
from unstuck.monitor import Monitor


class X(NamedTuple):
    """One exchange: a call and what came back."""

    tool: str
    args: Any = None
    content: Any = "ok"
    outcome: Any = "ok"
    time: float | None = None
    agent: str = MAIN


COMPACTED = Compaction("r")
"""Between two rounds: the context was compacted."""


def said(text: str | None, reasoning: str | None = None) -> Message:
    """A response without calls."""
    return Message("r", 0, 0, text=text, reasoning=reasoning)


def events(rounds: Iterable[X | list[X] | Event]) -> list[Event]:
    """The events of rounds: an exchange is a response of its own, a list of them one response."""
    made: list[Event] = [User("r", "Do it.")]
    number = 0
    for step in rounds:
        if isinstance(step, X | list):
            number += 1
            calls = [step] if isinstance(step, X) else step
            made.append(Message("r", number, len(calls), calls[0].agent))
            made += [Call("r", f"c{index}", x.tool, x.args, number, x.agent, time=x.time) for index, x in enumerate(calls)]
            made += [Result("r", f"c{index}", x.content, x.outcome, x.time) for index, x in enumerate(calls)]
        else:
            number += isinstance(step, Message)
            made.append(step._replace(message=number) if isinstance(step, Message) else step)
    return made


class Found(NamedTuple):
    """The first finding of a pattern at a level."""

    pattern: str
    level: str
    at: int
    """The call, for text the response."""


def found(rounds: Iterable[X | list[X] | Event]) -> list[Found]:
    """Every finding in a run in which nothing is done about any, in order."""
    monitor = Monitor()
    findings = [finding for event in events(rounds) for finding in monitor.observe(event).findings]
    return [Found(f.pattern, f.level.label, f.message if f.call is None else f.call) for f in findings]


def harm(findings: Iterable[Found]) -> list[Found]:
    """Those that would have held the run up."""
    return [one for one in findings if Level.named(one.level) >= Level.BLOCK]


CITIES = "Lisbon Oslo Cairo Quito Hanoi Perth Dakar Sofia Lima Kyoto Turin Accra Bergen Malmo Porto Basel".split()
THINGS = "kettle lamp violin ladder tent anchor mirror saddle loom kite drum sled wheel basket bell rope".split()


def edit(n: int, path: str = "app.py") -> X:
    return X("edit_file", {"path": path, "old_string": f"value = {n}", "new_string": f"value = {n + 1}"}, "File updated.")


def chapter(n: int) -> str:
    return " ".join(f"{THINGS[(n * 3 + k) % 16]}{n}{chr(97 + k)}" for k in range(12))
