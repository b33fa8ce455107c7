"""
Claude Agent SDK: `ClaudeAgentOptions(hooks=guard.hooks())`, and `async for message in guard.watching(query(...))` around the messages.

The hooks observe, nudge, block and end the turn. An exception in a hook goes nowhere, so a stop is raised where the messages are read,
in place of the result message. The messages also tell which calls belong to one response; without `watching` each call is a round.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from unstuck.adapters import missing
from unstuck.errors import LoopStopped
from unstuck.events import Compaction, Usage
from unstuck.guard import Guard, failsafe
from unstuck.live import LiveAgent

try:
    from claude_agent_sdk import AssistantMessage, HookMatcher, ResultMessage, TextBlock, ThinkingBlock, ToolUseBlock
except ImportError as error:
    raise missing("claude_agent_sdk") from error

__all__ = ("LoopGuard", "LoopStopped")


class LoopGuard(Guard):
    """Hooks that watch sessions; takes the arguments of `unstuck.guard.Guard`. With `on_stop="end"` the messages just end."""

    def hooks(self) -> dict[Any, list[HookMatcher]]:
        """For `ClaudeAgentOptions(hooks=...)`; put your own beside them."""
        given: dict[str, Any] = {
            "UserPromptSubmit": self._on_prompt,
            "PreToolUse": self._before_tool,
            "PostToolUse": self._after_tool,
            "PostToolUseFailure": self._after_tool,
            "PreCompact": self._on_compaction,
        }
        return {event: [HookMatcher(hooks=[hook])] for event, hook in given.items()}

    async def watching(self, messages: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """*messages* as they are; raises `LoopStopped` in place of the result message of a turn that was stopped."""
        queue: asyncio.Queue[Any] = asyncio.Queue()
        reading = asyncio.create_task(self._read(messages, queue))
        try:
            while (message := await queue.get()) is not None:
                if isinstance(message, ResultMessage) and not self.graceful:
                    self.at(message.session_id).check(LoopStopped)
                yield message
            await reading
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading

    async def _read(self, messages: AsyncIterator[Any], queue: asyncio.Queue[Any]) -> None:
        """Read ahead of the caller, who may be slow: a response has to be known before the hooks of its calls are."""
        try:
            async for message in messages:
                if isinstance(message, AssistantMessage | ResultMessage) and message.session_id:
                    self._said(self.at(message.session_id), message)
                queue.put_nowait(message)
        finally:
            queue.put_nowait(None)

    async def _on_prompt(self, data: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        self.at(data["session_id"]).run.user(data["prompt"])
        return {}

    async def _on_compaction(self, data: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        agent = self.at(data["session_id"])
        agent.run.observe(Compaction(agent.run.name))
        return {}

    async def _before_tool(self, data: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        agent = self._agent_of(data)
        refusal = self._called(agent, data)
        if refusal is None:
            return {}
        denied = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": refusal}
        answer: dict[str, Any] = {"hookSpecificOutput": denied}
        if agent.run.stopped is not None:
            answer.update(continue_=False, stopReason=refusal)
        return answer

    async def _after_tool(self, data: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        agent = self._agent_of(data)
        self._returned(agent, data)
        if agent.run.stopped is not None:
            return {"continue_": False, "stopReason": agent.run.stop_text}
        told = {"hookEventName": data["hook_event_name"], "additionalContext": agent.nudge()}
        return {"hookSpecificOutput": told} if told["additionalContext"] else {}

    def _agent_of(self, data: Any) -> LiveAgent:
        """The main agent of the session, or the sub-agent that the hook names."""
        main = self.at(data["session_id"])
        id = data.get("agent_id")
        if id is None:
            return main
        with self._lock:
            found = self._runs.get((data["session_id"], id))
            if found is not None:
                return found[0]
            return self.keep((data["session_id"], id), main.run.spawned(data.get("agent_type") or "agent", main))

    @failsafe
    def _said(self, agent: LiveAgent, message: Any) -> None:
        """A response comes block by block; it is told when its first call runs, or when it turns out to have none."""
        pending = agent.pending
        if isinstance(message, ResultMessage) or (pending and pending["id"] != message.message_id):
            self._tell(agent, 0)
        if isinstance(message, ResultMessage) or message.parent_tool_use_id is not None:
            return
        pending = agent.pending = agent.pending or {"id": message.message_id, "text": [], "reasoning": [], "calls": set()}
        pending.update(model=message.model, usage=message.usage)
        for block in message.content:
            if isinstance(block, TextBlock):
                pending["text"].append(block.text)
            elif isinstance(block, ThinkingBlock):
                pending["reasoning"].append(block.thinking)
            elif isinstance(block, ToolUseBlock):
                pending["calls"].add(block.id)

    def _tell(self, agent: LiveAgent, calls: int | None) -> None:
        pending, agent.pending = agent.pending, None
        if pending is None or pending.get("told"):
            return
        used, usage = pending["usage"], None
        if used:
            read, written = used.get("cache_read_input_tokens") or 0, used.get("cache_creation_input_tokens") or 0
            usage = Usage(used.get("input_tokens", 0) + read + written, used.get("output_tokens", 0), read, written)
        reasoning = "\n".join(pending["reasoning"]) or None
        agent.responded("\n".join(pending["text"]), calls, reasoning=reasoning, usage=usage, model=pending["model"])

    @failsafe
    def _called(self, agent: LiveAgent, data: Any) -> str | None:
        pending = agent.pending
        if pending and data["tool_use_id"] in pending["calls"] and not pending.get("told"):
            self._tell(agent, None)
            agent.pending = {**pending, "told": True}
        return agent.refusal(data["tool_use_id"], data["tool_name"], data["tool_input"])

    @failsafe
    def _returned(self, agent: LiveAgent, data: Any) -> None:
        failed = data["hook_event_name"] == "PostToolUseFailure"
        agent.returned(data["tool_use_id"], data["error" if failed else "tool_response"], "error" if failed else "ok")
