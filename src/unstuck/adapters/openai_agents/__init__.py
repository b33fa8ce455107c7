"""
OpenAI Agents SDK: `Runner.run(agent, request, hooks=LoopGuard())`.

Hooks alone cannot keep a call from running, so an input guardrail is put on the function tools of each agent that starts. A stop refuses
the call and is raised before the next model call. Hosted, computer and shell tools are not counted.
"""

from __future__ import annotations

from unstuck.adapters import missing

try:
    from unstuck.adapters.openai_agents.guard import LoopGuard, LoopStopped
except ImportError as error:
    raise missing("openai_agents") from error

__all__ = ("LoopGuard", "LoopStopped")
