"""What is told to whom: records hold nothing of a run, words for the model hardly anything."""

from __future__ import annotations

import json

import pytest

from tests.core.host import C, Host, N
from unstuck.config import Options
from unstuck.detectors.repeated_result import RepeatedResult
from unstuck.errors import LoopStopped
from unstuck.events import Call, Compaction, Event, Message, Result, RunStart, User
from unstuck.findings import CONTINUE, Decision, Level
from unstuck.monitor import Monitor
from unstuck.presets import Rules
from unstuck.testing import call, result

SECRETS = {
    "argument": "hunter2-in-arguments",
    "result": "hunter2-in-a-result",
    "error": "hunter2-in-an-error",
    "text": "hunter2-in-the-text",
    "reasoning": "hunter2-in-the-reasoning",
    "request": "hunter2-in-a-request",
    "meta": "hunter2-in-meta",
}


def secret_run(number: int) -> list[Event]:
    """A response that repeats itself in every way at once, with a secret in each place that can hold one."""
    args = {
        "path": SECRETS["argument"],
        "old": SECRETS["argument"],
        "new": SECRETS["argument"] + "x",
        "task": SECRETS["argument"],
    }
    events: list[Event] = []
    for index, tool in enumerate(("read_file", "edit_file", "bash", "spawn_agent", "wait_for")):
        events += [
            Message("r", 10 * number + index, 1, text=SECRETS["text"], reasoning=SECRETS["reasoning"] * 40),
            Call("r", "c", tool, args if tool != "bash" else {"command": SECRETS["argument"]}, 10 * number + index),
            Result("r", "c", f"Error: {SECRETS['error']}" if index % 2 else SECRETS["result"], "error" if index % 2 else "ok"),
        ]
    return [*events, Message("r", 10 * number + 9, 0, text=SECRETS["text"])]


@pytest.mark.parametrize("name", ["default", "praisonai", "pydantic-ai-harness", "pydantic-deep"])
@pytest.mark.parametrize("attended", [True, False])
def test_no_record_holds_anything_of_the_run(name: str, attended: bool):
    """Neither findings nor exception texts nor saved state hold arguments, results, texts or requests, not even in part."""
    monitor = Monitor(Options(preset=name, ceiling=10).rules())
    told: list[str] = []
    events: list[Event] = [RunStart("r", attended, {"m": SECRETS["meta"]}), User("r", SECRETS["request"])]
    for number in range(1, 13):
        events += secret_run(number)
    for number in range(200, 225):
        asked = Call("r", "c", "check", {"path": SECRETS["argument"]}, number)
        events += [Message("r", number, 1), asked, Result("r", "c", SECRETS["result"])]
    events += [Compaction("r"), Call("r", "open", "read_file", {"path": SECRETS["argument"]}, 999)]
    for event in events:
        decision = monitor.observe(event)
        told += [repr(finding) + finding.record + str(LoopStopped(finding)) for finding in decision.findings]
        told.append(monitor.dump() if isinstance(event, Result | Call) else "")
    assert [line for line in told if line.startswith("Finding")]
    assert not [line for line in told if "hunter" in line]
    json.loads(monitor.dump())


def test_words_for_the_model_hold_the_first_error_line_and_nothing_else_of_the_run():
    """No argument and no result, and of a tool's name only letters, digits and underscores."""
    host = Host()
    texts = []
    for _ in range(9):
        before, after = host.exchange(
            "run`x\ny", {"path": "hunter2"}, "Error: disk is full\nhunter3 on line two", outcome="error"
        )
        texts += [decision.text for decision in (before, after) if decision.text]
    assert len(texts) == 6
    assert all("disk is full" in text for text in texts)
    assert not [text for text in texts if "hunter" in text or "\n" in text]
    assert all("run_x_y" in text for text in texts)


def test_own_words_are_used_as_they_come():
    """A function of the evidence, the level and the count words what the model reads; records stay as they are."""
    host = Host(wording=lambda evidence, level, repeats: f"{evidence.pattern} {level.label} {repeats}")
    texts = [decision.text for _ in range(5) for decision in host.exchange() if decision.text]
    assert texts == ["repeated_result nudge 3", "repeated_result block 5"]


def test_what_shows_nothing_is_one_decision_for_all():
    """No object is made for the many events at which nothing happens."""
    assert Monitor().observe(call()) is CONTINUE
    assert Decision(Level.CONTINUE, (), None, None, ()) == CONTINUE


def test_one_monitors_loops_are_not_anothers():
    """Rules are values: two monitors share them and nothing else."""
    rules = Rules((RepeatedResult(),))
    one, other = Monitor(rules), Monitor(rules)
    for number in range(1, 4):
        for event in (call(args={"path": "a"}, message=number), result("the same")):
            decision = one.observe(event)
    assert decision.level is N
    assert other.observe(call(args={"path": "a"}, message=1)).level is C
    assert other.observe(result("the same")).level is C
    assert one.dump() != other.dump()
