"""An authoritative "nothing" that is not taken for an answer."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence
from unstuck.fingerprint import text_digest
from unstuck.ladder import Ladder
from unstuck.signs import EMPTY
from unstuck.view import View


class EmptyAnswers(Detector):
    """
    Rounds in a row in which every look came back empty, whatever was asked and whichever tool was used. Only nudged.

    Three rounds that each name another thing, at one place of a call that stays the same, count as one: a list of things none of which is
    there. A change of the world, and an answer of anything else, begin anew. Waiting is no look.
    """

    pattern = "empty_answers"
    moments = frozenset(("round",))
    signs = EMPTY
    rungs = Ladder(nudge=8)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        trail = view.trail
        if trail.empty < self.least or trail.fruitless < self.least:
            return None
        return Evidence(
            pattern=self.pattern,
            anchors=(text_digest("empty"),),
            streak=trail.empty_first,
            repeats=trail.fruitless,
            ladder=self.ladder,
            tools=tuple(trail.empty_tools),
            first_call=trail.empty_first,
            first_lap=trail.empty_first,
        )
