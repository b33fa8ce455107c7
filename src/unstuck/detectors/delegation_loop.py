"""A task that is handed down and never worked on."""

from __future__ import annotations

from unstuck.detectors.detector import Detector, Evidence
from unstuck.fingerprint import text_digest
from unstuck.ladder import Ladder
from unstuck.signs import DELEGATED
from unstuck.view import View


class DelegationLoop(Detector):
    """Delegations in a row, each by another agent and with the same task in much the same words."""

    pattern = "delegation_loop"
    moments = frozenset(("call", "round"))
    signs = DELEGATED
    needs = frozenset(("calls", "delegations"))
    rungs = Ladder(nudge=3, block=5, stop=8)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        chain, pending = view.delegations, view.pending
        if chain is None:
            return None
        if pending is not None and not chain.passes_on(pending.agent, pending.said):
            return None
        repeats = chain.length + view.ahead
        if repeats < self.least:
            return None
        return Evidence(
            pattern=self.pattern,
            anchors=(text_digest(self.pattern) ^ chain.first,),
            streak=chain.first,
            repeats=repeats,
            ladder=self.ladder,
            tools=(chain.tool,),
            first_call=chain.first,
            first_lap=chain.first,
            agent="",
        )
