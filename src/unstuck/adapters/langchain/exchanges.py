"""LangChain's messages, calls and answers in the terms of a live run; shared by the middleware and the tool node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from unstuck.events import MAIN, Usage
from unstuck.guard import Guard, failsafe
from unstuck.live import MARK, LiveAgent

if TYPE_CHECKING:
    from langgraph.prebuilt.tool_node import ToolCallRequest


class Exchanges(Guard):
    """What both doors say about a response and about a call before, while and after it runs."""

    @failsafe
    def heard(self, agent: LiveAgent, state: Any) -> None:
        """The latest response in *state*, once."""
        message = next((message for message in reversed(messages_of(state)) if isinstance(message, AIMessage)), None)
        if message is None:
            return
        model = message.response_metadata.get("model_name")
        agent.heard_once(message.id, str(message.text), len(message.tool_calls), usage=_usage(message), model=model)

    @failsafe
    def called(self, agent: LiveAgent, request: ToolCallRequest) -> ToolMessage | None:
        """The answer in place of a call that must not run."""
        call = request.tool_call
        hints = getattr(request.tool, "metadata", None)
        hints = hints if isinstance(hints, Mapping) else None
        refusal = agent.refusal(call["id"] or "", call["name"], call["args"], annotations=hints)
        if refusal is None:
            return None
        return ToolMessage(refusal, tool_call_id=call["id"], name=call["name"], status="error")

    def running(self, agent: LiveAgent, request: ToolCallRequest) -> AbstractContextManager[None]:
        """While the call runs: an interrupt is no error, the same call goes on when the run is resumed."""
        return agent.running(request.tool_call["id"] or "", GraphBubbleUp)

    @failsafe
    def returned(self, agent: LiveAgent, request: ToolCallRequest, answer: Any) -> None:
        """What the call came to: a message, or a command that holds one."""
        if isinstance(answer, Command):
            update = answer.update if isinstance(answer.update, Mapping) else {}
            answer = next((message for message in update.get("messages", ()) if isinstance(message, ToolMessage)), None)
        failed = getattr(answer, "status", None) == "error"
        agent.returned(request.tool_call["id"] or "", getattr(answer, "content", None), "error" if failed else "ok")


def messages_of(state: Any) -> Sequence[Any]:
    """The messages of a graph's state, in each of its shapes."""
    if isinstance(state, list):
        return state
    found = state.get("messages") if isinstance(state, Mapping) else getattr(state, "messages", None)
    return found or ()


def thread_of(config: Mapping[str, Any]) -> str | None:
    """The thread that a run with a checkpointer belongs to."""
    thread: str | None = config.get("configurable", {}).get("thread_id")
    return thread


def turn_of(state: Any) -> str | None:
    """The id of the person's last message: no other invocation has it, and agents that hand a conversation on share it."""
    said = (message for message in reversed(messages_of(state)) if isinstance(message, HumanMessage))
    return next((message.id for message in said if not str(message.content).startswith(MARK)), None)


def is_nested(config: Mapping[str, Any]) -> bool:
    """Whether the agent is a part of another graph."""
    return "|" in config.get("configurable", {}).get("checkpoint_ns", "")


def name_of(config: Mapping[str, Any]) -> str:
    """What `create_agent(name=...)` called the agent."""
    name = (config.get("metadata") or {}).get("lc_agent_name")
    return name if isinstance(name, str) and name else MAIN


def _usage(message: AIMessage) -> Usage | None:
    usage = message.usage_metadata
    if usage is None:
        return None
    details = usage.get("input_token_details") or {}
    return Usage(
        usage["input_tokens"], usage["output_tokens"], details.get("cache_read") or 0, details.get("cache_creation") or 0
    )
