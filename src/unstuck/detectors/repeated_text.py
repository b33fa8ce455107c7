"""The same response again."""

from __future__ import annotations

from unstuck.aims import firm
from unstuck.detectors.detector import Detector, Evidence
from unstuck.ladder import Ladder
from unstuck.view import View


class RepeatedText(Detector):
    """Responses in a row without calls and with one text; case and white space make no difference."""

    pattern = "repeated_text"
    moments = frozenset(("message",))
    needs = frozenset(("texts",))
    rungs = Ladder(nudge=3, stop=6)

    def look(self, view: View) -> Evidence | None:
        trail = view.trail
        if trail.text_count < self.least:
            return None
        repeats = firm(trail.text_count, trail.text_due, self.ladder.next_to_nudge)
        return Evidence(
            self.pattern, (trail.text,), trail.text_first, repeats, self.ladder, keys=(trail.text,), unit="responses"
        )
