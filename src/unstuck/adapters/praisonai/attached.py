"""The turns and responses of an agent that is watched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from praisonaiagents.agent.autonomy import AutonomyResult
from praisonaiagents.agent.loop_detection import LoopDetectionConfig

from unstuck.adapters.praisonai.calls import MARK, Calls
from unstuck.adapters.praisonai.turn import TURN, Turn
from unstuck.errors import LoopStopped
from unstuck.live import CURRENT

TRACK = "_track_token_usage"
"""Where each client of PraisonAI notes the tokens of a response, once and before the response's calls run."""


class Attached(Calls):
    """A guard in an agent: its methods stand on the agent itself, in front of those of its class."""

    def take_place(self) -> None:
        """Put the methods there."""
        for name, method in {
            "chat": partial(self.during, "chat"),
            "achat": partial(self.during_async, "achat"),
            "run_autonomous": partial(self.during, "run_autonomous"),
            "run_autonomous_async": partial(self.during_async, "run_autonomous_async"),
            "_start_stream": self.stream,
            "_execute_tool_with_context": self.execute,
            "_execute_tool_with_circuit_breaker": self.run_tool,
            "execute_tool_async": self.execute_async,
            "_execute_tool_async_with_retry": self.run_tool_async,
            "_consume_self_correction": self.prompt,
            "_ensure_loop_guard": self.time_limit,
            "_ensure_loop_detector": lambda: ([], LoopDetectionConfig()),
            "_is_doom_loop": lambda: False,
            "_record_action": lambda *_, **__: None,
        }.items():
            self.own.setdefault(name, getattr(self.agent, name))
            setattr(self.agent, name, method)

    def during(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """`chat` and `run_autonomous`."""
        if self.here() is not None:  # a chat of an autonomous run, or one that PraisonAI begins anew
            return self.own[name](*args, **kwargs)
        with self._turn(name) as turn:
            try:
                return self.own[name](*args, **kwargs)
            except LoopStopped as stop:
                return self._ended(turn, stop)

    async def during_async(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """`achat` and `run_autonomous_async`."""
        if self.here() is not None:
            return await self.own[name](*args, **kwargs)
        with self._turn(name) as turn:
            try:
                return await self.own[name](*args, **kwargs)
            except LoopStopped as stop:
                return self._ended(turn, stop)

    def stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """`iter_stream`: the turn holds while the agent works, not while its caller does."""
        turn = self._begin("stream")
        chunks: Iterator[Any] = self.own["_start_stream"](*args, **kwargs)
        try:
            while True:
                token = TURN.set(turn)
                try:
                    chunk = next(chunks)
                except StopIteration:
                    return
                except LoopStopped as stop:
                    chunk, chunks = self._ended(turn, stop), iter(())
                finally:
                    TURN.reset(token)
                yield chunk
        finally:
            _end(turn)

    def prompt(self, prompt: str) -> str:
        """The prompt of the next turn of an autonomous run, with the correction that waits."""
        turn = self.here()
        text = turn.correction() if turn is not None else None
        return prompt if text is None else f"{prompt}\n\n{text}"

    def time_limit(self) -> Turn:
        """What PraisonAI asks before and after each call in place of its Loop Guard."""
        return self.here() or Turn(self.agent, None, autonomous=False)

    @contextmanager
    def _turn(self, name: str) -> Iterator[Turn]:
        turn = self._begin(name)
        token = TURN.set(turn)
        try:
            yield turn
        finally:
            TURN.reset(token)
            _end(turn)

    def _begin(self, name: str) -> Turn:
        for client in (getattr(self.agent, "llm_instance", None), getattr(self.agent, "_openai_client", None)):
            if hasattr(client, TRACK) and not hasattr(client, MARK):  # agents share clients
                setattr(client, TRACK, partial(_heard, getattr(client, TRACK)))
                setattr(client, MARK, True)
        return self.guard.turn(self.agent, autonomous=name.startswith("run_autonomous"))

    def _ended(self, turn: Turn, stop: LoopStopped) -> Any:
        """What a stopped run returns where it ends quietly."""
        if turn.place is None or not self.guard.graceful:
            raise stop
        text = turn.place.run.stop_text or ""
        return AutonomyResult(success=False, output=text, completion_reason="loop_stopped") if turn.autonomous else text


def _end(turn: Turn) -> None:
    if turn.place is not None and not turn.place.depth:
        turn.place.run.end()


def _heard(own: Any, response: Any, model: Any = None, *rest: Any, **more: Any) -> Any:
    """A response came: whose turn it is, and no tool runs, hears it."""
    turn = TURN.get()
    if turn is not None and turn.place is not None and CURRENT.get() is turn.place.above:
        getattr(turn.owner, MARK).guard.heard(turn.place, turn, response, model)
        turn.place.check()
    return own(response, model, *rest, **more)
