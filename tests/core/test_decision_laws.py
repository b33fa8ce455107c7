"""What holds for the decisions on every run, whatever is in it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.runs import TOOLS, decisions, events_of, scripts
from unstuck.config import Options
from unstuck.events import MAIN, OUTCOMES, Call, Event, Message, Result, User
from unstuck.findings import Level
from unstuck.kinds import KINDS
from unstuck.monitor import Monitor
from unstuck.presets import PRESETS, preset

presets = pytest.mark.parametrize("name", sorted(PRESETS))


@presets
@given(script=scripts)
def test_a_nudge_never_lands_between_a_call_and_its_result(name: str, script: list[Any]):
    """Where it is decided, no call of the agent it is about waits for a result."""
    waiting: dict[str, str] = {}
    events = events_of(script)
    for event, decision in zip(events, decisions(events, name), strict=True):
        if isinstance(event, Call):
            waiting[event.id] = event.agent
        elif isinstance(event, Result):
            del waiting[event.id]
        if decision.level is Level.NUDGE:
            assert {finding.agent for finding in decision.findings}.isdisjoint(waiting.values())


@presets
@given(script=scripts)
def test_a_block_answers_a_call_or_cuts_a_response(name: str, script: list[Any]):
    """Nothing else can be kept from happening; and whoever acts on a decision has words for the model."""
    events = events_of(script)
    for event, decision in zip(events, decisions(events, name), strict=True):
        if decision.level is Level.BLOCK:
            assert isinstance(event, Call | Message)
        if isinstance(event, Call):
            assert decision.level is not Level.NUDGE
        assert (decision.text is not None) == (decision.level >= Level.NUDGE)


@presets
@given(script=scripts)
def test_a_loop_is_reported_once_a_level_in_rising_order(name: str, script: list[Any]):
    """Until a person speaks; where what formed a loop is consumed, each report begins anew."""
    events, reached = events_of(script), dict[int, Level]()
    rules = preset(name)
    for event, decision in zip(events, decisions(events, rules), strict=True):
        if isinstance(event, User) and event.origin == "user" and rules.reading.turns:
            reached.clear()
        for finding in sorted(decision.findings, key=lambda finding: finding.level):
            if not rules.policy.consume:
                assert finding.level > reached.get(finding.loop, Level.CONTINUE)
            reached[finding.loop] = finding.level


@presets
@given(script=scripts, attended=st.booleans())
def test_shadow_mode_says_what_acting_would_have_done(name: str, script: list[Any], attended: bool):
    """The same findings at the same events, as `would`; nothing to carry out and nothing to say."""
    events = events_of(script, attended=attended)
    acting = decisions(events, Options(preset=name).rules())
    shadow = decisions(events, Options(preset=name, shadow=True).rules())
    for one, other in zip(acting, shadow, strict=True):
        assert other.level in (Level.CONTINUE, Level.OBSERVE)
        assert other.text is None
        assert other.repeats == one.repeats
        assert [finding._replace(level=finding.would, would=None) for finding in other.findings] == list(one.findings)


@given(script=scripts, strongest=st.sampled_from(("nudge", "block")))
def test_a_cap_changes_nothing_below_it(script: list[Any], strongest: str):
    """Up to the cap the decisions are those without one, and beyond it there are none."""
    events, cap = events_of(script), Level.named(strongest)
    free, capped = decisions(events), decisions(events, Options(strongest=strongest).rules())
    for one, other in zip(free, capped, strict=True):
        assert other.level <= cap
        if one.level < cap:
            assert other.level == one.level


@presets
@given(script=scripts)
def test_each_repeat_is_named_once_and_has_been_seen(name: str, script: list[Any]):
    """By ordinals of calls and responses that have come."""
    monitor, named = Monitor(preset(name)), set[tuple[int, int]]()
    for event in events_of(script):
        for call, message in monitor.observe(event).repeats:
            assert (call, message) not in named
            assert 1 < call <= monitor.calls
            assert 1 <= message <= monitor.messages
            named.add((call, message))


DIGESTS = re.compile(r"\b(?:[0-9a-f]{16}|\d{1,20})$")
"""Of a fingerprint, or of a call after the pattern it is counted for."""


def texts(value: Any) -> set[str]:
    """Every text in a JSON value, names of fields included."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return set(value).union(*map(texts, value.values()))
    return set().union(*map(texts, value)) if isinstance(value, list) else set()


def known(rules: Any) -> set[str]:
    """What may stand in saved state: names of agents, tools, ids, kinds, patterns and the state's own fields."""
    fields = texts(json.loads(Monitor(rules).dump()))
    units = {"calls", "laps", "responses", "repeats", "hand-offs", "percent"}
    return {*fields, *TOOLS, *KINDS, *OUTCOMES, *units, *(detector.pattern for detector in rules.detectors), MAIN, "helper", ""}


@presets
@given(script=scripts, attended=st.booleans())
def test_saved_state_holds_names_and_numbers_only(name: str, script: list[Any], attended: bool):
    """At no point a word of arguments, results or texts."""
    rules = preset(name)
    monitor, allowed = Monitor(rules), known(rules)
    own = {f"c{index}" for index in range(3)} | {
        "agent",
        "calls",
        "tools",
        "cycles",
        "window",
        "round",
        "recent",
        "talk",
        "ground",
        "sweep",
        "plain",
    }
    own |= {"steps", "total", "matched", "handoffs", "chain", "said", "figures", "turn", "tallies"}
    for event in events_of(script, attended=attended):
        monitor.observe(event)
        held = {DIGESTS.sub("", text).strip() for text in texts(json.loads(monitor.dump()))}
        assert held <= allowed | own


@given(script=scripts, extra=st.lists(st.sampled_from(("retry", "compaction")), max_size=3))
def test_a_decision_depends_on_the_events_before_it_alone(script: list[Any], extra: list[str]):
    """Two monitors side by side, their events mixed, decide as each would alone."""
    one: list[Event] = events_of(script)
    other: list[Event] = events_of([*script[::-1], *((kind,) for kind in extra)])
    first, second = Monitor(), Monitor()
    mixed: tuple[list[Any], list[Any]] = ([], [])
    for index in range(max(len(one), len(other))):
        if index < len(one):
            mixed[0].append(first.observe(one[index]))
        if index < len(other):
            mixed[1].append(second.observe(other[index]))
    assert mixed == (decisions(one), decisions(other))
