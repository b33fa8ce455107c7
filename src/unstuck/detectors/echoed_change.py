"""Change that the agent makes itself."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence
from unstuck.fingerprint import text_digest
from unstuck.ladder import Ladder
from unstuck.settle import NUMBERS_APART
from unstuck.signs import ECHO
from unstuck.view import View


class EchoedChange(Detector):
    """Calls in a row, alike but for numbers, whose results hold nothing but what the arguments say: sleep and print."""

    pattern = "echoed_change"
    moments = frozenset(("call", "round"))
    signs = ECHO
    rungs = Ladder(nudge=8, block=12, stop=20)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        tool, pending = view.tool, view.pending
        if tool is None or tool.echo < 2:
            return None
        if pending is not None and (view.state is not None or not tool.is_alike(pending.said, NUMBERS_APART)):
            return None  # the very same call is left to repeated_result
        repeats = tool.echo + view.ahead
        if repeats < self.least:
            return None
        return Evidence(
            pattern=self.pattern,
            anchors=(text_digest(f"echo {tool.tool}"),),
            streak=tool.echo_first,
            repeats=repeats,
            ladder=self.ladder,
            tools=(tool.tool,),
            first_call=tool.echo_first,
            first_lap=tool.echo_first,
        )
