"""The one-step way of an exchange that is new in every respect, beside the long way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.runs import events_of, scripts
from unstuck import fresh, ledger
from unstuck.events import Call, Event, Message, Result
from unstuck.monitor import Monitor


def long_way() -> Monitor:
    """A monitor that takes up every exchange the long way."""
    monitor = Monitor()
    monitor.ledger._may_be_fresh = False
    return monitor


def made_new(events: list[Event], every: int) -> list[Event]:
    """*events* with something new in every so many of their calls and their results, and without the numbers of responses."""
    changed: list[Event] = []
    for number, event in enumerate(events):
        new = number % (2 * every) < every
        if isinstance(event, Call):
            changed.append(event._replace(message=None, args={"path": f"{number}" if new else "p"}))
        elif isinstance(event, Result) and new:
            changed.append(event._replace(content=f"{number} {event.content}"))
        elif not isinstance(event, Message):
            changed.append(event)
    return changed


@given(script=scripts, every=st.integers(0, 5))
def test_both_ways_decide_alike_and_leave_the_same_behind(script: list[Any], every: int):
    """Decision for decision, and the saved state after each event, whatever else the run holds."""
    short, long = Monitor(), long_way()
    events = events_of(script)
    for event in made_new(events, every) if every else events:
        assert short.observe(event) == long.observe(event)
        assert Monitor.load(short.dump()).dump() == Monitor.load(long.dump()).dump()


@pytest.mark.parametrize("tool", ["read_file", "bash", "frobnicate", "wait_for_job"])
def test_a_run_in_which_nothing_repeats_goes_the_short_way(tool: str, monkeypatch: pytest.MonkeyPatch):
    """All but the first call of the tool."""
    taken = []

    def counted(*given: Any) -> bool:
        taken.append(fresh.take_fresh(*given))
        return taken[-1]

    monkeypatch.setattr(ledger, "take_fresh", counted)
    monitor = Monitor()
    for number in range(20):
        monitor.observe(Call("r", "c", tool, {"path": f"p{number}"}))
        monitor.observe(Result("r", "c", f"{number} things are in here"))
    assert taken == [False] + [True] * 19
