"""
The rules of Pydantic AI Harness `DetectLoops`, as its documentation states them: counts within the last calls.

They compare exact results, know nothing of what calls change, and are asked when a response and its calls are over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from unstuck.detectors.detector import Detector, Evidence
from unstuck.errors import SettingsError
from unstuck.findings import Unit
from unstuck.ladder import Ladder, check_count
from unstuck.view import View
from unstuck.window import NO_SPAN, Made, Span

_UNITS: tuple[Unit, Unit] = ("calls", "laps")
HIGHEST_SPAN = 10_000
"""Calls that can be looked at; their records are kept, so this bounds memory."""


class Windowed(Detector):
    """
    A rule over the last *span* calls; *ladder*'s first rung is its threshold.

    Raises `SettingsError` where a rung needs more calls than the span holds.
    """

    __slots__ = ("span",)
    moments = frozenset(("round", "message"))  # a second loop of an earlier round may be reported when a text follows
    needs = frozenset(("window",))
    calls_per_count = 1
    span: int

    @property
    def equal(self) -> int:
        """How many equal calls must stand in the window before the rule can apply."""
        return self.least

    def __init__(self, ladder: Ladder | None = None, span: int = 10) -> None:
        check_count(f"{self.pattern}.span", span, least=2, most=HIGHEST_SPAN)
        object.__setattr__(self, "span", span)
        super().__init__(ladder)

    def _check(self, ladder: Ladder) -> None:
        super()._check(ladder)
        highest = max(rung for rung in ladder if rung is not None)
        needed, span = highest * self.calls_per_count, self.span
        if needed > span:
            problem = f"the rung at {highest} needs {needed} calls and only the last {span} are looked at"
            raise SettingsError(f"{self.pattern}.span", span, problem, f"give a span of {needed} or more, or lower rungs")

    def _fields(self) -> tuple[Any, ...]:
        return (self.ladder, self.span)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        window = view.trail.window_calls
        if window is None or window.busy == 0:
            return None
        found = self._find(window.last(self.span))
        if found is None:
            return None
        repeats, calls = found
        period, first = self.calls_per_count, calls[0].call
        keys = tuple(dict.fromkeys([made.key for made in calls]))
        tools = tuple(dict.fromkeys([made.tool for made in calls]))
        first_lap, unit = calls[period - 1].call, _UNITS[period > 1]
        return Evidence(self.pattern, keys, first, repeats, self.ladder, tools, keys, first, first_lap, unit, period)

    def _find(self, made: Sequence[Made]) -> tuple[int, Sequence[Made]] | None:
        raise NotImplementedError


def span_of(detectors: Iterable[Detector]) -> Span:
    """The calls that must be kept for *detectors*."""
    rules = [detector for detector in detectors if isinstance(detector, Windowed)]
    return Span(max(rule.span for rule in rules), min(rule.equal for rule in rules)) if rules else NO_SPAN


class WindowedResult(Windowed):
    """The same call returned the same result each of the last times it was made within the span."""

    pattern = "repeated_result"
    rungs = Ladder(nudge=3)
    __slots__ = ()

    def _find(self, made: Sequence[Made]) -> tuple[int, Sequence[Made]] | None:
        streaks: dict[int, list[Made]] = {}
        for entry in made:
            streak = streaks.get(entry.key)
            if streak is None:
                streaks[entry.key] = [entry]
                continue
            if entry.result is None or streak[-1].result != entry.result:
                streak.clear()
            streak.append(entry)
        for streak in streaks.values():
            if len(streak) >= self.least and streak[-1].result is not None:
                return len(streak), streak
        return None


class WindowedAlternation(Windowed):
    """Two different calls in turn at the end of the span; counted in cycles of both."""

    pattern = "alternating_calls"
    rungs = Ladder(nudge=3)
    calls_per_count = 2
    __slots__ = ()

    def _find(self, made: Sequence[Made]) -> tuple[int, Sequence[Made]] | None:
        if len(made) < 2 * self.least or made[-1].key == made[-2].key:
            return None
        length = 2
        while length < len(made) and made[-1 - length].key == made[1 - length].key:
            length += 1
        cycles = length // 2
        return (cycles, made[-2 * cycles :]) if cycles >= self.least else None


class WindowedCall(Windowed):
    """The same call was made so many times within the span, whatever it returned."""

    pattern = "repeated_call"
    rungs = Ladder(nudge=5)
    __slots__ = ()

    def _find(self, made: Sequence[Made]) -> tuple[int, Sequence[Made]] | None:
        calls: dict[int, list[Made]] = {}
        for entry in made:
            calls.setdefault(entry.key, []).append(entry)
        for group in calls.values():
            if len(group) >= self.least:
                return len(group), group
        return None
