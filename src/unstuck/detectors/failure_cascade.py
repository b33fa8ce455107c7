"""Several tools that fail for one reason."""

from __future__ import annotations

from unstuck.aims import firm
from unstuck.detectors.detector import Detector, Evidence
from unstuck.ladder import Ladder
from unstuck.signs import CASCADE
from unstuck.view import View


class FailureCascade(Detector):
    """Rounds in a row in which different tools failed with errors of one class: the cause lies behind all of them."""

    pattern = "failure_cascade"
    moments = frozenset(("round",))
    signs = CASCADE
    rungs = Ladder(nudge=5, stop=14)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        trail = view.trail
        if trail.failed < self.least or len(trail.failed_tools) < 2:
            return None
        repeats = firm(trail.failed, trail.fresh, self.ladder.next_to_nudge)
        return Evidence(
            pattern=self.pattern,
            anchors=(trail.failure,),
            streak=trail.failed_first,
            repeats=repeats,
            ladder=self.ladder,
            tools=tuple(trail.failed_tools),
            first_call=trail.failed_first,
            first_lap=trail.failed_first,
        )
