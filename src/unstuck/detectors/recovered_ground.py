"""Reading again what was read before."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence
from unstuck.ladder import Ladder
from unstuck.signs import GROUND
from unstuck.view import View


class RecoveredGround(Detector):
    """
    Different reads in a row, each of which had been made before with the same outcome, with no change in between.

    One re-read after a compaction is fair and does not count.
    """

    pattern = "recovered_ground"
    moments = frozenset(("round",))
    signs = GROUND
    rungs = Ladder(nudge=5, stop=16)
    most = 32  # reads that a sweep remembers

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        trail = view.trail
        if len(trail.redundant) < self.least:
            return None
        return Evidence(
            pattern=self.pattern,
            anchors=tuple(trail.redundant),
            streak=trail.redundant_first,
            repeats=len(trail.redundant),
            ladder=self.ladder,
            tools=tuple(dict.fromkeys(entry[3] for entry in trail.recent if entry[2] in trail.redundant)),
            keys=tuple(trail.redundant),
            first_call=trail.redundant_first,
            first_lap=trail.redundant_first - 1,
        )
