"""
The guard for Pydantic AI (extra `pydantic-ai`): `Agent(..., capabilities=[LoopGuard()])`.

`docs/frameworks/pydantic_ai.md` shows what it does.
"""

from __future__ import annotations

from unstuck.adapters import missing

try:
    from unstuck.adapters.pydantic_ai.guard import LoopGuard
    from unstuck.adapters.pydantic_ai.outcome import LoopStopped, Records, RunRecord
except ImportError as error:
    raise missing("pydantic_ai") from error

__all__ = ("LoopGuard", "LoopStopped", "Records", "RunRecord")
