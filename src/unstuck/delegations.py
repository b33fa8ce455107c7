"""Work and conversations that pass from agent to agent: the one part of a run that is looked at across its agents."""

from __future__ import annotations

from typing import Any

from unstuck.cycles import Cycles, Step
from unstuck.fingerprint import text_digest
from unstuck.sketch import likeness
from unstuck.trail import Said

SAME_TASK = 0.55
"""The share of words from which on two tasks are one: a new first verb and a new turn of phrase change no more than that."""


class Delegations:
    """The chain of delegations that goes on, and the sequence of hand-offs."""

    def __init__(self, window: int) -> None:
        self.handoffs = Cycles(window)
        self.length = 0
        self.first = 0
        self.agents: list[str] = []
        self.said: Said | None = None

    def passes_on(self, agent: str, said: Said) -> bool:
        """Whether a delegation by *agent* hands on the task of the one before."""
        if self.said is None or agent in self.agents:
            return False
        self.said.settle()
        said.settle()
        return likeness(self.said.chosen or frozenset(), said.chosen or frozenset()) >= SAME_TASK

    def delegate(self, agent: str, tool: str, key: int, said: Said, call: int, message: int) -> None:
        """A delegation succeeded."""
        if self.passes_on(agent, said):
            self.length += 1
            self.agents = [*self.agents[-15:], agent]
        else:
            self.length, self.first, self.agents = 1, call, [agent]
        self.said = said
        symbol = self.edge(agent, key)
        self.handoffs.add(Step(symbol, call, message, (symbol,), (key,), (tool,), False))

    def edge(self, agent: str, key: int) -> int:
        """Who handed off, and how."""
        return text_digest(agent) ^ key

    def work(self) -> None:
        """Somebody did something else."""
        if self.handoffs.steps:
            self.handoffs = Cycles(self.handoffs.window)

    def dump(self) -> dict[str, Any]:
        """The state as JSON values."""
        said = self.said.row() if self.said is not None else None
        return {"handoffs": self.handoffs.dump(), "chain": [self.length, self.first, self.agents], "said": said}

    @classmethod
    def load(cls, saved: dict[str, Any], window: int) -> Delegations:
        """The state that was dumped."""
        made = cls(window)
        made.handoffs = Cycles.load(saved["handoffs"], window)
        made.length, made.first, made.agents = saved["chain"]
        made.said = Said.from_row(saved["said"]) if saved["said"] is not None else None
        return made
