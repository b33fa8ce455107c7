"""Doing and undoing."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence
from unstuck.ladder import Ladder
from unstuck.signs import SWING
from unstuck.view import View


class Oscillation(Detector):
    """
    A target that is brought back to the state it had before its latest change, time after time: an edit and its reverse, one content
    and another, add and remove. Every change succeeds; nothing advances.
    """

    pattern = "oscillation"
    moments = frozenset(("result",))
    signs = SWING
    rungs = Ladder(nudge=3, stop=6)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        swing, pending = view.swing, view.pending
        if swing is None or pending is None or swing.returns < self.least:
            return None
        return Evidence(
            pattern=self.pattern,
            anchors=(swing.target,),
            streak=swing.first,
            repeats=swing.returns,
            ladder=self.ladder,
            tools=(pending.tool,),
            keys=tuple(swing.keys),
            first_call=swing.first,
            first_lap=swing.first,
            unit="repeats",
        )
