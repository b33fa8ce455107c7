"""Each pattern's whole ladder, and the way out of each loop."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.looping import LOOPS
from tests.core.patterns import CITIES, THINGS, Found, X, chapter, events, found, said
from unstuck.events import Call, Message, Result
from unstuck.findings import Level
from unstuck.monitor import Monitor
from unstuck.presets import preset

VERBS = "Move Migrate Transfer Bring Shift Carry Take Drag Pull Push".split()
PAIRS = list(zip(CITIES, THINGS, strict=True))
LONG: dict[str, list[Any]] = {
    "repeated_result": [X("read_file", {"path": "a"}, "aaa")] * 10,
    "repeated_call": [X("get_counter", {}, str(100 + 3 * n)) for n in range(20)],
    "stuck_poll": [X("check_status", {"job": 5}, "pending", "ok", 2.0 * n) for n in range(25)],
    "near_repeat": [
        X("search", {"query": f"how does the retry queue drain on shutdown {city}"}, "Page 1: the queue") for city in CITIES
    ],
    "repeated_failure": [
        X("fetch", {"url": "https://x.example/a", "mode": f"{city} {thing}"}, "Error: certificate expired", "error")
        for city, thing in PAIRS
    ],
    "unknown_tool": [X("read_minds", {"of": city}, "Unknown tool: read_minds", "error") for city in CITIES],
    "failure_cascade": [X(f"get_{thing}", {"id": 7}, "Error: could not connect to database", "error") for thing in THINGS],
    "recurring_failure": [
        x
        for city, thing in PAIRS[:8]
        for x in (
            X(
                "edit_file",
                {"path": "a", "old_string": city, "new_string": thing},
                "Error: string to replace not found",
                "error",
            ),
            X("edit_file", {"path": "a", "old_string": f"{city} x", "new_string": f"{thing} x"}, "File updated."),
        )
    ],
    "empty_answers": [X("search", {"query": f"{city} {thing}"}, "No results found.") for city, thing in PAIRS],
    "echoed_change": [X("bash", {"command": f"sleep 5; echo tick {n}"}, f"tick {n}") for n in range(24)],
    "recovered_ground": [X("read_file", {"path": f"ch{n}.md"}, chapter(n)) for n in range(20)] * 2,
    "delegation_loop": [
        X("spawn_agent", {"task": f"{verb} the users table to the new host"}, f"agent {n} started", agent=f"agent-{n}")
        for n, verb in enumerate(VERBS)
    ],
    "repeated_text": [said("I am done.")] * 8,
    "monologue": [said("I will open the file now and look at the parser" + " again" * (n % 3)) for n in range(9)],
    "empty_response": [said("")] * 8,
}
LADDERS = {
    "repeated_result": (3, 5, 8),
    "repeated_call": (7, 11, 17),  # the first answer differs from none
    "stuck_poll": (6, 12, 20),
    "near_repeat": (5, 8, 12),
    "repeated_failure": (5, 9, 14),
    "unknown_tool": (3, 5, 8),
    "failure_cascade": (5, None, 14),
    "recurring_failure": (7, None, None),  # every other call
    "empty_answers": (8, None, None),
    "echoed_change": (9, 13, 21),  # the first call is like none before
    "recovered_ground": (25, None, 36),  # twenty reads were new
    "delegation_loop": (3, 5, 8),
    "repeated_text": (3, None, 6),
    "monologue": (4, None, 6),
    "empty_response": (3, None, 6),
}


@pytest.mark.parametrize("pattern", LADDERS)
def test_a_loop_that_goes_on_climbs_its_ladder(pattern: str):
    """Each rung at its call or response, and no further word about it in between."""
    seen = [one for one in found(LONG[pattern]) if one.pattern == pattern]
    rungs = zip(("nudge", "block", "stop"), LADDERS[pattern], strict=True)
    assert seen == [Found(pattern, level, at) for level, at in rungs if at is not None]


def test_a_step_has_twice_the_patience_until_it_fails():
    """A key pressed, a page scrolled: the same receipt each time may still move something on; the same refusal does not."""
    pressed = [X("press_key", {"key": "down"}, "ok")] * 18
    assert found(pressed) == [Found("repeated_result", level, at) for level, at in (("nudge", 6), ("block", 10), ("stop", 16))]
    refused = [X("press_key", {"key": "down"}, "Error: no window has the focus", "error")] * 3
    assert found(refused) == [Found("repeated_result", "nudge", 3)]


def test_rounds_are_counted_and_not_calls():
    """Six parallel failures, lookups or refusals in one response are one step of a ladder, not six."""
    for pattern in ("repeated_failure", "unknown_tool", "near_repeat", "empty_answers"):
        rounds = LONG[pattern]
        assert found([rounds[start : start + 8] for start in range(0, 16, 8)]) == [], pattern


@pytest.mark.parametrize("name", LOOPS)
def test_who_leaves_a_loop_is_not_held_up(name: str):
    """After however many laps, a call of another kind runs, and a person's request clears the way for any."""
    monitor = Monitor()
    for event in events(LOOPS[name][0] * 4):
        monitor.observe(event)
    assert monitor.observe(Message("r", 9_000, 1)).level <= Level.NUDGE
    assert monitor.observe(Call("r", "new", "publish_report", {"about": "something new"}, 9_000)).level is Level.CONTINUE
    assert monitor.observe(Result("r", "new", "report 17 is public")).level <= Level.NUDGE


def test_another_hand_off_leaves_the_loop():
    """Only the one that would begin the next lap is blocked."""
    rounds = [
        X(f"handoff_to_{to}", {}, f"{to} takes over", agent=by) for by, to in [("sales", "support"), ("support", "sales")] * 4
    ]
    for tool, expected in (("handoff_to_support", Level.BLOCK), ("handoff_to_manager", Level.CONTINUE)):
        monitor = Monitor()
        for event in events(rounds):
            monitor.observe(event)
        assert monitor.observe(Call("r", "x", tool, {}, 99, "sales")).level == expected


def test_another_step_leaves_the_cycle():
    """After four laps the next step of the cycle is blocked, a step out of it is not."""
    lap = [X("read_file", {"path": "a"}, "aaa"), X("list_dir", {"path": "b"}, "bbb"), X("grep", {"pattern": "c"}, "ccc")]
    for tool, args, expected in (("read_file", {"path": "a"}, Level.BLOCK), ("read_file", {"path": "z"}, Level.CONTINUE)):
        monitor = Monitor()
        for event in events(lap * 4):
            monitor.observe(event)
        assert monitor.observe(Call("r", "x", tool, args, 99)).level == expected


def test_a_chain_of_spellings_is_left_by_a_different_question():
    """What shares hardly a word with the last question is not blocked; another spelling is."""
    for query, expected in (
        ("how does the retry queue drain on shutdown Porto", Level.BLOCK),
        ("price of tea", Level.CONTINUE),
    ):
        monitor = Monitor()
        for event in events(LONG["near_repeat"][:8]):
            monitor.observe(event)
        assert monitor.observe(Call("r", "x", "search", {"query": query}, 99)).level == expected


@pytest.mark.parametrize("detector", preset("default").detectors, ids=lambda detector: detector.pattern)
def test_the_table_agrees_with_the_rules(detector: Any):
    """Where a pattern has a row above, it has as many rungs as its detector."""
    if detector.pattern in LADDERS:
        assert [rung is None for rung in LADDERS[detector.pattern]] == [rung is None for rung in detector.ladder]
