"""What came closest to a finding in a run that has none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from unstuck.errors import SettingsError
from unstuck.explain.answer import Closest
from unstuck.explain.strands import Id, identity
from unstuck.ladder import Ladder
from unstuck.monitor import Monitor
from unstuck.presets import preset

if TYPE_CHECKING:
    from unstuck.detectors.detector import Detector, Evidence
    from unstuck.events import Event
    from unstuck.policy import Loop
    from unstuck.presets import Rules
    from unstuck.view import View

SHOWN = 3
LOWEST = Ladder(nudge=2)
"""A detector speaks from its lowest rung on: with this one it tells of the first repeat."""


def closest(events: Iterable[Event], rules: Rules | None = None) -> tuple[Closest, ...]:
    """
    The counts that came closest to the first rung of their ladder without reaching it, those with the largest share of it first.

    Args:
        events: the events of one run, in order.
        rules: a rule set (default: the preset `default`).
    """
    rules = rules if rules is not None else preset("default")
    first = {one.pattern: one.ladder.first for one in reversed(rules.detectors)}
    found: dict[Id, Closest] = {}

    def hear(view: View, evidence: Evidence, loop: Loop, total: int) -> None:
        if view.moment == "call":
            return  # it has not run yet
        # Waits and the like have twice the patience.
        rung = first[evidence.pattern] * max(evidence.ladder.first // LOWEST.first, 1)
        known = found.get(identity(loop, evidence))
        if evidence.repeats < rung and (known is None or evidence.repeats > known.repeats):
            found[identity(loop, evidence)] = _seen(view, evidence, rung)

    policy = rules.policy._replace(one_per_round=False, consume=False)
    monitor = Monitor(rules._replace(detectors=tuple(map(_talkative, rules.detectors)), policy=policy))
    monitor.on_evidence = hear
    for event in events:
        monitor.observe(event)
    return tuple(sorted(found.values(), key=lambda one: (-one.repeats / one.rung, one.rung - one.repeats))[:SHOWN])


def _talkative(detector: Detector) -> Detector:
    try:
        return detector.with_ladder(LOWEST)
    except SettingsError:
        return detector  # somebody else's detector may want other rungs


def _seen(view: View, evidence: Evidence, rung: int) -> Closest:
    agent = evidence.agent if evidence.agent is not None else view.trail.agent
    call = None if view.moment in ("message", "text") else view.call
    first = evidence.first_call if call is not None else None
    return Closest(evidence.pattern, agent, evidence.tools, evidence.repeats, evidence.unit, rung, first, call, view.message)
