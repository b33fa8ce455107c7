"""What is left of a call's arguments without noise."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.patterns import CITIES, THINGS, X, found, harm
from unstuck.gist import gist_of, plain_command

UP_TO_DATE = "All 17 targets of x are up to date since Monday."


@pytest.mark.parametrize(
    "command",
    [
        "make x",
        "make  x",
        "echo try 3; make x",
        "echo 'once more' && make x",
        "sleep 4; make x",
        "sleep 0.5 && make x",
        "time make x",
        "timeout 60 make x",
        "make x 2>&1",
        "make x 2>&1 | tail -20",
        "make x | tail -n 40",
        "make x | head",
        "make x # attempt 4",
        'make "x"',
        "make x > /tmp/out_3.txt 2>&1; cat /tmp/out_3.txt",
        "make x > /tmp/out.txt && tail -5 /tmp/out.txt",
    ],
)
def test_one_command_in_many_forms(command: str):
    """Remarks, waiting, the output's way and length, comments and quotes are left out."""
    assert plain_command(command) == "make x"
    assert gist_of({"command": command, "description": "Build it", "timeout": 10}) == gist_of({"command": "make x"})


@pytest.mark.parametrize(
    "command",
    [
        "make y",
        "make x y",
        "cd a && make x",
        "echo x",
        "echo x > a.txt",
        "echo 1 | sudo tee a",
        "sleep 5",
        "sudo make x",
        "make x > out.txt; cat out.txt",
        "make x > /tmp/a.txt; cat /tmp/b.txt",
        "make x | grep error",
        "make x | tail -f",
        "grep '#' x",
    ],
)
def test_what_does_something_stays(command: str):
    """Another target, directory or user, a file that is kept, a filter; a remark or a pause that stands alone."""
    assert plain_command(command) not in ("make x", "")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"id": "a", "session_id": "9f3b"}, {"id": "a", "session_id": "17cd"}, True),
        ({"session_id": "9f3b"}, {"session_id": "17cd"}, False),
        ({"session_id": "9f3b", "all": True}, {"session_id": "17cd", "all": True}, False),
        ({"q": "a", "limit": 10}, {"q": "a", "limit": 20}, True),
        ({"limit": 10}, {"limit": 20}, False),
        ({"q": "a", "page": 1}, {"q": "a", "page": 2}, False),
        ({"date": "2026-01-02"}, {"date": "2026-01-03"}, False),
        ({"url": "https://a.example/x?_=17"}, {"url": "https://a.example/x?_=18"}, True),
        ({"action": "left_click", "coordinate": [640, 512]}, {"action": "left_click", "coordinate": [643, 508]}, True),
        ({"action": "left_click", "coordinate": [640, 512]}, {"action": "left_click", "coordinate": [640, 552]}, False),
        ({"action": "left_click", "coordinate": [640, 512]}, {"action": "right_click", "coordinate": [640, 512]}, False),
        ({"x": 23, "y": 47}, {"x": 25, "y": 49}, True),
        ({"x": 23, "y": 47}, {"x": 90, "y": 47}, False),
        ({"thought": "a"}, {"thought": "b"}, False),
        ("make x # 1", "make x # 2", True),
        (None, None, True),
        ([1, 2], [1, 3], False),
        ({1: "a", "b": 2}, {1: "a", "b": 2}, True),
    ],
    ids=repr,
)
def test_two_calls_that_come_to_the_same_work(one: Any, other: Any, same: bool):
    """Sessions, limits and cache-busters stand beside what a call is about, unless there is nothing else; so do a few pixels."""
    assert set(gist_of(one)).isdisjoint(gist_of(other)) != same


NOISY = {
    "a comment": [X("bash", {"command": f"make x # attempt {n}"}, UP_TO_DATE) for n in range(9)],
    "a remark": [X("bash", {"command": f"echo try {n}; make x"}, UP_TO_DATE) for n in range(9)],
    "the length of the output": [X("bash", {"command": f"make x 2>&1 | tail -{10 * n + 10}"}, UP_TO_DATE) for n in range(9)],
    "a file for the output": [
        X("bash", {"command": f"make x > /tmp/o{n}.txt 2>&1; cat /tmp/o{n}.txt"}, UP_TO_DATE) for n in range(9)
    ],
    "a short pause": [X("bash", {"command": f"sleep {n}; make x"}, UP_TO_DATE) for n in range(9)],
    "a time limit": [X("bash", {"command": "make x", "timeout": 1_000 * n}, UP_TO_DATE) for n in range(9)],
    "the reason": [X("bash", {"command": "make x", "description": f"{CITIES[n]} {THINGS[n]}"}, UP_TO_DATE) for n in range(9)],
    "a session": [X("get_thing", {"id": "a", "session_id": f"{n}9fb{n}cd{n}"}, UP_TO_DATE) for n in range(9)],
    "a few pixels": [
        X("computer", {"action": "left_click", "coordinate": [640 + n % 3, 512 - n % 4]}, UP_TO_DATE) for n in range(9)
    ],
}


@pytest.mark.parametrize("rounds", NOISY.values(), ids=list(NOISY))
def test_calls_that_differ_in_noise_are_nudged_by_the_fifth_or_after_it_and_never_held_up(rounds: list[Any]):
    """Whatever the noise."""
    findings = found(rounds)
    assert harm(findings) == []
    assert [one.level for one in findings] == ["nudge"]
    assert 5 <= findings[0].at <= 7


HONEST = {
    "different directories": [X("bash", {"command": f"cd {thing} && npm test"}, "42 passed in all suites") for thing in THINGS],
    "clicks all over a page": [
        X("computer", {"action": "left_click", "coordinate": [60 * n, 40]}, "Clicked. The page did not change visibly.")
        for n in range(12)
    ],
    "lines of a drawing": [
        X("computer", {"action": "left_click", "coordinate": [600 + 2 * n, 40 + n]}, "clicked") for n in range(12)
    ],
    "days of a calendar": [
        X("get_shift", {"day": f"2026-03-{n + 1:02}", "team": "support"}, {"shift": "late"}) for n in range(12)
    ],
    "sessions of others": [X("get_session", {"session_id": f"{n}9fb{n}cd", "verbose": True}, "idle") for n in range(12)],
    "ever longer waits before looks": [
        X("bash", {"command": f"sleep {60 + 30 * n}; gh run view 7"}, "in_progress: build (1 of 3 jobs is done)")
        for n in range(12)
    ],
}


@pytest.mark.parametrize("rounds", HONEST.values(), ids=list(HONEST))
def test_calls_that_differ_in_what_they_are_about_are_left_alone(rounds: list[Any]):
    """Not so much as a nudge."""
    assert found(rounds) == []


@pytest.mark.parametrize("shown", ["in_progress: build (1 of 3 jobs is done)", "build: in progress, " * 20])
def test_looks_after_waits_of_half_a_minute_are_not_held_up(shown: str):
    """However long the waits, and however much was shown."""
    rounds = [X("bash", {"command": f"sleep {20 + n % 7}; gh run view 7"}, shown) for n in range(20)]
    assert harm(found(rounds)) == []
