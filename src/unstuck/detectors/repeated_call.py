"""The same call with answers that differ and say nothing new."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence
from unstuck.ladder import Ladder
from unstuck.signs import DIFFERS
from unstuck.view import View


class RepeatedCall(Detector):
    """
    The second ceiling: one call whose answers never repeat, yet are made of the same words, or of nothing but a rising number.

    Answers in which a number advances (a line, a percentage, an item of many) are progress and have no ceiling.
    """

    pattern = "repeated_call"
    moments = frozenset(("call", "result"))
    signs = DIFFERS
    rungs = Ladder(nudge=6, block=10, stop=16)

    def look(self, view: View) -> Evidence | None:
        state = view.state
        if state is None or view.pending is None or state.differing == 0:
            return None
        repeats = state.differing + state.asked + view.ahead
        if repeats < self.least:
            return None
        return Evidence(
            self.pattern,
            (state.key,),
            state.varied,
            repeats,
            self.ladder,
            (state.tool,),
            (state.key,),
            state.varied,
            state.varied,
        )
