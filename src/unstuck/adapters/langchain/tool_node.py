"""The guarded `ToolNode` for graphs that are built by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import ToolMessage
from langgraph.prebuilt import ToolNode

from unstuck.adapters.langchain.exchanges import Exchanges, name_of, thread_of, turn_of
from unstuck.errors import LoopStopped
from unstuck.live import LiveAgent

if TYPE_CHECKING:
    from langgraph.prebuilt.tool_node import ToolCallRequest


def in_node(guard: Exchanges, tools: Sequence[Any], options: Mapping[str, Any]) -> ToolNode:
    """A `ToolNode` with *tools* whose calls *guard* watches."""

    def around(request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        agent = _agent(guard, request)
        if (instead := guard.called(agent, request)) is not None:
            agent.check(LoopStopped)
            return instead
        with guard.running(agent, request):
            answer = handler(request)
        guard.returned(agent, request, answer)
        return _with_nudge(answer, agent)

    async def around_async(request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]) -> Any:
        agent = _agent(guard, request)
        if (instead := guard.called(agent, request)) is not None:
            agent.check(LoopStopped)
            return instead
        with guard.running(agent, request):
            answer = await handler(request)
        guard.returned(agent, request, answer)
        return _with_nudge(answer, agent)

    return ToolNode(tools, wrap_tool_call=around, awrap_tool_call=around_async, **options)


def _agent(guard: Exchanges, request: ToolCallRequest) -> LiveAgent:
    config = request.runtime.config
    agent = guard.at((thread_of(config), turn_of(request.state)), name_of(config))
    guard.heard(agent, request.state)
    return agent


def _with_nudge(answer: Any, agent: LiveAgent) -> Any:
    if not isinstance(answer, ToolMessage) or (text := agent.nudge()) is None:
        return answer
    content = answer.content
    told = f"{content}\n\n{text}" if isinstance(content, str) else [*content, {"type": "text", "text": text}]
    return answer.model_copy(update={"content": told})
