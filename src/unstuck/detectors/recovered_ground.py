"""Reading again what was read before."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence
from unstuck.ladder import Ladder
from unstuck.signs import GROUND
from unstuck.view import View


class RecoveredGround(Detector):
    """
    Different reads in a row, each of which had been made before with the same outcome, with no change in between, or lies, whatever
    its range, inside the lines of its file that had been read. Where some only do the latter they lead to a nudge and no further.

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
        repeats = len(trail.redundant)
        if repeats < self.least:
            return None
        if trail.inside == trail.redundant_first and self.ladder.stop is not None:
            repeats = min(repeats, self.ladder.stop - 1)
        return Evidence(
            pattern=self.pattern,
            anchors=tuple(trail.redundant),
            streak=trail.redundant_first,
            repeats=repeats,
            ladder=self.ladder,
            tools=tuple(dict.fromkeys(entry[3] for entry in trail.recent if entry[2] in trail.redundant)),
            keys=tuple(trail.redundant),
            first_call=trail.redundant_first,
            first_lap=trail.redundant_first - 1,
        )
