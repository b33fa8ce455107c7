"""A mistake that is made again although it was got over before."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence
from unstuck.ladder import Ladder
from unstuck.signs import MISTAKE
from unstuck.view import View


class RecurringFailure(Detector):
    """
    A tool that changes things refuses for one reason, on one target, time and again in a turn; other calls, successes and changes
    may stand between. Only nudged: each time it was got over, but nothing was learned from it.
    """

    pattern = "recurring_failure"
    moments = frozenset(("round",))
    signs = MISTAKE
    rungs = Ladder(nudge=4)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        tool = view.tool
        if tool is None:
            return None
        latest = [mistake for mistake in tool.mistakes if mistake[4] == tool.mistake_round]
        mistake, count, first, call, _ = max(latest, key=lambda mistake: (mistake[1], mistake[0]))
        if count < self.least:
            return None
        return Evidence(
            pattern=self.pattern,
            anchors=(mistake,),
            streak=first,
            repeats=count,
            ladder=self.ladder,
            tools=(tool.tool,),
            first_call=first,
            first_lap=call - 1,
            error=tool.error,
        )
