"""
How answers are counted against verdicts and labels.

A *verdict* is about one run: `loop` (where the first nudge is due: `earliest` to `by`, and where a block or stop must have come:
`stop_by`), `stall` (may be nudged from `earliest` on, not stopped) or `not_loop` (nothing may be done). A *label* says whether people
saw a loop in the run and whether it succeeded.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from corpora import Run
from proportions import Share
from unstuck.events import Call
from unstuck.findings import Level


class Point(NamedTuple):
    """A decision: the 1-based ordinals of the call (`None` for text) and of the response at which it fell, and its level."""

    call: int | None
    message: int
    level: Level


Answers = dict[str, list[Point]]
"""The decisions by run."""


def scored(verdict: dict[str, Any]) -> bool:
    """Whether a verdict holds under default settings; one that needs others is left out."""
    return not verdict.get("config") or "attended" in verdict["config"]


def first(points: list[Point], least: Level, unit: str = "any") -> int | None:
    """The earliest position of a decision of at least that level, counted in the verdict's unit."""
    at = [point.call if unit == "call" else point.message for point in points if point.level >= least]
    return min((position for position in at if position is not None), default=None)


def reached(points: list[Point], least: Level) -> bool:
    """Whether any decision was of at least that level."""
    return any(point.level >= least for point in points)


class Cases(NamedTuple):
    """What became of the runs with verdicts; *spent*: calls from where a loop was due to be noticed to its block or stop, or its end."""

    counts: Counter[str]
    spent: list[int]

    def share(self, name: str, of: str) -> Share:
        """One count as a share of another."""
        return Share(self.counts[name], self.counts[of])

    @property
    def recall(self) -> Share:
        """Loops in which anything was done at all, not too early."""
        return Share(self.counts["in_time"] + self.counts["late"], self.counts["loops"])

    @property
    def precision(self) -> Share:
        """Runs rightly disturbed, of all that were disturbed."""
        right = self.counts["in_time"] + self.counts["late"] + self.counts["stall_noticed"]
        return Share(right, right + self.counts["early"] + self.counts["disturbed"] + self.counts["stall_wrong"])

    @property
    def false_positives(self) -> Share:
        """Honest runs in which anything was done."""
        return Share(self.counts["disturbed"], self.counts["honest"])

    @property
    def mean_spent(self) -> float:
        """Calls spent on a loop after it should have been noticed, on average."""
        return sum(self.spent) / len(self.spent) if self.spent else 0.0

    @property
    def line(self) -> str:
        """The counts in one line."""
        c = self.counts
        return (
            f"loops in time {c['in_time']}/{c['loops']} (early {c['early']}, late {c['late']}, missed {c['missed']}) | "
            f"stopped in time {c['stopped_in_time']}/{c['stoppable']} | false stops {c['false_stop']}/{c['honest']}, "
            f"false nudges {c['false_nudge']}/{c['honest']} | stalls noticed {c['stall_noticed']}/{c['stall']}, "
            f"early {c['stall_early']}, stopped {c['stall_stopped']}"
        )


def score_cases(runs: list[Run], verdicts: dict[str, dict[str, Any]], answers: Answers) -> Cases:
    """Count the answers for runs with verdicts."""
    cases = Cases(Counter(), [])
    for run in runs:
        verdict = verdicts.get(run.name)
        if verdict is None or not scored(verdict):
            continue
        points = answers[run.name]
        if verdict["verdict"] == "not_loop":
            _count_honest(cases.counts, points)
        elif verdict["verdict"] == "stall":
            _count_stall(cases.counts, points, verdict)
        else:
            _count_loop(cases, points, verdict, sum(isinstance(event, Call) for event in run.events))
    return cases


def _count_honest(counts: Counter[str], points: list[Point]) -> None:
    counts["honest"] += 1
    counts["false_stop"] += reached(points, Level.BLOCK)
    counts["false_nudge"] += any(point.level == Level.NUDGE for point in points)
    counts["disturbed"] += reached(points, Level.NUDGE)


def _count_stall(counts: Counter[str], points: list[Point], verdict: dict[str, Any]) -> None:
    nudged, stopped = first(points, Level.NUDGE, verdict["unit"]), reached(points, Level.BLOCK)
    early = nudged is not None and nudged < verdict["earliest"]
    counts["stall"] += 1
    counts["stall_stopped"] += stopped
    counts["stall_early"] += early
    counts["stall_wrong"] += stopped or early
    counts["stall_noticed"] += nudged is not None and not early and not stopped


def _count_loop(cases: Cases, points: list[Point], verdict: dict[str, Any], calls: int) -> None:
    counts, unit = cases.counts, verdict["unit"]
    nudged, stopped = first(points, Level.NUDGE, unit), first(points, Level.BLOCK, unit)
    counts["loops"] += 1
    if nudged is None:
        counts["missed"] += 1
    elif nudged < verdict["earliest"]:
        counts["early"] += 1
    else:
        counts["late" if nudged > verdict["by"] else "in_time"] += 1
    if verdict.get("stop_by"):
        counts["stoppable"] += 1
        counts["stopped_in_time"] += stopped is not None and verdict["earliest"] <= stopped <= verdict["stop_by"]
    if unit == "call":
        cases.spent.append(max(0, (calls if stopped is None else stopped) - verdict["earliest"]))


class Labels(NamedTuple):
    """What became of the runs of one source with labels: those people called loops or not, those that succeeded or failed."""

    source: str
    runs: int
    recall: Share
    precision: Share
    false_positives: Share
    honest_stopped: Share
    good_flagged: Share
    good_stopped: Share


def score_labels(source: str, runs: list[Run], answers: Answers) -> Labels:
    """Count the answers for the runs of one source."""
    flagged = {run.name for run in runs if reached(answers[run.name], Level.NUDGE)}
    stopped = {run.name for run in runs if reached(answers[run.name], Level.BLOCK)}
    known = [(run.name, run.label) for run in runs if run.label is not None]
    loops = {name for name, label in known if label.get("loop") is True}
    honest = {name for name, label in known if label.get("loop") is False}
    good = {name for name, label in known if label.get("success") is True and label.get("loop") is not True}
    hits = len(flagged & loops)
    return Labels(
        source=source,
        runs=len(runs),
        recall=Share(hits, len(loops)),
        precision=Share(hits, hits + len(flagged & honest)),
        false_positives=Share(len(flagged & honest), len(honest)),
        honest_stopped=Share(len(stopped & honest), len(honest)),
        good_flagged=Share(len(flagged & good), len(good)),
        good_stopped=Share(len(stopped & good), len(good)),
    )
