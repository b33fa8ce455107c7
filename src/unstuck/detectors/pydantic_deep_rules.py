"""
The rules of pydantic-deep's `StuckLoopDetection` (0.3.50), as its code states them.

They are asked after each call that succeeded, in the order in which calls end; a call that failed, was refused or sent back to
the model is invisible to them. All look at the unbroken tail of what succeeded.
"""

from __future__ import annotations

from collections.abc import Sequence

from unstuck.detectors.detector import Evidence
from unstuck.detectors.windowed import Windowed
from unstuck.ladder import Ladder
from unstuck.view import View
from unstuck.window import Made


class SucceededRule(Windowed):
    """
    A rule over the calls that succeeded among the last *span* (published: all; default here 64).

    *ladder*'s first rung is its threshold.
    """

    moments = frozenset(("result",))
    needs = frozenset(("window", "exchanges"))
    rungs = Ladder(nudge=3)
    __slots__ = ()

    def __init__(self, ladder: Ladder | None = None, span: int = 64) -> None:
        super().__init__(ladder, span)

    @property
    def equal(self) -> int:
        """See `Windowed.equal`."""
        return 2

    def look(self, view: View) -> Evidence | None:
        window = view.trail.window_calls
        if window is None:
            return None
        made = window.succeeded(self.span)
        if not made or made[-1].call != view.call:
            return None
        found = self._find(made)
        if found is None:
            return None
        repeats, calls = found
        keys = tuple(dict.fromkeys(entry.key for entry in calls))
        return Evidence(
            pattern=self.pattern,
            anchors=keys,
            streak=0,  # nothing is carried over: a broken tail begins at one again
            repeats=repeats,
            ladder=self.ladder,
            tools=tuple(dict.fromkeys(entry.tool for entry in calls)),
            keys=keys,
            first_call=calls[0].call,
            first_lap=calls[self.calls_per_count - 1].call,
            unit="laps" if self.calls_per_count > 1 else "calls",
            period=self.calls_per_count,
        )


class SameCallInARow(SucceededRule):
    """`repeated`: one tool with one set of arguments, whatever it returned."""

    pattern = "repeated_call"
    __slots__ = ()

    def _find(self, made: Sequence[Made]) -> tuple[int, Sequence[Made]] | None:
        length = 1
        while length < len(made) and made[-1 - length].key == made[-1].key:
            length += 1
        return (length, made[-length:]) if length >= self.least else None


class TwoCallsInTurn(SucceededRule):
    """`alternating`: two different calls in turn, whatever they returned; counted in cycles of both."""

    pattern = "alternating_calls"
    calls_per_count = 2
    __slots__ = ()

    def _find(self, made: Sequence[Made]) -> tuple[int, Sequence[Made]] | None:
        if len(made) < 2 or made[-1].key == made[-2].key:
            return None
        length = 2
        while length < len(made) and made[-1 - length].key == made[1 - length].key:
            length += 1
        cycles = length // 2
        return (cycles, made[-2 * cycles :]) if cycles >= self.least else None


class SameResultInARow(SucceededRule):
    """`noop`: one tool with one result, whatever the arguments were."""

    pattern = "repeated_result"
    __slots__ = ()

    def _find(self, made: Sequence[Made]) -> tuple[int, Sequence[Made]] | None:
        last, length = made[-1], 1
        while length < len(made) and (made[-1 - length].tool, made[-1 - length].result) == (last.tool, last.result):
            length += 1
        return (length, made[-length:]) if length >= self.least else None
