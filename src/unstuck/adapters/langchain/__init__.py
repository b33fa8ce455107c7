"""
LangChain and LangGraph: `create_agent(..., middleware=[LoopGuard()])`, or `LoopGuard().tool_node(tools)` in a graph of your own.

A stop blocks the call, lets the results of its round into the history, and is raised before the next model call. In a graph of your
own there is no such place: it is raised at the call.
"""

from __future__ import annotations

from unstuck.adapters import missing
from unstuck.errors import LoopStopped

try:
    from unstuck.adapters.langchain.middleware import LoopGuard
except ImportError as error:
    raise missing("langchain") from error

__all__ = ("LoopGuard", "LoopStopped")
