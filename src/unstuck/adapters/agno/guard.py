"""`LoopGuard`: a hook around calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from inspect import isasyncgen, isawaitable
from typing import Any

from agno.exceptions import StopAgentRun

from unstuck.adapters.agno.answers import content_of, text_of, with_text
from unstuck.errors import LoopStopped
from unstuck.events import MAIN, Usage
from unstuck.guard import Guard, failsafe
from unstuck.live import LiveAgent

END = object()
"""What is behind the last part of an answer."""


class LoopGuard(Guard):
    """A tool hook that watches agents, for `run` and `arun` alike; takes the arguments of `unstuck.guard.Guard`."""

    __name__ = "unstuck"

    def __call__(
        self,
        function_name: str,
        function_call: Callable[..., Any],
        arguments: dict[str, Any],
        run_context: Any,
        agent: Any,
        team: Any,
    ) -> Any:
        """Around a call; Agno goes by the names of these arguments."""
        live = self.at(run_context.run_id, getattr(team if agent is None else agent, "name", None) or MAIN)
        self._heard(live, run_context)
        id = f"call-{next(live.run.ids)}"  # Agno does not tell a hook the id of its call
        refusal = self._called(live, id, function_name, arguments)
        if refusal is not None:
            return self._refused(live, refusal)
        with live.running(id):
            answer = function_call(**arguments)
        return self._came(live, id, answer)

    def _came(self, live: LiveAgent, id: str, answer: Any) -> Any:
        if isinstance(answer, Iterator):
            return self._streamed(live, id, answer)
        if isasyncgen(answer):
            return self._astreamed(live, id, answer)
        return self._awaited(live, id, answer) if isawaitable(answer) else self._returned(live, id, answer)

    async def _awaited(self, live: LiveAgent, id: str, answer: Awaitable[Any]) -> Any:
        with live.running(id):
            value = await answer
        return self._came(live, id, value)

    def _streamed(self, live: LiveAgent, id: str, parts: Iterator[Any]) -> Iterator[Any]:
        """A tool that answers in parts runs while they are taken; a nudge is its last part."""
        texts: list[str] = []
        while True:
            with live.running(id):
                part = next(parts, END)
            if part is END:
                break
            texts.append(text_of(part))
            yield part
        yield from self._ended(live, id, texts)

    async def _astreamed(self, live: LiveAgent, id: str, parts: AsyncIterator[Any]) -> AsyncIterator[Any]:
        texts: list[str] = []
        while True:
            with live.running(id):
                part = await anext(parts, END)
            if part is END:
                break
            texts.append(text_of(part))
            yield part
        for last in self._ended(live, id, texts):
            yield last

    def _ended(self, live: LiveAgent, id: str, texts: list[str]) -> list[str]:
        self._told(live, id, "".join(texts))
        text = live.nudge()
        return [] if text is None else [f"\n\n{text}"]

    def _refused(self, live: LiveAgent, refusal: str) -> str:
        if self.graceful and live.run.stopped is not None:
            raise StopAgentRun(refusal, agent_message=refusal)
        live.check(LoopStopped)
        return refusal

    @failsafe
    def _heard(self, live: LiveAgent, run_context: Any) -> None:
        messages = run_context.messages or ()
        message = next((message for message in reversed(messages) if message.role == "assistant"), None)
        if message is None:
            return
        used, usage = message.metrics, None
        if used is not None:
            usage = Usage(
                used.input_tokens or 0, used.output_tokens or 0, used.cache_read_tokens or 0, used.cache_write_tokens or 0
            )
        text = message.content if isinstance(message.content, str) else None
        live.heard_once(message.id, text, len(message.tool_calls or ()), usage=usage)

    @failsafe
    def _called(self, live: LiveAgent, id: str, tool: str, args: dict[str, Any]) -> str | None:
        return live.refusal(id, tool, dict(args))

    def _returned(self, live: LiveAgent, id: str, answer: Any) -> Any:
        """The answer as it is; where a nudge waits, what the model would read of it with the nudge behind."""
        self._told(live, id, content_of(answer))
        text = live.nudge()
        return answer if text is None else with_text(answer, text)

    @failsafe
    def _told(self, live: LiveAgent, id: str, answer: Any) -> None:
        live.returned(id, answer)
