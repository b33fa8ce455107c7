"""Random runs in which repetition is common, for the laws of the core."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from unstuck.events import Call, Compaction, Event, Message, Result, Retry, RunEnd, RunStart, User
from unstuck.findings import Decision
from unstuck.fingerprint import call_fingerprint
from unstuck.monitor import Monitor
from unstuck.presets import Rules, preset

TOOLS = ("read_file", "write_file", "bash", "check_status", "spawn_agent", "search", "edit", "say", "mystery")
ARGS: tuple[Any, ...] = (
    {"path": "a.py"},
    {"path": "b.py", "limit": 10},
    {"command": "npm test"},
    {"command": "git commit -m x"},
    {"path": "a.py", "old": "1", "new": "2"},
    {"path": "a.py", "old": "2", "new": "1"},
    {"query": "slow query", "reason": "because"},
    {"task": "move the users table to the new host"},
    {"path": "a.py", "offset": 1, "limit": 9},
    {"path": "a.py", "offset": 2, "limit": 5},
    {"command": "sed -n 2,5p a.py"},
    {"command": "grep -rn x src"},
    {"command": "sed -i s/a/b/ a.py && pytest -q"},
    {"command": "sleep 300; squeue"},
    {"url": "https://x.example/a?ts=17&id=7"},
    {"order_id": 7},
    None,
    '{"path": "a.py"}',
    "free text",
)
CONTENTS: tuple[Any, ...] = (
    "ok",
    "",
    "no results",
    "12 failed, 30 passed in 3.10s",
    "Error: connection refused (req 5feceb)",
    "Unknown tool: mystery",
    "at 40% [12:30:01]",
    "Exit code 1",
    "bash: foo: command not found",
    '{"error": "the index is locked"}',
    '{"status": "failed"}',
    "[image]",
    "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine",
    "the same long answer about nothing in particular " * 8,
    {"rows": [1, 2, 3]},
    None,
)
TEXTS = (None, "", "Let me look at the file.", "I will look at the file now.", "Done. Done. Done. " * 60)

exchanges = st.tuples(
    st.sampled_from(TOOLS),
    st.sampled_from(ARGS),
    st.sampled_from(CONTENTS),
    st.sampled_from(("ok", "ok", "ok", "error", "blocked", "denied")),
    st.sampled_from(("main", "main", "main", "helper")),
    st.sampled_from(("model", "model", "model", "harness", "retry")),
    st.booleans(),
)
steps = st.one_of(
    st.lists(exchanges, min_size=1, max_size=3).map(lambda calls: ("round", calls)),
    st.tuples(st.just("repeat"), st.lists(exchanges, min_size=1, max_size=3), st.integers(2, 9)),
    st.sampled_from(TEXTS).map(lambda text: ("text", text)),
    st.sampled_from([("user", "user"), ("user", "harness"), ("compaction",), ("retry",)]),
)
scripts = st.lists(steps, min_size=1, max_size=12)


def events_of(script: list[Any], *, attended: bool = True, odd: bool = False) -> list[Event]:
    """
    The events of a random *script*; every third approved flag counts, ids are used again, times rise unevenly.

    *odd*: what one response asks for twice may have two answers.
    """
    events: list[Event] = [RunStart("r", attended)]
    number, clock = 0, 0.0
    for step in script:
        rounds = [step[1]] if step[0] == "round" else [step[1]] * step[2] if step[0] == "repeat" else []
        for calls in rounds:
            number += 1
            clock += 7.0 * (number % 13)
            events += _round(number, calls if odd else _consistent(calls), clock)
        if step[0] == "text":
            number += 1
            events.append(Message("r", number, 0, text=step[1]))
        elif step[0] == "user":
            events.append(User("r", "Go on.", step[1]))
        elif step[0] == "compaction":
            events.append(Compaction("r"))
        elif step[0] == "retry":
            events.append(Retry("r"))
    return [*events, RunEnd("r")]


def _consistent(calls: list[Any]) -> list[Any]:
    answers: dict[int, Any] = {}
    return [(*call[:2], *answers.setdefault(call_fingerprint(call[0], call[1]), call[2:])) for call in calls]


def _round(number: int, calls: list[Any], clock: float) -> list[Event]:
    agent = calls[0][4]
    events: list[Event] = [Message("r", number, len(calls), agent, time=clock)]
    for index, (tool, args, _, _, _, origin, approved) in enumerate(calls):
        flag = approved and index == 0 and number % 3 == 0
        events.append(Call("r", f"c{index}", tool, args, number, agent, time=clock, origin=origin, approved=flag))
    for index, (_, _, content, outcome, *_) in enumerate(calls):
        events.append(Result("r", f"c{index}", content, outcome, clock + index))
    return events


def decisions(events: list[Event], rules: Rules | str = "default") -> list[Decision]:
    """What a fresh monitor decides on each of *events*."""
    monitor = Monitor(preset(rules) if isinstance(rules, str) else rules)
    return [monitor.observe(event) for event in events]


def bare(decision: Decision) -> tuple[Any, ...]:
    """A decision without the words for the model."""
    return (decision.level, decision.findings, decision.finding, decision.repeats)
