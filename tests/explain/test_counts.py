"""Which exchanges counted, what did not and why, what reset the count."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.explain.made import (
    PATTERNS,
    SPELLINGS,
    after,
    counted,
    exchange,
    failing,
    many,
    numbered,
    passed_over,
    resets,
    rungs,
    says,
    strand_of,
    write,
)
from unstuck.config import Options
from unstuck.events import Compaction, User
from unstuck.explain import WHY, Exchange, Reset
from unstuck.findings import Level
from unstuck.testing import call, message, result

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_exchanges_that_counted_are_named(pattern):
    """For each pattern: which exchanges raised the count to what, where the rungs fell, and which rung comes next when."""
    events, exchanges, reached, ahead = PATTERNS[pattern]
    strand = strand_of(events, pattern)
    assert (counted(strand), rungs(strand), after(strand)) == (exchanges, reached, ahead)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_decision_stands_at_its_exchange(pattern):
    """Each rung that was reached is shown at the exchange that reached it, and nowhere else."""
    strand = strand_of(PATTERNS[pattern][0], pattern)
    shown = [
        (decided.level, entry.call, entry.message, entry.repeats)
        for entry in strand.entries
        if isinstance(entry, Exchange)
        for decided in entry.decisions
    ]
    assert shown == [(rung.level, rung.call or None, rung.message, rung.repeats) for rung in strand.rungs]


READS = many(range(1, 4))
SPELT = many(range(1, 7), "query_logs", lambda number: SPELLINGS[number], "the log holds one line about it")
FAILED = PATTERNS["repeated_failure"][0]
ENDINGS = {
    "a person's turn": (READS, [User("r", "And now?")], "repeated_result", ("person", ())),
    "a write": (READS, write(4), "repeated_result", ("changed_world", (4,))),
    "another outcome": (READS, exchange(4, content="other text"), "repeated_result", ("other_outcome", (4,))),
    "another answer to a spelling": (
        SPELT,
        exchange(7, "query_logs", SPELLINGS[7], "two"),
        "near_repeat",
        ("other_outcome", (7,)),
    ),
    "other arguments": (
        SPELT,
        exchange(7, "query_logs", {"text": "what was deployed"}, "the log holds one line about it"),
        "near_repeat",
        ("other_arguments", (7,)),
    ),
    "a success": (FAILED, exchange(7, "fetch", {"id": 7}, "page"), "repeated_failure", ("success", (7,))),
    "another error": (FAILED, failing(7, "disk full"), "repeated_failure", ("other_error", (7,))),
    "new words": (
        PATTERNS["repeated_call"][0],
        exchange(9, "now", {"zone": "utc"}, "the clock stopped working yesterday"),
        "repeated_call",
        ("new_answer", (9,)),
    ),
    "a find": (
        PATTERNS["empty_answers"][0],
        exchange(10, "search", {"q": "z"}, "1 hit: it"),
        "empty_answers",
        ("found_something", (10,)),
    ),
    "new ground": (
        PATTERNS["recovered_ground"][0],
        exchange(13, args={"path": "z"}),
        "recovered_ground",
        ("new_ground", (13,)),
    ),
    "another state": (
        PATTERNS["oscillation"][0],
        exchange(6, "edit", {"path": "a.py", "old": "0", "new": "7"}, "OK"),
        "oscillation",
        ("new_state", (6,)),
    ),
    "a word of its own": (
        PATTERNS["echoed_change"][0],
        exchange(11, "run_code", {"code": "sleep(9); print('waiting for it 11')"}, "finished"),
        "echoed_change",
        ("own_words", (11,)),
    ),
    "another round": (PATTERNS["cycle"][0], exchange(8, args={"path": "z"}), "cycle", ("other_round", (8,))),
    "other work": (PATTERNS["handoff_loop"][0], exchange(7), "handoff_loop", ("worked", ())),
    "an act": (PATTERNS["monologue"][0], exchange(5), "monologue", ("acted", ())),
    "another text": (PATTERNS["repeated_text"][0], [says(5, "Well.")], "repeated_text", ("other_text", ())),
    "a person's turn after text": (PATTERNS["repeated_text"][0], [User("r", "Well?")], "repeated_text", ("person", ())),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_what_reset_the_count_is_named(name):
    """A count that goes back says why, and which call did it."""
    events, ending, pattern, reset = ENDINGS[name]
    assert resets(strand_of([*events, *ending], pattern))[-1] == reset


def test_the_count_begins_where_it_was_reset():
    """Exchanges of before a reset are left out where no finding came of them, and what reset the count is named first."""
    strand = strand_of([*many((1, 2)), *write(3), *many((4, 5, 6))], "repeated_result")
    assert (resets(strand), counted(strand)) == ([("changed_world", (3,))], numbered(4, 6))


def test_what_was_nudged_goes_on_after_a_reset():
    """Repeats from before a change are carried on once the loop had been nudged, and the explanation says so."""
    strand = strand_of([*READS, *write(4), *many((5, 6, 7))], "repeated_result")
    assert [entry.carried for entry in strand.entries if isinstance(entry, Reset)] == [3]
    assert [(rung.level, rung.call, rung.repeats, rung.carried) for rung in strand.rungs] == [
        (Level.NUDGE, 3, 3, 0),
        (Level.BLOCK, 7, 3, 3),
    ]
    assert after(strand) == ("stop", 8, 2)


PASSED_OVER = {
    "made by a program": (exchange(3, origin="harness"), "harness"),
    "sent again": (exchange(3, origin="retry"), "retry"),
    "allowed by a person": (exchange(3, approved=True), "approved"),
    "the free re-read after a compaction": ([Compaction("r"), *exchange(3)], "free_reread"),
}


@pytest.mark.parametrize("name", PASSED_OVER)
def test_an_exchange_that_did_not_count_says_why(name):
    """What looks like a repeat and was none is listed with the reason."""
    events, reason = PASSED_OVER[name]
    strand = strand_of([*many((1, 2)), *events, *many((4, 5))], "repeated_result")
    assert (passed_over(strand), counted(strand)[:3]) == ([(3, reason)], [(1, 1), (2, 2), (4, 3)])


def test_a_response_counts_once():
    """Of equal calls in one response the second does not count."""
    together = [
        message(1, calls=2),
        *(call("read_file", {"path": "a.py"}, id=name, message=1) for name in "ab"),
        *(result("text", id=name) for name in "ab"),
    ]
    strand = strand_of([*together, *many((2, 3))], "repeated_result")
    assert (passed_over(strand), counted(strand)) == ([(2, "same_response")], [(1, 1), (3, 2), (4, 3)])


def test_slow_looks_are_waiting():
    """Of looks a minute and more apart one in ten counts."""
    looks = many(range(1, 7), "wait_for_build", {}, "building", time=float)
    slow = many(range(7, 9), "wait_for_build", {}, "building", time=lambda number: 100.0 * number)
    strand = strand_of([*looks, *slow], "stuck_poll")
    assert passed_over(strand) == [(7, "slow_look"), (8, "slow_look")]


def test_asking_for_what_was_blocked_counts():
    """A blocked call did not run, and asking for it moves the ladder on."""
    strand = strand_of([*READS, *exchange(4, content="not executed", outcome="blocked"), *exchange(5)], "repeated_result")
    entry = next(entry for entry in strand.entries if entry.call == 4)
    assert (entry.repeats, entry.why, entry.outcome) == (4, "asked_again", "blocked")
    assert strand.left_out == ()


def test_what_was_left_out_is_listed():
    """Calls between the exchanges that were no evidence are named by reason, the others are counted."""
    rules = Options(exempt=["think"]).rules()
    events = [*exchange(1), *exchange(2, "think"), *exchange(3, origin="harness"), *exchange(4, args={"path": "z"})]
    strand = strand_of([*events, *many((5, 6))], "repeated_result", rules)
    assert [(group.reason, group.calls) for group in strand.left_out] == [("exempt", (2,)), ("harness", (3,))]
    assert strand.between == 1


def test_what_was_counted_ahead_and_came_out_otherwise():
    """A block falls before its call; where the recording shows another outcome, both are told."""
    strand = strand_of([*many(range(1, 5)), *exchange(5, content="news")], "repeated_result")
    ahead = next(entry for entry in strand.entries if isinstance(entry, Exchange) and entry.why == "ahead")
    assert (ahead.call, ahead.repeats, ahead.result, ahead.decisions[0]) == (5, 5, None, (Level.BLOCK, True))
    assert resets(strand) == [("other_outcome", (5,))]


def test_every_reason_is_worded_and_given():
    """Each reason that the runs above show is worded, and none is worded that no line of the code gives."""
    shown = {reason for _, _, _, (reason, _) in ENDINGS.values()} | {reason for _, reason in PASSED_OVER.values()}
    assert shown <= set(WHY)
    given = [
        node.value
        for path in (ROOT / "src" / "unstuck" / "explain").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    of_events = {"harness", "retry"}  # origins of calls
    assert [reason for reason in WHY if given.count(reason) < 2 and reason not in of_events] == []
