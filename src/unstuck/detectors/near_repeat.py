"""Spellings of one call that come to one outcome."""

from __future__ import annotations

from unstuck.aims import firm, is_fresh
from unstuck.detectors.detector import Detector, Evidence
from unstuck.ladder import Ladder
from unstuck.signs import CHAIN
from unstuck.view import View


class NearRepeat(Detector):
    """
    Calls of one tool in a row that are alike but not equal (a throwaway word, a rising limit, a free-text reason) and come to
    one outcome. What changes the world is left out: a receipt for another target is work. One job that is given to others in other
    words and comes back with the same answer is nudged and no more.
    """

    pattern = "near_repeat"
    moments = frozenset(("call", "round"))
    signs = CHAIN
    rungs = Ladder(nudge=5, block=8, stop=12)

    def look(self, view: View) -> Evidence | None:
        """See `Detector.look`."""
        tool, pending = view.tool, view.pending
        if tool is None or len(tool.chain_keys) < 2 or tool.kind in ("write", "talk"):
            return None
        if pending is not None and pending.key not in tool.chain_keys and not tool.is_alike(pending.said):
            return None
        repeats = tool.chain + tool.chain_asked + view.ahead
        if tool.loose:  # different questions with one long answer may be right: a nudge and no further
            repeats = firm(repeats, repeats, self.ladder.next_to_nudge)
        elif tool.failed > 1:
            fresh = tool.fresh + (pending is not None and is_fresh(tool, pending.aims()))
            repeats = firm(repeats, fresh, self.ladder.next_to_nudge)
        if repeats < self.least:
            return None
        return Evidence(
            pattern=self.pattern,
            anchors=(tool.chain_anchor, *tool.chain_keys),
            streak=tool.chain_first,
            repeats=repeats,
            ladder=self.ladder,
            tools=(tool.tool,),
            keys=tuple(tool.chain_keys),
            first_call=tool.chain_first,
            first_lap=tool.chain_first,
            error=tool.error if tool.failed else None,
        )
