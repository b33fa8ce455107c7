"""
PraisonAI: `agent = LoopGuard().attach(Agent(...))`.

The guard takes the place of the agent's own detection: PraisonAI's Loop Detection, Loop Guard and the doom-loop check of autonomous
runs are off for an agent that it watches; time limits stay. `docs/compat/praisonai.md` shows what it does.
"""

from __future__ import annotations

from unstuck.adapters import missing
from unstuck.errors import LoopStopped

try:
    from unstuck.adapters.praisonai.guard import LoopGuard
except ImportError as error:
    raise missing("praisonai") from error

__all__ = ("LoopGuard", "LoopStopped")
