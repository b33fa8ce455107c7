"""What came closest in a run without a loop."""

from __future__ import annotations

import pytest

from tests.explain.made import PATTERNS, PERSON, failing, many, says
from unstuck.explain import closest, explain
from unstuck.presets import PRESETS, preset

DOUBLED = many((1, 2, 3), "wait_for_build", {"id": 7}, "queued")
ROWS = [
    ("one look", many((1,)), []),
    ("the same look twice", many((1, 2)), [("repeated_result", 2, 3, 1, 2)]),
    ("a wait, which has twice the patience", DOUBLED, [("stuck_poll", 3, 6, 1, 3)]),
    ("an equal failure", [*failing(1), *failing(2)], [("repeated_failure", 2, 5, 1, 2)]),
    ("an equal text", [says(1, "I cannot do this."), says(2, "I cannot do this.")], [("repeated_text", 2, 3, None, None)]),
]


@pytest.mark.parametrize(("events", "near"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_counts_below_the_first_rung_are_told(events, near):
    """Pattern, highest count, first rung, and the calls from the first to that count; what never came twice is not told."""
    assert explain([PERSON, *events]) == ()
    found = [(one.pattern, one.repeats, one.rung, one.first_call, one.call) for one in closest([PERSON, *events])]
    assert found[: len(near)] == near
    assert bool(found) == bool(near)


def test_the_largest_share_of_its_rung_comes_first():
    """Four of five stand before two of three."""
    found = closest([PERSON, *many((1, 2)), *failing(3), *failing(4), *failing(5), *failing(6)])
    assert [(one.pattern, one.repeats, one.rung) for one in found][:2] == [
        ("repeated_failure", 4, 5),
        ("repeated_result", 2, 3),
    ]


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_nothing_that_reached_a_rung_is_close(name, pattern):
    """Whatever the run and the rules, each count told is below its rung, and there are at most three."""
    found = closest([PERSON, *PATTERNS[pattern][0]], preset(name))
    assert len(found) <= 3
    assert [one for one in found if not 2 <= one.repeats < one.rung] == []
