"""Where honest work is still held up: what would have to be decided first."""

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
CLICKS = [X("computer", {"action": "left_click", "coordinate": [100, 200]}, "clicked")] * 5
QUESTIONS: dict[str, tuple[list[Any], str]] = {
    "three looks at once, time and again, with edits between": (
        EPISODES,
        "what came before an interruption is added up without end; carried over no more than the first rung, it would not stop",
    ),
    "a log that grows": (
        LOG,
        "half of the words of each answer are known; with a share of 0.6 and more it would be left alone",
    ),
    "a walk through a game": (
        GAME,
        "three quarters of the words of each answer are known; a share of 0.8 would leave it alone",
    ),
    "clicks on one place": (CLICKS, "what a tool does stands in its argument `action`, which is not looked at"),
}


@pytest.mark.parametrize(
    "rounds",
    [pytest.param(rounds, id=name, marks=pytest.mark.xfail(reason=reason)) for name, (rounds, reason) in QUESTIONS.items()],
)
def test_honest_work_is_not_held_up(rounds: list[Any]):
    """It may be nudged; nothing of it is blocked or stopped."""
    assert [one for one in harm(found(rounds)) if one.level == "stop" or rounds is not EPISODES] == []
