"""One tool that keeps failing in one way."""

from __future__ import annotations

from unstuck.aims import firm, is_fresh
from unstuck.detectors.detector import Detector, Evidence
from unstuck.fingerprint import text_digest
from unstuck.ladder import Ladder
from unstuck.signs import FAILED
from unstuck.view import View


class RepeatedFailure(Detector):
    """
    Calls of one tool in a row that failed with errors of one class, whatever their arguments; rounds are counted, not calls.

    Rate limits and time-outs pass by themselves: for them the counts are twice as high, and where each wait is longer than
    the one before they do not count. Failures on ever new targets, and those before which something new was done that may have
    helped, lead to a nudge and no further. The very same call with the same outcome is left to `repeated_result`.
    """

    pattern = "repeated_failure"
    moments = frozenset(("call", "round"))
    signs = FAILED
    rungs = Ladder(nudge=5, block=9, stop=14)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        tool = view.tool
        if tool is None or tool.failed < 2 or tool.unknown:
            return None
        if len(tool.chain_keys) == 1 and tool.chain >= tool.failed and (view.pending is None or view.state is not None):
            return None  # one call with one outcome is left to repeated_result
        repeats = tool.failed + tool.failed_asked + view.ahead
        if tool.transient:
            repeats //= 2
        fresh = tool.fresh
        if view.pending is not None and is_fresh(tool, view.pending.aims()):
            fresh += view.ahead
        repeats = firm(repeats, fresh, self.ladder.next_to_nudge)
        if repeats < self.least:
            return None
        return Evidence(
            pattern=self.pattern,
            anchors=(tool.failure ^ text_digest(tool.tool),),
            streak=tool.failed_first,
            repeats=repeats,
            ladder=self.ladder,
            tools=(tool.tool,),
            first_call=tool.failed_first,
            first_lap=tool.failed_first,
            error=tool.error,
        )
