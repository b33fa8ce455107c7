"""The same call with the same outcome, again and again."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence, firm_repeats, lap_anchors
from unstuck.ladder import Ladder
from unstuck.signs import SAME
from unstuck.view import View


class RepeatedResult(Detector):
    """
    One call that came to one outcome each time since the world last changed; other calls may stand between.

    Outcomes are compared after masking what is volatile. A change of the world is a successful write that was not sent before.
    Tools that wait are left to `stuck_poll`; for those that move something on by one (a key, a click) the counts are doubled, since
    their receipts do not say whether it moved.
    """

    pattern = "repeated_result"
    moments = frozenset(("call", "result"))
    signs = SAME
    rungs = Ladder(nudge=3, block=5, stop=8)

    def look(self, view: View) -> Evidence | None:
        state = view.state
        if state is None or state.kind == "wait" or view.pending is None:
            return None
        if state.same + state.asked + view.ahead < self.least:
            return None
        failed = view.tool is not None and view.tool.failed > 0
        ladder = self.ladder
        if state.kind == "step" and state.terse and not failed:
            ladder = ladder.doubled()
        repeats = firm_repeats(view, state, ladder)
        if repeats < ladder.first:
            return None
        error = view.tool.error if failed and view.tool is not None else None
        anchors, tools, keys, first = lap_anchors(view.trail, state.symbol), (state.tool,), (state.key,), state.first
        return Evidence(self.pattern, anchors, first, repeats, ladder, tools, keys, first, first, "calls", 1, None, error)
