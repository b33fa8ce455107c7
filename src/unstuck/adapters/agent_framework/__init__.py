"""
Microsoft Agent Framework: `Agent(client, ..., middleware=[LoopGuard()])`, or `agent.run(..., middleware=[LoopGuard()])`.

A stop answers the call with the reason and is raised before the next model call.
"""

from __future__ import annotations

from unstuck.adapters import missing

try:
    from unstuck.adapters.agent_framework.guard import LoopGuard
    from unstuck.adapters.agent_framework.stop import LoopStopped
except ImportError as error:
    raise missing("agent_framework") from error

__all__ = ("LoopGuard", "LoopStopped")
