"""Rule sets as functions from the events of one run to decisions: our presets, and three rules that people write by hand."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from scoring import Point
from unstuck.events import Call, Event, Message, Result
from unstuck.findings import Level
from unstuck.fingerprint import call_fingerprint, value_digest
from unstuck.monitor import Monitor
from unstuck.presets import PRESETS, preset

Judge = Callable[[list[Event]], list[Point]]


class RuleSet(NamedTuple):
    """A rule set by its *name* in the table; `judge` is `None`, and *version* says why, where it is not installed."""

    name: str
    version: str
    judge: Judge | None


class Step(NamedTuple):
    """A call or a result of a run, with the ordinals of its call and of the latest response."""

    call: int
    message: int
    asked: Call
    result: Result | None

    def point(self, level: Level) -> Point:
        """A decision here."""
        return Point(self.call, self.message, level)


def steps(events: list[Event]) -> Iterator[Step | Event]:
    """The calls and results of a run as steps, every other event as it is."""
    calls = messages = 0
    waiting: dict[str, tuple[int, Call]] = {}
    for event in events:
        if isinstance(event, Call):
            calls += 1
            waiting[event.id] = (calls, event)
            yield Step(calls, messages, event, None)
        elif isinstance(event, Result):
            if event.id in waiting:
                number, asked = waiting.pop(event.id)
                yield Step(number, messages, asked, event)
        else:
            messages += isinstance(event, Message)
            yield event


def with_preset(name: str) -> Judge:
    """A preset of this package."""

    def judge(events: list[Event]) -> list[Point]:
        monitor = Monitor(preset(name))
        found = [finding for event in events for finding in monitor.observe(event).findings]
        return [Point(finding.call, finding.message, finding.level) for finding in found]

    return judge


def three_in_a_row(events: list[Event]) -> list[Point]:
    """Stop at the third equal call in a row."""
    points, last, count = [], None, 0
    for step in steps(events):
        if isinstance(step, Step) and step.result is None:
            key = call_fingerprint(step.asked.tool, step.asked.args)
            last, count = key, count + 1 if key == last else 1
            if count >= 3:
                points.append(step.point(Level.STOP))
    return points


def five_of_ten(events: list[Event]) -> list[Point]:
    """Stop where the last ten calls hold one call five times."""
    points: list[Point] = []
    recent: deque[int] = deque(maxlen=10)
    for step in steps(events):
        if isinstance(step, Step) and step.result is None:
            key = call_fingerprint(step.asked.tool, step.asked.args)
            recent.append(key)
            if recent.count(key) >= 5:
                points.append(step.point(Level.STOP))
    return points


def same_result_three_times(events: list[Event]) -> list[Point]:
    """Stop where a call came to the same result three times, whatever stands between."""
    points: list[Point] = []
    seen: Counter[Any] = Counter()
    for step in steps(events):
        if isinstance(step, Step) and step.result is not None:
            key = (call_fingerprint(step.asked.tool, step.asked.args), value_digest(step.result.content))
            seen[key] += 1
            if seen[key] >= 3:
                points.append(step.point(Level.STOP))
    return points


def ours(version: str) -> list[RuleSet]:
    """The presets."""
    return [RuleSet(f"unstuck, {name}", version, with_preset(name)) for name in PRESETS]


REFERENCE = [
    RuleSet("same call 3 in a row", "rule", three_in_a_row),
    RuleSet("same call 5 of the last 10", "rule", five_of_ten),
    RuleSet("same call and result 3 times", "rule", same_result_three_times),
]
