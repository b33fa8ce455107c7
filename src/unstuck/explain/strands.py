"""The first replay: which loops there are, what each is about, and where evidence of it fell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from unstuck.detectors.detector import Detector, Evidence
from unstuck.detectors.windowed import Windowed
from unstuck.explain.counters import COUNTERS, Subject
from unstuck.findings import Finding
from unstuck.ladder import Ladder
from unstuck.monitor import Monitor

if TYPE_CHECKING:
    from unstuck.events import Event
    from unstuck.policy import Loop
    from unstuck.presets import Rules
    from unstuck.view import View

Id: TypeAlias = tuple[int, str, int]
"""A loop's number, a pattern, and the call where that is what the pattern counts."""
OF_ONE_CALL = ("repeated_result", "stuck_poll", "repeated_call")
IN_ROUNDS = ("cycle", "handoff_loop")


class Point(NamedTuple):
    """Evidence at the event with number *at*: where, how many repeats in which stretch, *carried* from before, *ahead* of the call."""

    at: int
    call: int
    message: int
    evidence: Evidence
    carried: int
    ahead: bool


class Found:
    """One strand of one loop: its evidence and the findings that came of it."""

    def __init__(self, loop: Loop, agent: str, subject: Subject | None, detector: Detector | None) -> None:
        self.loop = loop
        self.agent = agent
        self.subject = subject
        self.detector = detector
        self.points: list[Point] = []
        self.findings: list[tuple[Finding, Point]] = []


def identity(loop: Loop, evidence: Evidence) -> Id:
    """What strand *evidence* belongs to."""
    return loop.number, evidence.pattern, evidence.keys[0] if evidence.pattern in OF_ONE_CALL and evidence.keys else 0


class Listening:
    """A monitor that replays a run and notes where evidence falls; `found` holds the strands in the order in which they began."""

    def __init__(self, rules: Rules | None) -> None:
        self.monitor = Monitor(rules)
        self.monitor.on_evidence = self._hear
        self.found: dict[Id, Found] = {}
        self._at = 0
        self._latest: dict[tuple[int, str, int, int | None, int], tuple[Found, Point]] = {}

    def replay(self, events: Iterable[Event]) -> list[Found]:
        """The strands with findings."""
        for self._at, event in enumerate(events):
            for finding in self.monitor.observe(event).findings:
                place = (finding.loop, finding.pattern, finding.repeats, finding.call, finding.message)
                found, point = self._latest.get(place) or self._ceiling(finding)
                found.findings.append((finding, point))
        return [found for found in self.found.values() if found.findings]

    def _hear(self, view: View, evidence: Evidence, loop: Loop, total: int) -> None:
        found = self.found.get(identity(loop, evidence))
        agent = evidence.agent if evidence.agent is not None else view.trail.agent
        if found is None:
            rules = self.monitor.rules
            detector = next((one for one in rules.detectors if one.pattern == evidence.pattern), None)
            subject = subject_of(evidence, view.trail.agent) if is_counted(evidence.pattern, detector) else None
            found = self.found[identity(loop, evidence)] = Found(loop, agent, subject, detector)
        ahead = view.moment == "call"
        point = Point(self._at, view.call, view.message, evidence, total - evidence.repeats, ahead)
        found.points.append(point)
        call = None if view.moment in ("message", "text") else view.call
        self._latest[loop.number, evidence.pattern, evidence.repeats, call, view.message] = (found, point)

    def _ceiling(self, finding: Finding) -> tuple[Found, Point]:
        """The ceiling of unattended runs, which is no detector."""
        loop = self.monitor.loops.found[finding.loop]
        key, limit = int(finding.fingerprints[0], 16), self.monitor.rules.policy.ceiling
        first = finding.first_call or 0
        subject = Subject(finding.pattern, finding.agent, key, finding.tools[0], first, ceiling=True)
        evidence = Evidence(
            finding.pattern, (key,), first, finding.repeats, Ladder(stop=limit), finding.tools, (key,), finding.first_call
        )
        found = self.found[finding.loop, "ceiling", key] = Found(loop, finding.agent, subject, None)
        point = Point(self._at, finding.call or 0, finding.message, evidence, 0, ahead=False)
        found.points.append(point)
        return found, point


def is_counted(pattern: str, detector: Detector | None) -> bool:
    """Whether the ledger's own counters tell this pattern's count: not for rules over the last calls, nor for those of others."""
    return is_own(detector) and pattern in COUNTERS


def is_own(detector: Detector | None) -> bool:
    """Whether *detector* is one of ours that goes by the ledger's counters."""
    return type(detector).__module__.startswith("unstuck.detectors.") and not isinstance(detector, Windowed)


def subject_of(evidence: Evidence, agent: str) -> Subject:
    """What *evidence* counts."""
    tool = evidence.tools[0] if evidence.tools else ""
    return Subject(evidence.pattern, agent, evidence.keys[0] if evidence.keys else 0, tool, evidence.anchors[0])
