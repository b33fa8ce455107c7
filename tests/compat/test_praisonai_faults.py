"""
What the preset `default` does on the scripts on which PraisonAI's five mechanisms fail.

The numbers are those of the table of faults in `docs/compat/praisonai.md`; what needs an agent is in `test_praisonai_agent.py`.
"""

from __future__ import annotations

from typing import Any

import pytest

from unstuck.events import Call, Message, Result, User
from unstuck.findings import Level
from unstuck.fingerprint import call_fingerprint
from unstuck.monitor import Monitor
from unstuck.testing import call, message, result


def watched(exchanges: Any, monitor: Monitor | None = None) -> tuple[int, list[tuple[str, int | None]]]:
    """How many of these calls ran when each block is carried out and a stop ends the run; and the levels with their calls."""
    monitor, ran, found = monitor or Monitor(), 0, []
    for number, (tool, args, came) in enumerate(exchanges, 1):
        monitor.observe(message(number))
        decision = monitor.observe(call(tool, args, id=str(number), message=number))
        found += [(finding.level.label, finding.call) for finding in decision.findings]
        if decision.level is Level.STOP:
            break
        if decision.level is Level.BLOCK:
            monitor.observe(result(decision.text, id=str(number), outcome="blocked"))
            continue
        ran += 1
        found += [(finding.level.label, finding.call) for finding in monitor.observe(result(came, id=str(number))).findings]
    return ran, found


class Thing:
    """An object that every call makes anew."""


A, B, C, D = (("read_file", {"path": name}, f"text of {name}") for name in "abcd")
LOOPS = {
    "P4 ping-pong": [A, B] * 30,
    "P5 a poll that returns nothing": [("check", {}, None)] * 60,
    "P5 a name that holds `ping`": [("scraping_tool", {"url": "x"}, "<html>")] * 60,
    "P7 A-B-C": [A, B, C] * 20,
    "P7 A-B-C-D": [A, B, C, D] * 20,
    "P7 a noise argument": [("search", {"q": "price", "nonce": f"{n:08x}"}, "no entry") for n in range(60)],
    "P14 A-B-A-B": [A, B] * 30,
    "P14 A-A-B": [A, A, B] * 30,
    "P14 objects": [("lookup", {}, Thing()) for _ in range(40)],
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_nudged_blocked_and_stopped(name):
    """P4, P5, P7, P14: what was never, or only at every other call, detected climbs the whole ladder, each rung once."""
    ran, found = watched(LOOPS[name])
    assert [level for level, _ in found] == ["nudge", "block", "stop"]
    assert ran < 24


def test_what_is_blocked_stays_blocked():
    """P4: after the first block of a ping-pong each of its two calls runs at most once more."""
    ran, found = watched(LOOPS["P4 ping-pong"])
    block = next(at for level, at in found if level == "block" and at is not None)
    assert ran <= block


HONEST = {
    "P2 a poll that changes": [("get_job", {"id": 1}, f"{n}%") for n in range(60)],
    "P10 notes": [("save_note", {"path": f"{n}.md", "text": f"note {n}"}, "ok") for n in range(10)],
    "P10 pages with one beginning": [
        ("fetch_page", {"n": n}, "x" * 1_000 + f" page {n}: {'abcdefghijkl'[n]}") for n in range(12)
    ],
    "P15 five different edits": [
        ("edit_file", {"path": "a.py", "line": n, "text": f"line {n}"}, "OK: file updated") for n in range(5)
    ],
    "P15 five tools that return nothing": [(tool, {}, None) for tool in ("clear", "reset", "flush", "sync", "close")],
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_work_is_left_alone(name):
    """P2, P10, P15: what was blocked, halted or taken for a doom loop passes without a word."""
    assert watched(HONEST[name]) == (len(HONEST[name]), [])


def test_searches_that_find_nothing_are_not_halted():
    """P10: twelve different searches with no result are pointed out at most, none is blocked."""
    ran, found = watched([("search", {"q": word}, "No results") for word in "alpha beta gamma delta epsilon zeta".split()])
    assert ran == 6
    assert {level for level, _ in found} <= {"nudge"}


def test_turns_do_not_add_up():
    """P8: three equal questions in each of twenty turns never come to a block."""
    monitor, blocked = Monitor(), []
    for turn in range(20):
        monitor.observe(User("r", "And now?"))
        _, found = watched([("weather", {"city": "Oslo"}, "rain")] * 3, monitor)
        blocked += [turn for level, _ in found if level != "nudge"]
    assert blocked == []


TABLE = "| name | value |\n" + "|" + "-" * 400 + "|\n| a | 1 |"


def test_a_rule_line_is_no_repetition():
    """P15: a response with a line of four hundred dashes is no degenerate text."""
    assert Monitor().observe(Message("r", 1, 0, text=TABLE)).level is Level.CONTINUE


def test_the_same_sentence_shifted_is_repetition():
    """P15: twenty responses with one sentence, each shifted by one more space, are one text said again."""
    monitor = Monitor()
    said = [monitor.observe(Message("r", n, 0, text=" " * n + "I will look into that now.")).name for n in range(1, 21)]
    assert said.index("nudge") == 2
    assert "stop" in said


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"in": value}
    return value


@pytest.mark.parametrize(
    "value", [{1: 2, "a": 3}, nested(3_000), "\udcff", float("nan")], ids=["keys", "nested", "surrogate", "nan"]
)
def test_no_value_breaks_a_run(value):
    """P16: mixed keys, deep nesting, surrogates and NaN are counted like any other."""
    _, found = watched([("read_file", {"given": value}, value)] * 9)
    assert [level for level, _ in found] == ["nudge", "block", "stop"]


def test_a_decision_cannot_be_changed():
    """P17: a decision is a value; nobody can write into the one that others get."""
    decision = Monitor().observe(call())
    with pytest.raises(AttributeError):
        decision.level = Level.STOP  # type: ignore[misc]


@pytest.mark.parametrize("same", [True, False])
def test_state_and_reports_do_not_grow(same):
    """P18: after 20,000 calls in one turn as much is kept as after 2,000, and each loop was reported three times."""
    monitor, sizes, reports = Monitor(), [], 0
    for number in range(20_000):
        args = {"path": "a" if same else str(number)}
        reports += len(monitor.observe(Call("r", "c", "read_file", args)).findings)
        reports += len(monitor.observe(Result("r", "c", "same" if same else f"content {number}")).findings)
        if number + 1 in (2_000, 20_000):
            sizes.append(len(monitor.dump()))
    assert sizes[1] < sizes[0] * 1.1
    assert reports == (3 if same else 0)


def test_the_order_of_keys_makes_no_difference():
    """P19: nested objects whose keys stand in another order are the same arguments."""
    one, other = {"a": {"x": 1, "y": [{"p": 1, "q": 2}]}}, {"a": {"y": [{"q": 2, "p": 1}], "x": 1}}
    assert call_fingerprint("t", one) == call_fingerprint("t", other)
