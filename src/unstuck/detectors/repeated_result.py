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
        repeats, least = state.same + state.asked + view.ahead, self.least
        if repeats < least:
            return None
        ladder, tool, error = self.ladder, view.tool, None
        if tool is not None and tool.failed:
            error = tool.error
        elif state.kind == "step" and state.terse:
            ladder, least = ladder.doubled(), 2 * least
        if state.excused or view.pending.excused:
            repeats = firm_repeats(view, state, ladder)
        if repeats < least:
            return None
        anchors, first = lap_anchors(view.trail, state.symbol), state.first
        tools, keys = (state.tool,), (state.key,)
        found = (self.pattern, anchors, first, repeats, ladder, tools, keys, first, first, "calls", 1, None, error)
        return _tuple(Evidence, found)


_tuple = tuple.__new__  # a named tuple's own constructor costs three times as much, twice for every call of a loop
