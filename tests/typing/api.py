"""
The public names as a type checker sees them; mypy and pyright read this file, nothing runs it.

Each line is what a user might write; a wrong type of a public name makes a checker complain here.
"""

from __future__ import annotations

from typing import assert_type

import unstuck
from unstuck import (
    Call,
    Decision,
    Event,
    Finding,
    Level,
    LoopStopped,
    Monitor,
    Options,
    Result,
    Rules,
    SettingsError,
    Watch,
    preset,
)

rules: Rules = preset("default")
monitor = Monitor(rules)
assert_type(unstuck.__version__, str)
assert_type(monitor.observe(Call("r1", "c1", "read_file", {"path": "a"})), Decision)
assert_type(monitor.dump(), str)
assert_type(Monitor.load(monitor.dump(), rules), Monitor)
assert_type(monitor.calls, int)
assert_type(monitor.messages, int)


def judge(event: Event) -> Level:
    """What a host does with a decision."""
    decision = monitor.observe(event)
    for finding in decision.findings:
        assert_type(finding, Finding)
        assert_type(finding.pattern, str)
    assert_type(decision.text, str | None)
    if decision.level is Level.STOP and decision.finding is not None:
        raise LoopStopped(decision.finding)
    return decision.level


judge(Result("r1", "c1", "text", outcome="error"))
assert_type(Options().rules(), Rules)

try:
    Options.from_toml("unstuck.toml")
except SettingsError as error:
    assert_type(error.field, str)
    assert_type(error.way_out, str)

with unstuck.watch(shadow=True) as run:
    assert_type(run, Watch)
    assert_type(run.message("Let me look.", calls=1), Decision)
    assert_type(run.call("read_file", {"path": "a"}), Decision)
    assert_type(run.result("text", outcome="error"), Decision)
    assert_type(run.agent("reviewer"), Watch)
    assert_type(run.findings, tuple[Finding, ...])
assert_type(unstuck.stop_when_repeated([{"role": "user", "content": "Go."}], at="block"), bool)
