"""Refusals, and what settings come to."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from unstuck.config import Options
from unstuck.errors import SettingsError, UnstuckError
from unstuck.events import Event
from unstuck.findings import Level
from unstuck.monitor import Monitor
from unstuck.testing import call, message, result


def refused(make: Callable[[], Any], field: str, value: Any = ...) -> SettingsError:
    """The refusal of *make*, which names *field* and *value* and says what to write instead; it survives pickling."""
    with pytest.raises(SettingsError) as caught:
        make()
    error = caught.value
    assert error.field == field
    if value is not ...:
        one_of = isinstance(value, list) and error.value in value
        assert error.value is value or error.value == value or one_of or value != value  # noqa: PLR0124 - NaN
    given = field if error.value is ... else f"{field}={error.value!r}"
    assert str(error) == f"{given}: {error.problem}; {error.way_out}"
    assert error.problem
    assert len(error.way_out) > 8
    assert isinstance(error, UnstuckError)
    assert isinstance(error, ValueError)
    if not callable(value):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    return error


def level_at(options: Options, events: list[Event]) -> Level:
    """The strongest decision on *events*."""
    monitor = Monitor(options.rules())
    return max(monitor.observe(event).level for event in events)


def same_call(times: int, **fields: Any) -> list[Event]:
    """One exchange, *times* over."""
    return [
        event
        for number in range(times)
        for event in (message(number), call(args={"path": "a"}, message=number, **fields), result("the same"))
    ]
