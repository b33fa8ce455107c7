"""
The rules of PraisonAI's `loop_detection` (1.7.17), as its code states them.

They are asked before each call, over the last calls of the agent, this one included: the higher rung blocks it, the lower one
lets it run and warns afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

from unstuck.detectors.detector import Evidence
from unstuck.detectors.windowed import Windowed
from unstuck.ladder import Ladder
from unstuck.view import View
from unstuck.window import Made

POLL_WORDS = ("status", "poll", "check", "wait", "ping", "health")
"""A tool whose name holds one of these, anywhere, is one that polls."""


def polls(tool: str) -> bool:
    """Whether a tool's name makes it one that polls."""
    name = tool.lower()
    return any(word in name for word in POLL_WORDS)


class AskedRule(Windowed):
    """
    A rule over the last *span* calls (default 30), asked before each; *ladder* holds its thresholds (default 10 and 20).

    Raises `SettingsError` where the highest rung needs more calls than the span holds.
    """

    moments = frozenset(("call", "result"))
    needs = frozenset(("window", "exchanges"))
    rungs = Ladder(nudge=10, block=20)
    __slots__ = ()

    def __init__(self, ladder: Ladder | None = None, span: int = 30) -> None:
        super().__init__(ladder, span)

    @property
    def equal(self) -> int:
        """See `Windowed.equal`."""
        return 2

    def look(self, view: View) -> Evidence | None:
        window = view.trail.window_calls
        if window is None or window.busy == 0:
            return None
        made = [entry for entry in window.last(self.span) if entry.call <= view.call]
        if not made or made[-1].call != view.call:
            return None
        found = self._find(made)
        if found is None:
            return None
        repeats, calls = found
        if repeats < self.least:
            return None
        keys = tuple(dict.fromkeys(entry.key for entry in calls))
        return Evidence(
            pattern=self.pattern,
            anchors=keys,
            streak=0,  # nothing is carried over: what leaves the span is forgotten
            repeats=repeats,
            ladder=self.ladder,
            tools=tuple(dict.fromkeys(entry.tool for entry in calls)),
            keys=keys,
            first_call=calls[0].call,
            first_lap=calls[len(keys) - 1].call,
            period=len(keys),
        )


class SamePollResult(AskedRule):
    """`poll_no_progress`: a tool that polls gave one result each of the last times it was called with these arguments."""

    pattern = "stuck_poll"
    __slots__ = ()

    def _find(self, made: Sequence[Made]) -> tuple[int, Sequence[Made]] | None:
        now = made[-1]
        if not polls(now.tool):
            return None
        streak: list[Made] = []
        for entry in reversed(made[:-1]):
            if entry.key != now.key or entry.result is None or entry.nothing:
                continue
            if streak and entry.result != streak[-1].result:
                break
            streak.append(entry)
        return (len(streak), streak[::-1]) if streak else None


class PingPong(AskedRule):
    """
    `ping_pong`: two calls in turn at the end of the span, whatever they returned.

    As published, only an even number of them is seen, and one more than that is counted; two alone are not.
    """

    pattern = "alternating_calls"
    __slots__ = ()

    def _find(self, made: Sequence[Made]) -> tuple[int, Sequence[Made]] | None:
        if len(made) < 2 or made[-1].key == made[-2].key:
            return None
        length = 2
        while length < len(made) and made[-1 - length].key == made[1 - length].key:
            length += 1
        return (length + 1, made[-length:]) if length % 2 == 0 else None


class CallsInSpan(AskedRule):
    """`generic_repeat`: a tool that does not poll was called so often with these arguments, whatever it returned."""

    pattern = "repeated_call"
    __slots__ = ()

    def _find(self, made: Sequence[Made]) -> tuple[int, Sequence[Made]] | None:
        if polls(made[-1].tool):
            return None
        calls = [entry for entry in made if entry.key == made[-1].key]
        return len(calls), calls
