"""Announcing, in ever new words, and not acting."""

from __future__ import annotations

from unstuck.aims import firm
from unstuck.detectors.detector import Detector, Evidence
from unstuck.fingerprint import text_digest
from unstuck.ladder import Ladder
from unstuck.view import View


class Monologue(Detector):
    """Responses in a row without calls, each made mostly of words that the ones before it had."""

    pattern = "monologue"
    moments = frozenset(("message",))
    needs = frozenset(("texts",))
    rungs = Ladder(nudge=4, stop=6)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        trail = view.trail
        if trail.talk_count < self.least:
            return None
        repeats = firm(trail.talk_count, trail.talk_due, self.ladder.next_to_nudge)
        anchor = text_digest(self.pattern)
        return Evidence(self.pattern, (anchor,), trail.talk_first, repeats, self.ladder, unit="responses")
