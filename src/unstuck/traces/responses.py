"""
Responses whose parts are spread over several records.

Coding agents log a response piece by piece: a line for each call, the tokens at the end, sometimes results in between. An event
stream has the response first, complete, so everything behind an unfinished response waits for it, up to a limit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from unstuck.events import MAIN, Call, Event, Message, Usage

WAITING = 256
"""Events that may wait behind an unfinished response before it is passed on as it is."""


class Response:
    """A response under construction."""

    __slots__ = ("agent", "calls", "done", "key", "model", "number", "parent", "reasoning", "text", "time", "usage")

    def __init__(self, number: int, key: object, agent: str, parent: str | None) -> None:
        self.number = number
        self.key = key
        self.agent = agent
        self.parent = parent
        self.calls = 0
        self.done = False
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.model: str | None = None
        self.usage: Usage | None = None
        self.time: float | None = None

    def message(self, run: str) -> Message:
        """The event."""
        return Message(
            run,
            self.number,
            calls=self.calls,
            agent=self.agent,
            parent=self.parent,
            text="\n".join(self.text) or None,
            reasoning="\n".join(self.reasoning) or None,
            model=self.model,
            usage=self.usage,
            time=self.time,
        )


class Responses:
    """The responses of one run, in order; at most one a agent is open."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.open: dict[str, Response] = {}
        self._number = 0
        self._waiting: deque[Event | Response] = deque()

    def part(self, key: object = None, agent: str = MAIN, parent: str | None = None) -> Response:
        """The open response of *agent* if it is *key*, else a new one; the one before is complete then."""
        response = self.open.get(agent)
        if response is None or response.key != key or response.done:
            self.close(agent)
            self._number += 1
            response = self.open[agent] = Response(self._number, key, agent, parent)
            self._waiting.append(response)
        return response

    def call(self, response: Response, id: str, tool: str, args: Any, **more: Any) -> None:
        """A call of *response*."""
        response.calls += 1
        self._waiting.append(
            Call(
                self.run,
                id,
                tool,
                args,
                response.number,
                response.agent,
                response.parent,
                1 if response.parent else None,
                **more,
            )
        )

    def put(self, event: Event) -> None:
        """An event that belongs to no response, such as a result."""
        self._waiting.append(event)

    def close(self, agent: str | None = None) -> None:
        """The open response of *agent* (of everyone: `None`) is complete."""
        for name in [agent] if agent else list(self.open):
            response = self.open.pop(name, None)
            if response:
                response.done = True

    def ready(self) -> Iterator[Event]:
        """The events that need not wait any longer."""
        waiting = self._waiting
        while waiting:
            first = waiting[0]
            if isinstance(first, Response):
                if not first.done and len(waiting) <= WAITING:
                    return
                first.done = True
                waiting.popleft()
                yield first.message(self.run)
            else:
                waiting.popleft()
                yield first

    def rest(self) -> Iterator[Event]:
        """The events still waiting, at the end of the source."""
        self.close()
        yield from self.ready()
