"""
Agno: `Agent(..., tool_hooks=[LoopGuard()])`, and the same for a `Team`.

A tool hook is all that Agno offers a guard: a nudge stands at the end of the round's last result, and a stop is raised at the call.
`LoopStopped` is no `Exception`, because Agno turns those into tool errors and goes on.
"""

from __future__ import annotations

from unstuck.adapters import missing
from unstuck.errors import LoopStopped

try:
    from unstuck.adapters.agno.guard import LoopGuard
except ImportError as error:
    raise missing("agno") from error

__all__ = ("LoopGuard", "LoopStopped")
