"""A tool that does not exist, called again and again."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence
from unstuck.fingerprint import text_digest
from unstuck.ladder import Ladder
from unstuck.signs import FAILED
from unstuck.view import View


class UnknownTool(Detector):
    """Calls of a tool that the host answered with: there is no such tool."""

    pattern = "unknown_tool"
    moments = frozenset(("call", "round"))
    signs = FAILED
    rungs = Ladder(nudge=3, block=5, stop=8)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        tool = view.tool
        if tool is None or not tool.unknown:
            return None
        repeats = tool.failed + tool.failed_asked + view.ahead
        if repeats < self.least:
            return None
        return Evidence(
            pattern=self.pattern,
            anchors=(text_digest(tool.tool),),
            streak=tool.failed_first,
            repeats=repeats,
            ladder=self.ladder,
            tools=(tool.tool,),
            first_call=tool.failed_first,
            first_lap=tool.failed_first,
        )
