"""One response that goes round in itself."""

from __future__ import annotations

from unstuck.degenerate import LAPS, degenerate
from unstuck.detectors.detector import Detector, Evidence
from unstuck.fingerprint import text_digest
from unstuck.ladder import Ladder
from unstuck.view import View


class DegenerateText(Detector):
    """A block that fills a response again and again, in its text or its reasoning; a stream is cut where it is seen."""

    pattern = "degenerate_text"
    moments = frozenset(("text",))
    needs = frozenset(("texts",))
    rungs = Ladder(block=LAPS)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        found = view.repeating
        if found is None and view.text is not None:
            found = degenerate(view.text)
        if found is None or found.laps < self.least:
            return None
        anchor = text_digest(self.pattern)
        return Evidence(self.pattern, (anchor,), view.message, found.laps, self.ladder, unit="repeats", period=found.unit)
