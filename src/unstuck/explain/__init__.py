"""
Why findings fell: a finished run is replayed, and every count is followed exchange by exchange.

Nothing is reconstructed: a first replay hears the evidence of each loop, a second reads the ledger's own counters before and after
each event. The events of one run are kept in memory, and the explanation holds what is to be shown of arguments and results.
"""

from __future__ import annotations

from unstuck.explain.answer import Closest, Decided, Entry, Exchange, Explanation, LeftOut, Next, Reset, Rung, Shown, Strand
from unstuck.explain.closest import closest
from unstuck.explain.reasons import WHY
from unstuck.explain.replay import explain

__all__ = [
    "WHY",
    "Closest",
    "Decided",
    "Entry",
    "Exchange",
    "Explanation",
    "LeftOut",
    "Next",
    "Reset",
    "Rung",
    "Shown",
    "Strand",
    "closest",
    "explain",
]
