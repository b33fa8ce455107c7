"""`LoopGuard`: hooks of a run, and what they make of its responses and calls."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from agents import RunHooks
from agents.exceptions import AgentsException
from agents.tool_context import ToolContext

from unstuck.adapters.openai_agents.guardrail import CALL, ask, attach, key_of
from unstuck.errors import LoopStopped as _LoopStopped
from unstuck.events import Usage
from unstuck.guard import MOST_RUNS, Guard, OnStop, failsafe
from unstuck.live import LiveAgent

ERROR = "An error occurred while running the tool"
"""How the SDK's own answer for a tool that raised begins."""


class LoopStopped(_LoopStopped, AgentsException):
    """A run was ended because it looped; the SDK passes its own exceptions on as they are."""


class LoopGuard(Guard, RunHooks[Any]):
    """
    Hooks that watch runs; takes the arguments of `unstuck.guard.Guard`, without `on_stop="end"`.

    The SDK answers for every tool that raises with one sentence. `RunConfig(tool_error_formatter=guard.tool_error)` shows the guard
    the errors themselves, and leaves the sentence as it is.
    """

    stops: tuple[OnStop, ...] = ("error",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._calls: dict[tuple[int, str], LiveAgent] = {}  # where each open call belongs
        ask(self)

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        """An agent starts, the first of its run or after a hand-off."""
        self._attach(self._place(context, agent), agent)

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        """The conversation goes to another agent."""
        self._handed_over(self._place(context, from_agent), to_agent)
        self.take_over(key_of(context), to_agent.name)

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: str | None, input_items: list[Any]) -> None:
        """The place for a nudge, and for a stop; a request is made anew from the history each time."""
        place = self._place(context, agent)
        place.halt(LoopStopped)
        place.tell(input_items, _answered, lambda text: {"role": "user", "content": text})

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """The model answered."""
        self._heard(self._place(context, agent), response)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        """A tool runs that the guardrail let through; after a resumed approval its call is first seen here."""
        if isinstance(context, ToolContext):
            self._called(self._place_of_call(context, agent), context)

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        """A tool has run."""
        if isinstance(context, ToolContext):
            self._returned(self._place_of_call(context, agent), context.tool_call_id, result)
            self._calls.pop((id(context.usage), context.tool_call_id), None)

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        """The run ends; where a tool's answer was the last one there was no model call at which to raise a stop."""
        place = self._place(context, agent)
        self.end(key_of(context))
        place.check(LoopStopped)

    def tool_error(self, failure: Any) -> None:
        """For `RunConfig(tool_error_formatter=...)`: what a tool raised."""
        place = self._calls.get((id(failure.run_context.usage), failure.call_id))
        if place is not None and failure.kind == "tool_exception":
            place.failed(failure.call_id, failure.error)

    def _place(self, context: Any, agent: Any) -> LiveAgent:
        return self.at(key_of(context), agent.name, context.usage)

    def _place_of_call(self, context: Any, agent: Any) -> LiveAgent:
        return self._calls.get((id(context.usage), context.tool_call_id)) or self._place(context, agent)

    @failsafe
    def _attach(self, place: LiveAgent, agent: Any) -> None:
        attach(agent)

    def watches(self, key: Hashable) -> bool:
        """Whether this is the guard of the run known by *key*."""
        return key in self._runs

    def before_call(self, data: Any) -> str | None:
        """The words in place of a call that must not run."""
        context = data.context
        place = self._place(context, data.agent)
        refusal = self._called(place, context)
        if refusal is None:
            self._calls[id(context.usage), context.tool_call_id] = place
            if len(self._calls) > MOST_RUNS:  # a run that is broken off leaves its calls behind
                del self._calls[next(iter(self._calls))]
            place.enter()  # the tool runs in this task, and nothing else does
            CALL.set(context.tool_call_id)
        return refusal

    @failsafe
    def _called(self, place: LiveAgent, context: Any) -> str | None:
        approved = context.is_tool_approved(context.tool_name, context.tool_call_id) is True
        return place.refusal(context.tool_call_id, context.tool_name, context.tool_arguments, approved=approved)

    @failsafe
    def _returned(self, place: LiveAgent, id: str, result: Any) -> None:
        place.returned(id, result, "error" if isinstance(result, str) and result.startswith(ERROR) else "ok")

    @failsafe
    def _handed_over(self, place: LiveAgent, to_agent: Any) -> None:
        place.called(id := f"handoff-{next(place.run.ids)}", f"transfer_to_{to_agent.name}", None)
        place.returned(id, f"{to_agent.name} goes on")

    @failsafe
    def _heard(self, place: LiveAgent, response: Any) -> None:
        parts = [part for item in response.output if item.type == "message" for part in item.content]
        text = "\n".join(part.text for part in parts if part.type == "output_text")
        calls = sum(item.type in ("function_call", "custom_tool_call") for item in response.output)
        usage = response.usage
        cached = getattr(usage.input_tokens_details, "cached_tokens", 0) or 0
        place.responded(text, calls, usage=Usage(usage.input_tokens, usage.output_tokens, cached))


def _answered(item: Any) -> str | None:
    return item.get("call_id") if isinstance(item, dict) and str(item.get("type")).endswith("_output") else None
