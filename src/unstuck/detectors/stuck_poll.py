"""Looking again and again whether something is done, without anything moving."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence, firm_repeats, lap_anchors
from unstuck.ladder import Ladder
from unstuck.signs import STILL
from unstuck.view import View


class StuckPoll(Detector):
    """
    A tool that waits or looks for progress, with one reading each time.

    The counts are twice those of other tools. Looks a minute and more apart are waiting: ten of them count as one.
    What has come to its end (a job that failed, a run that was cancelled) does not move: then all looks count, and the counts are those
    of other tools.
    """

    pattern = "stuck_poll"
    moments = frozenset(("call", "result"))
    signs = STILL
    rungs = Ladder(nudge=6, block=12, stop=20)

    def look(self, view: View) -> Evidence | None:
        state = view.state
        if state is None or state.kind != "wait" or view.pending is None:
            return None
        ladder = self.ladder.halved() if state.final else self.ladder
        repeats = firm_repeats(view, state, ladder)
        if repeats < ladder.first:
            return None
        return Evidence(
            self.pattern,
            lap_anchors(view.trail, state.symbol),
            state.first,
            repeats,
            ladder,
            (state.tool,),
            (state.key,),
            state.first,
            state.first,
        )
