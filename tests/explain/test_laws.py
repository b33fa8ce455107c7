"""Explanations of random runs: whatever happens in a run, each finding is explained by the exchange that came to its count."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from tests.core.runs import decisions, events_of, scripts
from unstuck.explain import Exchange, Explanation, explain
from unstuck.presets import PRESETS, preset
from unstuck.reporters import explain as terminal
from unstuck.reporters.explain_json import record


def told(strands):
    return sorted(
        (strand.loop, strand.pattern, decided.level.label, entry.call or 0, entry.message, entry.repeats)
        for strand in strands
        for entry in strand.entries
        if isinstance(entry, Exchange)
        for decided in entry.decisions
    )


def found(events, name):
    return sorted(
        (one.loop, one.pattern, one.level.label, one.call or 0, one.message, one.repeats)
        for decision in decisions(events, name)
        for one in decision.findings
    )


LAPS_THAT_WAIT = [
    (
        "repeat",
        [
            ("read_file", {"path": "a.py"}, "ok", "ok", "main", "harness", False),
            ("check_status", {"path": "a.py"}, "ok", "ok", "main", "model", False),
            ("check_status", {"path": "b.py"}, "ok", "ok", "main", "model", False),
        ],
        5,
    )
]


FAILS_TWICE_IN_A_ROUND = [
    ("round", [("read_file", {"path": "a.py"}, "ok", "ok", "main", "model", False)]),
    (
        "repeat",
        [
            ("read_file", {"path": "a.py"}, "ok", "ok", "main", "harness", False),
            ("read_file", {"path": "a.py"}, "ok", "error", "main", "model", False),
            ("read_file", {"path": "a.py"}, "ok", "error", "main", "model", False),
        ],
        5,
    ),
]


@pytest.mark.parametrize("name", PRESETS)
@settings(deadline=None, max_examples=60)
@example(script=FAILS_TWICE_IN_A_ROUND, attended=False)
@example(script=LAPS_THAT_WAIT, attended=False)
@given(script=scripts, attended=st.booleans())
def test_every_finding_is_explained(name, script, attended):
    """Each finding stands once in the explanation, at an exchange of its ordinal and its count, whatever the rule set."""
    events = events_of(script, attended=attended, odd=True)
    assert told(explain(events, preset(name))) == found(events, name)


@settings(deadline=None, max_examples=60)
@given(script=scripts)
def test_counts_rise_by_one_and_resets_explain_the_rest(script):
    """Between two resets a count never falls, and what did not count says why."""
    for strand in explain(events_of(script)):
        before = 0
        for entry in strand.entries:
            if not isinstance(entry, Exchange):
                before = 0
            elif entry.repeats is None:
                assert entry.why
            elif entry.why != "ahead":
                assert entry.repeats >= before, strand
                before = entry.repeats


@settings(deadline=None, max_examples=40)
@given(script=scripts, width=st.integers(40, 120))
def test_both_forms_are_always_whole(script, width):
    """Whatever the run, the terminal view fits its width and the JSON form is JSON."""
    strands = explain(events_of(script, odd=True))
    explanation = Explanation("r", "r.jsonl", "events", 1, 1, "default", strands)
    output = io.StringIO()
    terminal.report(Console(file=output, width=width), explanation)
    assert max(map(len, output.getvalue().splitlines())) <= width
    assert json.loads(json.dumps(record(explanation)))["loops"] == record(explanation)["loops"]
