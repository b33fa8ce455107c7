"""Agents that hand a conversation back and forth."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence
from unstuck.ladder import Ladder
from unstuck.signs import DELEGATED
from unstuck.view import View


class HandoffLoop(Detector):
    """
    The same hand-offs between the same agents in the same order, lap after lap, with nothing new in between.

    The reasons that are given for a hand-off make no difference, nor do looks at what one of the agents had seen before.
    """

    pattern = "handoff_loop"
    moments = frozenset(("call", "round"))
    signs = DELEGATED
    needs = frozenset(("calls", "delegations"))
    rungs = Ladder(nudge=3, block=4, stop=6)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        chain, pending = view.delegations, view.pending
        if chain is None:
            return None
        period, matched = chain.handoffs.current()
        if period < 2:
            return None
        steps = chain.handoffs.steps
        laps = 1 + matched // period
        if pending is not None:
            if steps[-period].symbol != chain.edge(pending):
                return None
            laps += matched % period == 0
        if laps < self.least:
            return None
        lap = [steps[-index] for index in range(period, 0, -1)]
        return Evidence(
            pattern=self.pattern,
            anchors=tuple(step.symbol for step in lap),
            streak=chain.handoffs.total - matched - period,
            repeats=laps,
            ladder=self.ladder,
            tools=tuple(dict.fromkeys(tool for step in lap for tool in step.tools)),
            keys=tuple(dict.fromkeys(key for step in lap for key in step.keys)),
            first_call=steps[max(len(steps) - matched - period, 0)].call,
            first_lap=steps[max(len(steps) - matched - 1, 0)].call,
            unit="laps",
            period=period,
            agent="",
        )
