"""The guardrail on tools: one for all guards, since tools outlive the guards of the runs that use them."""

from __future__ import annotations

from collections.abc import Hashable
from contextvars import ContextVar
from threading import Lock
from typing import Any, Protocol
from weakref import WeakSet

from agents import FunctionTool, ToolGuardrailFunctionOutput, ToolInputGuardrail


class Asked(Protocol):
    """What a guard answers the guardrail."""

    def watches(self, key: Hashable) -> bool:
        """Whether this is the guard of the run known by *key*."""

    def before_call(self, data: Any) -> str | None:
        """The words in place of a call that must not run."""


CALL: ContextVar[str | None] = ContextVar("unstuck_openai_agents_call", default=None)
"""The call whose tool is running here: a run inside it may share the outer run's usage object."""
_GUARDS: WeakSet[Asked] = WeakSet()
_LOCK = Lock()


def key_of(context: Any) -> tuple[int, str | None]:
    """The run: its usage object is its own, except that a run inside a tool may share it."""
    return id(context.usage), CALL.get()


def ask(guard: Asked) -> None:
    """From here on *guard* is asked about the calls of tools that have the guardrail, for as long as somebody holds it."""
    with _LOCK:
        _GUARDS.add(guard)


def attach(agent: Any) -> None:
    """Put the guardrail before the others of *agent*'s function tools and MCP servers, where it is not there yet."""
    tools = [tool for tool in agent.tools if isinstance(tool, FunctionTool)]
    for owner in (*tools, *(server for server in agent.mcp_servers if hasattr(server, "tool_input_guardrails"))):
        there = owner.tool_input_guardrails or []
        if not any(guardrail.guardrail_function is _before_call for guardrail in there):
            owner.tool_input_guardrails = [ToolInputGuardrail(_before_call, name="unstuck"), *there]


def _before_call(data: Any) -> ToolGuardrailFunctionOutput:
    """A call in a run that no guard watches is let alone."""
    key = key_of(data.context)
    with _LOCK:
        guards = list(_GUARDS)
    refusals = (guard.before_call(data) for guard in guards if guard.watches(key))
    refusal = next(filter(None, refusals), None)
    return ToolGuardrailFunctionOutput.allow() if refusal is None else ToolGuardrailFunctionOutput.reject_content(refusal)
