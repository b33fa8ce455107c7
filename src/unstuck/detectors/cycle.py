"""Several rounds in turn, lap after lap."""

from __future__ import annotations

from unstuck.aims import firm
from unstuck.cycles import WAITS_LONG, Cycles, is_one_call, weighed
from unstuck.detectors.detector import Detector, Evidence
from unstuck.ladder import Ladder
from unstuck.signs import PERIOD
from unstuck.view import View


class Cycle(Detector):
    """
    The same rounds with the same outcomes in the same order, with any period up to half the window.

    A lap of several calls costs more than one call, so the rungs after the first come sooner than those of a single call.
    A lap in which something waits counts half, one in which a minute and more passes a tenth, and these are nudged at most. One step
    (a key, a debugger's) whose answers come in turn counts a quarter and is nudged at most too. Laps of one single call with one
    outcome are left to `repeated_result`.
    """

    pattern = "cycle"
    moments = frozenset(("call", "round"))
    signs = PERIOD
    needs = frozenset(("calls", "cycles"))
    rungs = Ladder(nudge=3, block=4, stop=6)

    def look(self, view: View) -> Evidence | None:
        cycles = view.trail.cycles
        period, matched = cycles.current()
        if period == 0:
            return None
        if period == 1 and len(cycles.steps[-1].keys) < 2:
            return None
        lap = [cycles.steps[-index] for index in range(1, period + 1)]
        laps = 1 + matched // period
        if view.ahead:
            if view.state is None or not _continues(cycles, period, view.state.key):
                return None
            laps += matched % period == 0
            laps += view.state.asked
        laps = weighed(laps, lap)
        if is_one_call(lap) or any(step.waits == WAITS_LONG for step in lap):
            laps = firm(laps, laps, self.ladder.next_to_nudge)
        if laps < self.least:
            return None
        tools = dict.fromkeys(tool for step in reversed(lap) for tool in step.tools)
        keys = {key for step in lap for key in step.keys}
        first = max(len(cycles.steps) - matched - period, 0)
        return Evidence(
            self.pattern,
            tuple({symbol for step in lap for symbol in step.symbols}),
            cycles.total - matched - period,
            laps,
            self.ladder,
            tuple(tools),
            tuple(sorted(keys)),
            cycles.steps[first].call,
            cycles.steps[min(first + period - 1, len(cycles.steps) - 1)].call,
            "laps",
            period,
        )


def _continues(cycles: Cycles, period: int, key: int) -> bool:
    """Whether a call is the one that the next round of the cycle begins or goes on with."""
    return key in cycles.steps[-period].keys
