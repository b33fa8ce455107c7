"""The short ways of exchanges that are new in every respect, or say again what they said, beside the long way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.runs import events_of, scripts
from unstuck import ledger
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
    """From its first call on."""
    assert taken(monkeypatch, tool, ledger.take_fresh, [f"p{number}" for number in range(20)]) == [True] * 20


def test_a_call_that_comes_again_goes_the_short_way(monkeypatch: pytest.MonkeyPatch):
    """From the second time on."""
    assert taken(monkeypatch, "read_file", ledger.take_again, ["p"] * 8) == [True] * 7


def taken(monkeypatch: pytest.MonkeyPatch, tool: str, way: Callable[..., Any], paths: list[str]) -> list[bool]:
    """For each exchange that *way* was asked to take up, whether it did."""
    answers: list[bool] = []

    def asked(*given: Any) -> Any:
        shown = way(*given)
        answers.append(shown is not None)
        return shown

    monkeypatch.setattr(ledger, way.__name__, asked)
    monitor = Monitor()
    for path in paths:
        monitor.observe(Call("r", "c", tool, {"path": path}))
        monitor.observe(Result("r", "c", f"{path} holds a few things"))
    return answers
