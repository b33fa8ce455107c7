"""Honest work that was held up once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.patterns import CITIES, THINGS, X, edit, found, harm

EPISODES = [
    step
    for n in range(4)
    for step in (*[X("bash", {"command": "npm test"}, "3 failed")] * 3, *(edit(k, f"{n}-{k}.py") for k in range(5)))
]
LOG = [
    X("bash", {"command": "tail -n 5 app.log"}, f"2026-01-02 03:04:{n:02} INFO {THINGS[n]} {CITIES[n]} handled")
    for n in range(14)
]
GAME = [X("move", {"direction": "north"}, f"You are in {CITIES[n]}. A {THINGS[n]} lies here.") for n in range(14)]


def test_a_loop_taken_up_again_goes_on_where_it_was_and_no_further():
    """Three looks at once, time and again, with real edits between, are not added up to a stop."""
    assert [one for one in harm(found(EPISODES)) if one.level == "stop"] == []


def test_a_log_that_grows_is_left_alone():
    """Its lines share words; what each says is new."""
    assert harm(found(LOG)) == []


CHECKS = [
    step
    for n in range(12)
    for step in (X("bash", {"command": "git status --short"}, ""), X("bash", {"command": f"make target{n}"}, f"built {n}"))
]
QUEUE = [X("queue_length", {}, str(100 - 3 * n)) for n in range(20)]
USERS = [X("get_user", {"id": n}, "no profile set; " + "default values apply to this account. " * 9) for n in range(16)]


CLICKS = [X("computer", {"action": "left_click", "coordinate": [100, 200]}, "clicked")] * 5


@pytest.mark.parametrize(
    "rounds",
    [CHECKS, QUEUE, USERS, CLICKS, GAME],
    ids=["a check after each step", "a falling number", "equal records", "clicks on one place", "a walk through a game"],
)
def test_looking_after_each_new_step_is_not_stopped(rounds: list[Any]):
    """What may be right to look at again is nudged at most."""
    assert harm(found(rounds)) == []
