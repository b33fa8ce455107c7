"""What is decided before a call runs goes by what that call could still add to."""

from __future__ import annotations

import pytest

from unstuck.events import Call, Compaction, User
from unstuck.findings import Level
from unstuck.monitor import Monitor
from unstuck.testing import call, message, result


def exchange(number, tool="read_file", args=None, content="text", time=None, **outcome):
    args = {"path": "a.py"} if args is None else args
    return [
        message(number),
        call(tool, args, id=f"c{number}", message=number, time=time),
        result(content, id=f"c{number}", time=time, **outcome),
    ]


def write(number):
    return exchange(number, "write_file", {"path": "a.py", "content": f"v{number}"}, "OK")


def before_the_last_call(events):
    """The level that was decided at the last call, before it ran."""
    monitor = Monitor()
    levels = [(type(event), monitor.observe(event).level) for event in events]
    return next(level for kind, level in reversed(levels) if kind is Call)


READS = [event for number in range(1, 5) for event in exchange(number)]
SPELLINGS = [
    event
    for number in range(1, 8)
    for event in exchange(number, "query", {"text": f"everything about the slow report of monday {number}"}, "the same")
]
FAILURES = [
    event
    for number in range(1, 9)
    for event in exchange(number, "fetch", {"id": "x", "mode": "x" * number}, "no such page", outcome="error")
]
LOOKS = [event for number in range(1, 12) for event in exchange(number, "wait_for_build", {}, "building", time=float(number))]

SPARED = {
    "a read after a write": [*READS, *write(5), *exchange(6)],
    "the free re-read after a compaction": [*READS, Compaction("r"), *exchange(5)],
    "a spelling after a write": [
        *SPELLINGS,
        *write(8),
        *exchange(9, "query", {"text": "everything about the slow report of monday 9"}, "the same"),
    ],
    "what failed, after a write": [*FAILURES, *write(9), *exchange(10, "fetch", {"id": "y"}, "fine now")],
    "what failed, on another target": [*FAILURES, *exchange(9, "fetch", {"id": "y"}, "no such page", outcome="error")],
    "a slow look": [*LOOKS, *exchange(12, "wait_for_build", {}, "building", time=100.0)],
}
HELD = {
    "a read with nothing changed": [*READS, *exchange(5)],
    "a second re-read after a compaction": [*READS, Compaction("r"), *exchange(5), *exchange(6)],
    "a spelling with nothing changed": [
        *SPELLINGS,
        *exchange(8, "query", {"text": "everything about the slow report of monday 8"}, "the same"),
    ],
    "what failed, with nothing changed": [
        *FAILURES,
        *exchange(9, "fetch", {"id": "x", "mode": "y"}, "no such page", outcome="error"),
    ],
    "a tight look": [*LOOKS, *exchange(12, "wait_for_build", {}, "building", time=12.0)],
}


@pytest.mark.parametrize("events", SPARED.values(), ids=SPARED)
def test_a_call_that_would_not_count_is_not_blocked(events):
    """One repeat short of a block, a call that begins anew, or does not count, runs."""
    assert before_the_last_call([User("r", "Go."), *events]) is Level.CONTINUE


@pytest.mark.parametrize("events", HELD.values(), ids=HELD)
def test_the_same_call_with_nothing_changed_is_blocked(events):
    """The counterpart: without the change the same call is blocked."""
    assert before_the_last_call([User("r", "Go."), *events]) is Level.BLOCK
