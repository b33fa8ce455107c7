"""
Google ADK: `App(name=..., root_agent=..., plugins=[LoopGuard()])`.

A stop answers the call with the reason and is raised before the next model call. `LoopStopped` is no `Exception`, so the plugin manager
does not wrap it into a `RuntimeError`.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from unstuck.adapters import missing
from unstuck.errors import LoopStopped
from unstuck.events import Usage
from unstuck.guard import Guard, failsafe
from unstuck.live import LiveAgent

try:
    from google.adk.models.llm_response import LlmResponse
    from google.adk.plugins.base_plugin import BasePlugin
    from google.genai import types
except ImportError as error:
    raise missing("google_adk") from error

__all__ = ("LoopGuard", "LoopStopped")


class LoopGuard(Guard, BasePlugin):
    """A plugin that watches the invocations of an app; takes the arguments of `unstuck.guard.Guard`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        Guard.__init__(self, *args, **kwargs)
        BasePlugin.__init__(self, name="unstuck")

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        """An invocation begins; inside a tool it is a sub-agent's."""
        self.begin(invocation_context.invocation_id, invocation_context.agent.name)

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """It ends; where a tool's answer was the last one there was no model call at which to raise a stop."""
        agent = self.at(invocation_context.invocation_id)
        self.end(invocation_context.invocation_id)
        if not self.graceful:
            agent.check(LoopStopped)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        """The place for a nudge, and for a stop."""
        agent = self._agent(callback_context)
        if agent.run.stopped is not None and self.graceful:
            return LlmResponse(content=_content("model", agent.run.stop_text), custom_metadata={"unstuck": "loop_stopped"})
        agent.halt(LoopStopped)
        results = count(1)  # ids are taken out of requests, so results are told by their order
        agent.tell(
            llm_request.contents,
            lambda content: str(next(results)) if any(part.function_response for part in content.parts or ()) else None,
            lambda text: _content("user", text),
        )
        return None

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """The model answered; parts of a streamed response are left out, the whole follows."""
        if not llm_response.partial:
            self._heard(self._agent(callback_context), llm_response)

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> dict[str, Any] | None:
        """A call is about to run; what is returned stands for its result."""
        agent = self._agent(tool_context)
        refusal = self._called(agent, tool, tool_args, tool_context)
        if refusal is None:
            agent.enter()
        return refusal

    async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> None:
        """A call has run."""
        agent = self._agent(tool_context)
        agent.leave()
        self._returned(agent, tool_context, result)

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception) -> None:
        """A call raised."""
        agent = self._agent(tool_context)
        agent.leave()
        self._failed(agent, tool_context, error)

    def _agent(self, context: Any) -> LiveAgent:
        """The agent that acts; where it is another one than before, the conversation was handed over."""
        agent = self.at(context.invocation_id, context.agent_name)
        if context.agent_name in (agent.name, agent.name.partition("#")[0]):
            return agent
        return self.take_over(context.invocation_id, context.agent_name)

    @failsafe
    def _heard(self, agent: LiveAgent, response: Any) -> None:
        parts = (response.content.parts if response.content else None) or []
        text = "".join(part.text for part in parts if part.text and not part.thought)
        thought = "".join(part.text for part in parts if part.text and part.thought) or None
        used, usage = response.usage_metadata, None
        if used is not None:
            read, cached = used.prompt_token_count or 0, used.cached_content_token_count or 0
            usage = Usage(read, (used.candidates_token_count or 0) + (used.thoughts_token_count or 0), cached)
        agent.responded(text, sum(part.function_call is not None for part in parts), reasoning=thought, usage=usage)

    @failsafe
    def _called(self, agent: LiveAgent, tool: Any, args: Any, context: Any) -> dict[str, Any] | None:
        refusal = agent.refusal(context.function_call_id or "", tool.name, args)
        return None if refusal is None else {"error": refusal}

    @failsafe
    def _returned(self, agent: LiveAgent, context: Any, result: Any) -> None:
        agent.returned(context.function_call_id or "", result)

    @failsafe
    def _failed(self, agent: LiveAgent, context: Any, error: Exception) -> None:
        agent.failed(context.function_call_id or "", error)


def _content(role: str, text: str | None) -> Any:
    return types.Content(role=role, parts=[types.Part(text=text)])
