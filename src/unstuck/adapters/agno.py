"""
Agno: `Agent(..., tool_hooks=[LoopGuard()])`, and the same for a `Team`.

A tool hook is all that Agno offers a guard: a nudge stands at the end of the round's last result, and a stop is raised at the call.
`LoopStopped` is no `Exception`, because Agno turns those into tool errors and goes on.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from inspect import isasyncgen, isawaitable, isgenerator
from typing import Any

from unstuck.errors import LoopStopped, MissingDependencyError
from unstuck.events import MAIN, Usage
from unstuck.guard import Guard, failsafe
from unstuck.live import LiveAgent

try:
    from agno.exceptions import StopAgentRun
except ImportError as error:
    raise MissingDependencyError("agno", "agno") from error

__all__ = ("LoopGuard", "LoopStopped")


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
        live.enter()
        try:
            answer = function_call(**arguments)
        except Exception as error:
            self._failed(live, id, error)
            raise
        finally:
            live.leave()
        if isgenerator(answer):
            return self._streamed(live, id, answer)
        if isasyncgen(answer):
            return self._astreamed(live, id, answer)
        return self._awaited(live, id, answer) if isawaitable(answer) else self._returned(live, id, answer)

    async def _awaited(self, live: LiveAgent, id: str, answer: Awaitable[Any]) -> Any:
        live.enter()
        try:
            value = await answer
        except Exception as error:
            self._failed(live, id, error)
            raise
        finally:
            live.leave()
        return self._returned(live, id, value)

    def _streamed(self, live: LiveAgent, id: str, parts: Iterator[Any]) -> Iterator[Any]:
        """A tool that answers in parts runs while they are taken."""
        texts: list[str] = []
        for part in _inside(live, parts):
            texts.append(part if isinstance(part, str) else "")
            yield part
        self._told(live, id, "".join(texts))

    async def _astreamed(self, live: LiveAgent, id: str, parts: AsyncIterator[Any]) -> AsyncIterator[Any]:
        texts: list[str] = []
        live.enter()
        async for part in parts:
            live.leave()
            texts.append(part if isinstance(part, str) else "")
            yield part
            live.enter()
        live.leave()
        self._told(live, id, "".join(texts))

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
        """The answer as it is, with the nudge behind it where one waits and the answer is text."""
        self._told(live, id, answer)
        text = live.nudge() if isinstance(answer, str) else None
        return answer if text is None else f"{answer}\n\n{text}"

    @failsafe
    def _told(self, live: LiveAgent, id: str, answer: Any) -> None:
        live.returned(id, answer)

    @failsafe
    def _failed(self, live: LiveAgent, id: str, error: Exception) -> None:
        live.failed(id, error)


def _inside(live: LiveAgent, parts: Iterator[Any]) -> Iterator[Any]:
    while True:
        with live.inside():
            try:
                part = next(parts)
            except StopIteration:
                return
        yield part
