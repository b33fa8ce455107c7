"""Responses with nothing in them."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence
from unstuck.fingerprint import text_digest
from unstuck.ladder import Ladder
from unstuck.view import View


class EmptyResponse(Detector):
    """Responses in a row with neither text nor calls."""

    pattern = "empty_response"
    moments = frozenset(("message",))
    needs = frozenset(("texts",))
    rungs = Ladder(nudge=3, stop=6)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        trail = view.trail
        if trail.silent < self.least:
            return None
        anchor = text_digest(self.pattern)
        return Evidence(self.pattern, (anchor,), view.message - trail.silent, trail.silent, self.ladder, unit="responses")
