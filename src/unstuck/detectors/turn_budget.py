"""How often a tool may bring nothing new within one turn of a person."""

from __future__ import annotations

from typing import Any

from unstuck.detectors.detector import Detector, Evidence
from unstuck.errors import SettingsError
from unstuck.fingerprint import text_digest
from unstuck.ladder import Ladder
from unstuck.spent import Spent
from unstuck.view import View


class TurnBudget(Detector):
    """
    Calls of one tool within one turn, where those with new arguments or a new outcome count once in all; in no preset.

    So a batch over many files, a page after another and a poll that moves never reach a rung, while the same few calls in any
    order and over any distance do, also where something changed in between.

    Args:
        ladder: the rungs for tools that look (default 5, 8, 12); tools that wait have twice these.
        writes: the rungs for tools that change something or pass work on (default 3, 5, 7).

    The numbers are those that PraisonAI documents for its Loop Guard.
    """

    pattern = "turn_budget"
    moments = frozenset(("call", "result"))
    needs = frozenset(("calls", "spent", "exchanges"))
    rungs = Ladder(nudge=5, block=8, stop=12)
    __slots__ = ("writes",)
    writes: Ladder

    def __init__(self, ladder: Ladder | None = None, *, writes: Ladder | None = None) -> None:
        super().__init__(ladder)
        if writes is not None and not isinstance(writes, Ladder):
            raise SettingsError(
                "turn_budget.writes", writes, "a Ladder is needed", "write Ladder(nudge=..., block=..., stop=...)"
            )
        object.__setattr__(self, "writes", writes or Ladder(nudge=3, block=5, stop=7))

    def _fields(self) -> tuple[Any, ...]:
        return (self.ladder, self.writes)

    def look(self, view: View) -> Evidence | None:
        pending, spent = view.pending, view.trail.spent
        if pending is None or not isinstance(spent, Spent):
            return None
        tally = spent.tally(pending.agent, pending.tool)
        if tally is None:
            return None
        ahead = view.moment == "call"
        if ahead and pending.key not in tally.outcomes:
            return None
        repeats = 1 + tally.repeats + tally.asked + ahead
        ladder = self._ladder(pending.kind)
        if repeats < ladder.first:
            return None
        anchor = text_digest(f"turn_budget {pending.tool}")
        return Evidence(self.pattern, (anchor,), tally.first, repeats, ladder, (pending.tool,), first_call=tally.first)

    def _ladder(self, kind: str) -> Ladder:
        if kind in ("write", "delegate"):
            return self.writes
        return self.ladder.doubled() if kind == "wait" else self.ladder
