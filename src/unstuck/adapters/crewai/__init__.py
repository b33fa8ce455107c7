"""
CrewAI: `with LoopGuard().watching(): crew.kickoff()`, with `kickoff_async` and `akickoff` too.

A stop blocks the call and is raised before the next model call: that is where CrewAI lets an exception of a hook out. Its hooks are not
told of responses that hold calls, nor of tokens; responses are counted by the requests that lead to them.
"""

from __future__ import annotations

from unstuck.adapters import missing

try:
    from unstuck.adapters.crewai.guard import LoopGuard
    from unstuck.adapters.crewai.hooks import LoopStopped
except ImportError as error:
    raise missing("crewai") from error

__all__ = ("LoopGuard", "LoopStopped")
