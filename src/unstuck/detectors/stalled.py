"""Nothing repeats and nothing advances."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence
from unstuck.findings import Level
from unstuck.fingerprint import text_digest
from unstuck.ladder import Ladder
from unstuck.view import View


class Stalled(Detector):
    """
    A run that does the same few things between one compaction of its context and the next, time after time: it plans anew and never
    gets to work. Only nudged: honest search can look like this.
    """

    pattern = "stalled"
    moments = frozenset(("compaction",))
    needs = frozenset(("calls", "intervals"))
    rungs = Ladder(nudge=3)
    strongest = Level.NUDGE

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        intervals = view.intervals
        if intervals is None or intervals.alike < self.least:
            return None
        anchor = text_digest(self.pattern)
        return Evidence(
            self.pattern,
            (anchor,),
            intervals.first,
            intervals.alike,
            self.ladder,
            tools=tuple(intervals.tools),
            first_call=intervals.first,
            first_lap=view.call,
            unit="laps",
            agent="",
        )
