"""The small values that cross borders: levels, findings, decisions, errors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import unstuck
from unstuck import errors
from unstuck.errors import (
    LineError,
    LoopStopped,
    MissingDependencyError,
    ReadError,
    SettingsError,
    StateError,
    UnknownFormatError,
    UnstuckError,
)
from unstuck.findings import CONTINUE, Decision, Finding, Level
from unstuck.monitor import VERSION, Monitor

FINDING = Finding(3, "cycle", 12, 9, 4, 3, ("read_file", "grep"), "main", Level.BLOCK, ("00aa",), "laps", 2)

ERRORS: list[tuple[BaseException, dict[str, Any], str]] = [
    (
        SettingsError("ceiling", 5, "too low", "give 10"),
        {"field": "ceiling", "value": 5, "problem": "too low", "way_out": "give 10"},
        "ceiling=5: too low; give 10",
    ),
    (StateError("no state", 7), {"problem": "no state", "version": 7}, "no state"),
    (StateError("no state"), {"problem": "no state", "version": None}, "no state"),
    (ReadError("a.jsonl", "gone"), {"source": "a.jsonl", "problem": "gone"}, "a.jsonl: gone"),
    (LineError("a.jsonl", 7, "cut"), {"source": "a.jsonl", "line": 7, "problem": "cut"}, "a.jsonl:7: cut"),
    (UnknownFormatError("a.bin", "what is it"), {"source": "a.bin", "problem": "what is it"}, "a.bin: what is it"),
    (
        MissingDependencyError("genai_prices", "prices"),
        {"package": "genai_prices", "extra": "prices"},
        "this needs the package 'genai_prices', which is not installed: pip install 'unstuck[prices]'",
    ),
    (LoopStopped(FINDING), {"finding": FINDING}, "cycle: 3 laps of read_file, grep"),
]


@pytest.mark.parametrize(("error", "fields", "text"), ERRORS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    "again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"]
)
def test_an_error_keeps_its_fields_and_its_text(error: BaseException, fields: dict[str, Any], text: str, again: Any):
    """Also on its way to another process."""
    other = again(error)
    assert type(other) is type(error)
    for made in (error, other):
        assert {name: getattr(made, name) for name in fields} == fields
        assert str(made) == text


def test_every_error_is_tried_here():
    """The table above leaves none out."""
    defined = {value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, BaseException)}
    assert defined - {UnstuckError} == {type(error) for error, _, _ in ERRORS}


def test_one_class_catches_what_is_wrong_with_input_and_settings():
    """`UnstuckError` for all of these; those that are also something known are that too."""
    for error, _, _ in ERRORS[:-1]:
        assert isinstance(error, UnstuckError)
    assert issubclass(SettingsError, ValueError)
    assert issubclass(MissingDependencyError, ImportError)
    assert issubclass(LineError, ReadError)
    assert issubclass(UnknownFormatError, ReadError)


def test_a_stop_is_not_swallowed_by_those_who_catch_exceptions():
    """It is no `Exception` and none of our errors; it is public under one name."""
    assert not issubclass(LoopStopped, Exception)
    assert not issubclass(LoopStopped, UnstuckError)
    assert unstuck.LoopStopped is LoopStopped


def test_levels_are_ordered_by_severity_and_have_names():
    """continue < observe < nudge < block < stop."""
    names = ["continue", "observe", "nudge", "block", "stop"]
    assert [level.label for level in sorted(Level)] == names
    assert [Level.named(name) for name in names] == sorted(Level)
    with pytest.raises(KeyError):
        Level.named("warn")


@pytest.mark.parametrize(
    ("change", "record"),
    [
        ({}, "cycle: 3 laps of read_file, grep"),
        ({"tools": ("read_file",), "unit": "calls", "pattern": "repeated_result"}, "repeated_result: 3 calls of read_file"),
        ({"tools": (), "unit": "responses", "pattern": "repeated_text"}, "repeated_text: 3 responses"),
        ({"call": None}, "cycle: 3 laps of read_file, grep"),
    ],
)
def test_a_finding_in_one_line(change: dict[str, Any], record: str):
    """What, how often, with which tools."""
    assert FINDING._replace(**change).record == record
    assert str(LoopStopped(FINDING._replace(**change))) == record


def test_values_are_equal_by_content_and_cannot_be_changed():
    """Findings and decisions are values."""
    assert pickle.loads(pickle.dumps(FINDING)) == FINDING
    assert Decision(Level.NUDGE, (FINDING,)).name == "nudge"
    assert CONTINUE.name == "continue"
    with pytest.raises(AttributeError):
        FINDING.loop = 4  # type: ignore[misc]
    with pytest.raises(AttributeError):
        CONTINUE.level = Level.STOP  # type: ignore[misc]


BROKEN = [
    "",
    "{",
    "null",
    "[]",
    "7",
    '"text"',
    "{}",
    '{"version": null}',
    '{"version": 1}',
    '{"version": 1, "ledger": {}}',
    "\x00",
    "nan",
]


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_saved_state_is_refused(text: str):
    """With `StateError`, whatever it is."""
    with pytest.raises(StateError):
        Monitor.load(text)


def test_state_of_a_newer_version_says_so():
    """The version it claims, and what to do."""
    text = Monitor().dump().replace(f'"version":{VERSION}', f'"version":{VERSION + 1}')
    with pytest.raises(StateError, match="start anew or upgrade") as caught:
        Monitor.load(text)
    assert caught.value.version == VERSION + 1


def test_cut_state_is_refused_wherever_it_is_cut():
    """Half a state is none."""
    from tests.core.patterns import X, events

    monitor = Monitor()
    for event in events([X("read_file", {"path": "a"}, "aaa")] * 4):
        monitor.observe(event)
    text = monitor.dump()
    for end in range(0, len(text), max(1, len(text) // 100)):
        with pytest.raises(StateError):
            Monitor.load(text[:end])
