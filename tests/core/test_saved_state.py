"""State that is saved by one process and taken up by another, maybe under other settings."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.core.patterns import X, events, said
from unstuck.config import Options
from unstuck.detectors.budget import Budget
from unstuck.errors import StateError
from unstuck.events import Call, Compaction, Event, Message, Result, RunStart
from unstuck.findings import Level
from unstuck.monitor import Monitor
from unstuck.presets import PRESETS, Rules

RULES: dict[str, Rules] = {
    **{name: Options(preset=name).rules() for name in PRESETS},
    "small window": Options(window=8).rules(),
    "large window": Options(window=512).rules(),
    "with a budget": Options(detectors={"budget": Budget(calls=1_000)}).rules(),
    "one detector": Options(detectors={one.pattern: None for one in PRESETS["default"]().detectors[1:]}).rules(),
    "shadow": Options(shadow=True).rules(),
    "other kinds": Options(kinds={"read_file": "wait"}, exempt=["x*"], identity={"read_file": ["path"]}).rules(),
}


def busy() -> list[Event]:
    """A run that leaves something behind in every part of the state, its last round still open."""
    rounds: list[Any] = []
    for n in range(12):
        rounds += [
            X("read_file", {"path": "a"}, "aaa", time=float(n)),
            [
                X("edit_file", {"path": "b", "old": str(n % 2), "new": str(1 - n % 2)}, "ok"),
                X("bash", {"command": f"echo {n}"}, str(n)),
            ],
            X("spawn_agent", {"task": "move the users table"}, "started", agent=f"agent-{n}"),
            X("fetch", {"url": f"u{n}"}, "Error: refused", "error"),
            X("search", {"q": f"{n} {n * 9}"}, "no results"),
            X("check_status", {"job": 1}, "pending"),
            said("I will look at it now."),
        ]
        if n % 5 == 4:
            rounds.append(Compaction("r"))
    return [
        RunStart("r", attended=False),
        *events(rounds),
        Message("r", 900, 2),
        Call("r", "open", "read_file", {"path": "a"}, 900),
    ]


@pytest.mark.parametrize("before", RULES)
@pytest.mark.parametrize("after", RULES)
def test_state_can_be_taken_up_under_other_rules(before: str, after: str):
    """It goes on, or says that it cannot; it never breaks later, and a loop that begins then is found."""
    monitor = Monitor(RULES[before])
    for event in busy():
        monitor.observe(event)
    monitor = Monitor.load(monitor.dump(), RULES[after])
    for event in busy()[1:]:
        monitor.observe(event)
    assert Monitor.load(monitor.dump(), RULES[after]).dump() == monitor.dump()
    levels = set()
    for n in range(25):
        monitor.observe(Message("r", 2_000 + n, 1))
        monitor.observe(Call("r", "c", "list_dir", {"path": "z"}, 2_000 + n))
        decision = monitor.observe(Result("r", "c", "zzz"))
        levels |= {decision.level, *(finding.would for finding in decision.findings if finding.would is not None)}
    if after != "one detector":
        assert max(levels) >= Level.NUDGE


def test_state_is_json_of_a_bounded_size_with_a_version():
    """Something that any store can hold."""
    monitor = Monitor()
    for event in busy():
        monitor.observe(event)
    saved = json.loads(monitor.dump())
    assert saved["version"] == 1
    assert len(monitor.dump()) < 200_000


def spoilt(value: Any, choose: random.Random) -> Any:
    """*value* with something else in one place."""
    root = [value]
    at: Any = root
    while True:
        place = choose.choice(list(at) if isinstance(at, dict) else range(len(at)))
        if isinstance(at[place], dict | list) and at[place] and choose.random() < 0.85:
            at = at[place]
            continue
        at[place] = choose.choice([None, "x", [], {}, [[]], {"a": 1}, "", [None]])
        return root[0]


def test_damaged_state_is_refused_or_harmless():
    """Whatever value is another kind of value: `StateError` when it is loaded, or it loads; nothing else is raised by loading."""
    monitor = Monitor()
    for event in busy():
        monitor.observe(event)
    text, choose, refused = monitor.dump(), random.Random(3), 0
    for _ in range(400):
        damaged = json.dumps(spoilt(json.loads(text), choose))
        try:
            Monitor.load(damaged)
        except StateError:
            refused += 1
    assert refused > 20
