"""Around each call of an agent that is watched: outside all that PraisonAI does for it, and where the tool itself would run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from praisonaiagents import Agent

from unstuck.adapters.praisonai.turn import EXCHANGE, TURN, Exchange, Turn, with_text


class Calls(Agent):  # type: ignore[misc]
    """The methods in which an agent executes calls, with *guard* around them."""

    guard: ClassVar[Any]
    """The `LoopGuard`."""

    def _here(self) -> Turn | None:
        """The agent's turn in this thread or task."""
        turn = TURN.get()
        return turn if turn is not None and turn.owner is self else None

    def _execute_tool_with_context(self, function_name: str, arguments: Any, *rest: Any, **more: Any) -> Any:
        """Around hooks, traces, events and retries of a call in a synchronous run."""
        id = rest[1] if len(rest) > 1 else more.get("tool_call_id")
        with self._exchange(id) as exchange:
            result = super()._execute_tool_with_context(function_name, arguments, *rest, **more)
        return self._settled(exchange, function_name, arguments, result)

    async def execute_tool_async(self, function_name: str, arguments: Any, *rest: Any, **more: Any) -> Any:
        """The same in an asynchronous one."""
        id = rest[0] if rest else more.get("tool_call_id")
        with self._exchange(id) as exchange:
            result = await super().execute_tool_async(function_name, arguments, *rest, **more)
        return self._settled(exchange, function_name, arguments, result)

    def _execute_tool_with_circuit_breaker(self, function_name: str, arguments: Any) -> Any:
        """Where the tool itself would run, each time that PraisonAI tries it."""
        instead = self._instead(function_name, arguments)
        if instead is not None:
            return instead
        with self._inside():
            return super()._execute_tool_with_circuit_breaker(function_name, arguments)

    async def _execute_tool_async_with_retry(self, function_name: str, arguments: Any, *rest: Any, **more: Any) -> Any:
        """The same in an asynchronous run."""
        instead = self._instead(function_name, arguments)
        if instead is not None:
            return instead
        with self._inside():
            return await super()._execute_tool_async_with_retry(function_name, arguments, *rest, **more)

    @contextmanager
    def _exchange(self, id: Any) -> Iterator[Exchange | None]:
        turn = self._here()
        if turn is None or turn.place is None:
            yield None
            return
        exchange = Exchange(id if isinstance(id, str) and id else f"call-{next(turn.place.run.ids)}")
        token = EXCHANGE.set(exchange)
        try:
            yield exchange
        except Exception as error:
            turn.place.failed(exchange.id, error)
            raise
        finally:
            EXCHANGE.reset(token)

    def _instead(self, tool: str, args: Any) -> Any:
        """The answer in place of the call that is executed here, if the guard blocks it; raises at a stop."""
        turn, exchange = self._here(), EXCHANGE.get()
        if turn is None or turn.place is None or exchange is None or exchange.asked:
            return None
        exchange.asked = True
        instead = self.guard.asked(turn.place, exchange, tool, args)
        turn.place.check()
        return instead

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """A tool runs: agents that begin in there are sub-agents."""
        turn = self._here()
        if turn is None or turn.place is None:
            yield
            return
        with turn.place.inside():
            yield

    def _settled(self, exchange: Exchange | None, tool: str, args: Any, result: Any) -> Any:
        """What the model reads of a call: its result and, where one waits, a nudge; in an autonomous run the next prompt has that."""
        turn = self._here()
        if turn is None or turn.place is None or exchange is None:
            return result
        if not exchange.asked:
            self.guard.refused(turn.place, exchange, tool, args, result)
        elif not exchange.blocked:
            self.guard.came(turn.place, turn, exchange, result)
        turn.place.check()
        text = None if turn.autonomous else turn.place.nudge()
        return result if text is None else with_text(result, text)
