"""
Microsoft Agent Framework: `Agent(client, ..., middleware=[LoopGuard()])`, or `agent.run(..., middleware=[LoopGuard()])`.

A stop answers the call with the reason and is raised before the next model call. A nudge stands in one request only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any
from warnings import catch_warnings

from unstuck.errors import LoopStopped as _LoopStopped
from unstuck.errors import MissingDependencyError
from unstuck.events import MAIN, Usage
from unstuck.guard import Guard, failsafe
from unstuck.live import LiveAgent

try:
    from agent_framework import (
        AgentMiddleware,
        ChatMiddleware,
        ChatResponse,
        FunctionMiddleware,
        Message,
        MiddlewareBundle,
        MiddlewareFailure,
    )
except ImportError as error:
    raise MissingDependencyError("agent-framework-core", "agent-framework") from error

__all__ = ("LoopGuard", "LoopStopped")

_AGENT: ContextVar[LiveAgent | None] = ContextVar("unstuck_agent_framework_agent", default=None)


class LoopStopped(_LoopStopped, MiddlewareFailure):
    """A run was ended because it looped; the framework passes this failure on, where it absorbs others."""


with catch_warnings(action="ignore"):

    class _Bundle(MiddlewareBundle):
        """The framework says once in a process that bundles are experimental; the guard's users need not hear it."""


class LoopGuard(Guard, _Bundle):
    """Middleware that watches agents; takes the arguments of `unstuck.guard.Guard`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        Guard.__init__(self, *args, **kwargs)
        _Bundle.__init__(self, [_Runs(self), _Requests(self), _Calls(self)])

    @failsafe
    def heard(self, agent: LiveAgent, response: Any) -> None:
        """The model answered; for a streamed answer, once it is whole."""
        contents = [content for message in response.messages for content in message.contents]
        names = ("input_token_count", "output_token_count", "cache_read_input_token_count")
        used = response.usage_details
        usage = Usage(*(used.get(name) or 0 for name in names)) if used else None
        calls = sum(content.type == "function_call" for content in contents)
        agent.responded(response.text, calls, usage=usage, model=response.model if hasattr(response, "model") else None)

    @failsafe
    def called(self, agent: LiveAgent, context: Any) -> str | None:
        """The words in place of the result of a call that must not run."""
        given = context.arguments
        args = dict(given) if isinstance(given, Mapping) else given.model_dump()
        return agent.refusal(_id(context), context.function.name, args)

    @failsafe
    def returned(self, agent: LiveAgent, context: Any) -> None:
        """A call has run."""
        result = context.result
        if isinstance(result, list):
            result = "\n".join(str(getattr(part, "text", part)) for part in result)
        agent.returned(_id(context), result)

    @failsafe
    def failed(self, agent: LiveAgent, context: Any, error: Exception) -> None:
        """A call raised."""
        agent.failed(_id(context), error)


class _Part:
    """One of the middlewares of a guard."""

    def __init__(self, guard: LoopGuard) -> None:
        self.guard = guard


class _Runs(_Part, AgentMiddleware):
    """Around a run: which agent this is."""

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        agent = self.guard.start(getattr(context.agent, "name", None) or MAIN)
        token = _AGENT.set(agent)
        try:
            await call_next()
        finally:
            if not context.stream:  # a stream is consumed after this
                _AGENT.reset(token)
                if not agent.depth:
                    agent.run.end()


class _Requests(_Part, ChatMiddleware):
    """Around a request to the model: the place for a nudge, and for a stop."""

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        agent = _AGENT.get()
        if agent is None:
            return await call_next()
        if agent.run.stopped is not None and self.guard.graceful:
            context.result = ChatResponse(messages=[Message("assistant", [agent.run.stop_text or ""])])
            return None
        agent.check(LoopStopped)
        if (text := agent.nudge()) is not None:
            context.messages.append(Message("user", [text]))
        if context.stream:
            context.stream_result_hooks.append(lambda response: self.guard.heard(agent, response))
        await call_next()
        if not context.stream:
            self.guard.heard(agent, context.result)
        return None


class _Calls(_Part, FunctionMiddleware):
    """Around a call."""

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        agent = _AGENT.get()
        if agent is None:
            return await call_next()
        if (refusal := self.guard.called(agent, context)) is not None:
            context.result = refusal
            return None
        try:
            with agent.inside():
                await call_next()
        except Exception as error:
            self.guard.failed(agent, context, error)
            raise
        self.guard.returned(agent, context)
        return None


def _id(context: Any) -> str:
    return str(context.metadata.get("call_id") or "")
