"""The middlewares of a guard: around a run, around a request to the model, around a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from agent_framework import AgentMiddleware, ChatMiddleware, FunctionMiddleware, Message

from unstuck.adapters.agent_framework.stop import LoopStopped, last_words
from unstuck.events import MAIN
from unstuck.live import LiveAgent

_AGENT: ContextVar[LiveAgent | None] = ContextVar("unstuck_agent_framework_agent", default=None)


class Told(Protocol):
    """What the middlewares tell a guard; `unstuck.adapters.agent_framework.LoopGuard` says what it makes of it."""

    graceful: bool

    def start(self, agent: str) -> LiveAgent: ...

    def heard(self, agent: LiveAgent, response: Any) -> None: ...

    def called(self, agent: LiveAgent, context: Any) -> str | None: ...

    def returned(self, agent: LiveAgent, context: Any) -> None: ...


class _Part:
    """One of the middlewares of a guard."""

    def __init__(self, guard: Told) -> None:
        self.guard = guard


class Runs(_Part, AgentMiddleware):
    """Around a run: which agent this is, also while a stream is consumed, which may be long after."""

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        agent = self.guard.start(getattr(context.agent, "name", None) or MAIN)
        with _acting(agent):
            try:
                await call_next()
            finally:
                if not context.stream:
                    _over(agent)
        if context.stream and context.result is not None:
            context.result.with_pull_context_manager(lambda: _acting(agent)).with_result_hook(lambda response: _over(agent))


class Requests(_Part, ChatMiddleware):
    """Around a request to the model: the place for a nudge, and for a stop."""

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        agent = _AGENT.get()
        if agent is None:
            return await call_next()
        if agent.run.stopped is not None and self.guard.graceful:
            context.result = last_words(agent.run.stop_text or "", context.stream)
            return None
        agent.halt(LoopStopped)
        agent.tell(context.messages, _answered, lambda text: Message("user", [text]))
        if context.stream:
            context.stream_result_hooks.append(lambda response: self.guard.heard(agent, response))
        await call_next()
        if not context.stream:
            self.guard.heard(agent, context.result)
        return None


class Calls(_Part, FunctionMiddleware):
    """Around a call."""

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        agent = _AGENT.get()
        if agent is None:
            return await call_next()
        if (refusal := self.guard.called(agent, context)) is not None:
            context.result = refusal
            return None
        with agent.running(id_of(context)):
            await call_next()
        self.guard.returned(agent, context)
        return None


@contextmanager
def _acting(agent: LiveAgent) -> Iterator[None]:
    token = _AGENT.set(agent)
    try:
        yield
    finally:
        _AGENT.reset(token)


def id_of(context: Any) -> str:
    """What the model calls the call around which *context* is."""
    return str(context.metadata.get("call_id") or "")


def _over(agent: LiveAgent) -> None:
    if not agent.depth:
        agent.run.end()


def _answered(message: Any) -> str | None:
    """The call whose result is the last that *message* holds."""
    return next((content.call_id for content in reversed(message.contents) if content.type == "function_result"), None)
