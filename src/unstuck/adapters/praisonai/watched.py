"""The turns and responses of an agent that is watched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any

from praisonaiagents.agent.autonomy import AutonomyResult
from praisonaiagents.agent.loop_detection import LoopDetectionConfig

from unstuck.adapters.praisonai.calls import Calls
from unstuck.adapters.praisonai.turn import TURN, Turn
from unstuck.errors import LoopStopped
from unstuck.live import CURRENT

TRACK, HEARS = "_track_token_usage", "_unstuck_hears"
"""Where each client of PraisonAI notes the tokens of a response, once and before its calls run; and the mark that we listen there."""
_LISTENING = Lock()


class Watched(Calls):
    """
    An agent under a guard. It is one by its class, so that copies of it are watched too, each for itself.

    PraisonAI's own detection is off: its loop detector, the counts of its Loop Guard, the doom-loop check of autonomous runs.
    """

    def chat(self, *args: Any, **kwargs: Any) -> Any:
        """A turn; in an autonomous run, or where PraisonAI begins anew, a part of the one that goes on."""
        if self._here() is not None:
            return super().chat(*args, **kwargs)
        with self._turn() as turn:
            try:
                return super().chat(*args, **kwargs)
            except LoopStopped as stop:
                return self._ended(turn, stop)

    async def achat(self, *args: Any, **kwargs: Any) -> Any:
        """The same."""
        if self._here() is not None:
            return await super().achat(*args, **kwargs)
        with self._turn() as turn:
            try:
                return await super().achat(*args, **kwargs)
            except LoopStopped as stop:
                return self._ended(turn, stop)

    def run_autonomous(self, *args: Any, **kwargs: Any) -> Any:
        """An autonomous run: one run, whose chats are its turns."""
        with self._turn(autonomous=True) as turn:
            try:
                return super().run_autonomous(*args, **kwargs)
            except LoopStopped as stop:
                return self._ended(turn, stop)

    async def run_autonomous_async(self, *args: Any, **kwargs: Any) -> Any:
        """The same."""
        with self._turn(autonomous=True) as turn:
            try:
                return await super().run_autonomous_async(*args, **kwargs)
            except LoopStopped as stop:
                return self._ended(turn, stop)

    def _start_stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """`iter_stream`: the turn holds while the agent works, not while its caller does."""
        turn, chunks = self._begin(autonomous=False), super()._start_stream(*args, **kwargs)
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

    def _consume_self_correction(self, prompt: str) -> str:
        """The prompt of the next turn of an autonomous run, with the correction that waits."""
        turn = self._here()
        return prompt if turn is None or (text := turn.correction()) is None else f"{prompt}\n\n{text}"

    def _ensure_loop_guard(self) -> Turn:
        """What PraisonAI asks before and after each call: its time limit is left."""
        return self._here() or Turn(self, None, autonomous=False)

    def _ensure_loop_detector(self) -> tuple[list[Any], LoopDetectionConfig]:
        return [], LoopDetectionConfig()  # which is off

    def _is_doom_loop(self) -> bool:
        return False

    def _record_action(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: what was done in a turn is counted call by call."""

    @contextmanager
    def _turn(self, autonomous: bool = False) -> Iterator[Turn]:
        turn = self._begin(autonomous)
        token = TURN.set(turn)
        try:
            yield turn
        finally:
            TURN.reset(token)
            _end(turn)

    def _begin(self, autonomous: bool) -> Turn:
        for client in (getattr(self, "llm_instance", None), getattr(self, "_openai_client", None)):
            with _LISTENING:  # agents share clients
                if hasattr(client, TRACK) and not hasattr(client, HEARS):
                    setattr(client, TRACK, partial(_heard, getattr(client, TRACK)))
                    setattr(client, HEARS, True)
        turn: Turn = self.guard.turn(self, autonomous)
        return turn

    def _ended(self, turn: Turn, stop: LoopStopped) -> Any:
        """What a stopped run returns where it ends quietly."""
        if turn.place is None or not self.guard.graceful:
            raise stop
        text = turn.place.run.stop_text or ""
        return AutonomyResult(success=False, output=text, completion_reason="loop_stopped") if turn.autonomous else text


def watch(agent: Any, guard: Any) -> None:
    """Make *agent* one that *guard*, a `LoopGuard`, watches."""
    base = agent.own if isinstance(agent, Watched) else type(agent)
    names = {"guard": guard, "own": base, "__module__": base.__module__, "__qualname__": base.__qualname__}
    agent.__class__ = type(base.__name__, (Watched, base), names)


def _end(turn: Turn) -> None:
    if turn.place is not None and not turn.place.depth:
        turn.place.run.end()


def _heard(own: Any, response: Any, model: Any = None, *rest: Any, **more: Any) -> Any:
    """A response came: whose turn it is, and no tool of whom runs, hears it."""
    turn = TURN.get()
    if turn is not None and turn.place is not None and CURRENT.get() is not turn.place:
        turn.owner.guard.heard(turn.place, turn, response, model)
        turn.place.check()
    return own(response, model, *rest, **more)
