"""
Strands Agents: `Agent(..., hooks=[LoopGuard()])`.

A stop cancels the call with the reason, lets the results of its round into the conversation, and is raised before the next model call.
"""

from __future__ import annotations

from unstuck.adapters import missing

try:
    from unstuck.adapters.strands.guard import LoopGuard, LoopStopped
except ImportError as error:
    raise missing("strands") from error

__all__ = ("LoopGuard", "LoopStopped")
