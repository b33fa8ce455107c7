"""`LoopGuard`: hooks of an agent, and what they make of its responses and calls."""

from __future__ import annotations

from typing import Any

from strands.hooks import (
    AfterInvocationEvent,
    AfterModelCallEvent,
    AfterToolCallEvent,
    BeforeInvocationEvent,
    BeforeModelCallEvent,
    BeforeToolCallEvent,
    HookProvider,
    HookRegistry,
)
from strands.types.exceptions import EventLoopException

from unstuck.adapters.strands.places import places_in
from unstuck.errors import LoopStopped as _LoopStopped
from unstuck.events import MAIN, Usage
from unstuck.findings import Finding
from unstuck.guard import Guard, failsafe
from unstuck.live import LiveAgent, current


class LoopStopped(_LoopStopped, EventLoopException):
    """A run was ended because it looped; the event loop passes its own exception on as it is, and swallows what is no `Exception`."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        EventLoopException.__init__(self, Exception(finding.record))


class LoopGuard(Guard, HookProvider):
    """Hooks that watch agents; takes the arguments of `unstuck.guard.Guard`."""

    def register_hooks(self, registry: HookRegistry, **kwargs: Any) -> None:
        """Called by the framework."""
        registry.add_callback(BeforeInvocationEvent, self._begins)
        registry.add_callback(AfterInvocationEvent, self._ends)
        registry.add_callback(BeforeModelCallEvent, self._before_model)
        registry.add_callback(AfterModelCallEvent, self._after_model)
        registry.add_callback(BeforeToolCallEvent, self._before_tool)
        registry.add_callback(AfterToolCallEvent, self._after_tool)

    def _begins(self, event: BeforeInvocationEvent) -> None:
        places, name = places_in(event.invocation_state), _name(event.agent)
        before = places.latest
        if before is None or current() is not None or name == before.name:
            places.begin(event.agent, self.start(name))
        elif places.working:  # beside it, in a graph
            places.begin(event.agent, before.run.agent(name, before.parent, before.depth))
        else:
            places.begin(event.agent, before.hand_over(name))

    def _ends(self, event: AfterInvocationEvent) -> None:
        places_in(event.invocation_state).working.discard(id(event.agent))

    def _before_model(self, event: BeforeModelCallEvent) -> None:
        agent = self._agent(event)
        if not self.graceful:
            agent.halt(LoopStopped)
        text = agent.nudge()
        if text is not None:  # roles alternate: it goes to the end of the message that holds the results
            event.agent.messages[-1]["content"].append({"text": text})

    def _after_model(self, event: AfterModelCallEvent) -> None:
        if event.stop_response is not None:
            self._heard(self._agent(event), event.stop_response.message)

    def _before_tool(self, event: BeforeToolCallEvent) -> None:
        agent = self._agent(event)
        refusal = self._called(agent, event)
        if refusal is None:
            agent.enter()
            return
        event.cancel_tool = refusal
        if self.graceful and agent.run.stopped is not None:
            try:
                event.agent.cancel(message=refusal, after_current_tools=True)
            except TypeError:  # before release 1.62
                event.invocation_state.setdefault("request_state", {})["stop_event_loop"] = True

    def _after_tool(self, event: AfterToolCallEvent) -> None:
        agent = self._agent(event)
        if event.cancel_message is None:
            agent.leave()
            if not getattr(
                event, "retry", False
            ):  # another hook has the tool run again: that result is the one the model reads
                self._returned(agent, event)

    def _agent(self, event: Any) -> LiveAgent:
        places = places_in(event.invocation_state)
        found = places.agents.get(id(event.agent))
        return places.begin(event.agent, self.start(_name(event.agent))) if found is None else found

    @failsafe
    def _heard(self, agent: LiveAgent, message: Any) -> None:
        blocks = message["content"]
        texts = [block["text"] for block in blocks if "text" in block]
        thoughts = [
            block["reasoningContent"].get("reasoningText", {}).get("text", "")
            for block in blocks
            if "reasoningContent" in block
        ]
        used, usage = message.get("metadata", {}).get("usage"), None
        if used is not None:
            read, written = used.get("cacheReadInputTokens") or 0, used.get("cacheWriteInputTokens") or 0
            usage = Usage(used["inputTokens"] + read + written, used["outputTokens"], read, written)
        calls = sum("toolUse" in block for block in blocks)
        agent.responded("\n".join(texts), calls, reasoning="\n".join(thoughts) or None, usage=usage)

    @failsafe
    def _called(self, agent: LiveAgent, event: BeforeToolCallEvent) -> str | None:
        use = event.tool_use
        return agent.refusal(use["toolUseId"], use["name"], use["input"])

    @failsafe
    def _returned(self, agent: LiveAgent, event: AfterToolCallEvent) -> None:
        id = event.tool_use["toolUseId"]
        if event.exception is not None:
            agent.failed(id, event.exception)
            return
        agent.returned(id, event.result["content"], "error" if event.result["status"] == "error" else "ok")


def _name(agent: Any) -> str:
    name = getattr(agent, "name", None)
    return name if isinstance(name, str) and name else MAIN
