"""Work and conversations that pass from agent to agent: the one part of a run that is looked at across its agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unstuck.cycles import Cycles, Step
from unstuck.fingerprint import text_digest
from unstuck.records import Said
from unstuck.states import Pending

LEAST_TASK = 3
"""Words from which on what is passed on is a task; fewer name an agent at most: a conversation is handed over."""
SAME_TASK = 0.55
"""The share of words from which on two tasks are one: a new first verb and a new turn of phrase change no more than that."""


def is_task(said: Said) -> bool:
    """Whether arguments hold a task, beside the name of who gets it and the reason why."""
    said.settle()
    return len(said.chosen or ()) >= LEAST_TASK


class Delegations:
    """The chain of delegations that goes on, and the sequence of hand-offs."""

    def __init__(self, window: int) -> None:
        self.handoffs = Cycles(window)
        self.length = 0
        self.first = 0
        self.agents: list[str] = []
        self.said: Said | None = None
        self.tool = ""

    def passes_on(self, agent: str, said: Said) -> bool:
        """Whether a delegation by *agent* hands on the task of the one before."""
        return self.said is not None and agent not in self.agents and is_task(said) and self.said.is_like(said, SAME_TASK)

    def delegate(self, round_: Sequence[Pending]) -> None:
        """Delegations of one response succeeded; several at once share work out, which is no passing on."""
        first = round_[0]
        agent, alone = first.agent, len(round_) == 1
        if alone and self.passes_on(agent, first):
            self.length += 1
            self.agents = [*self.agents[-15:], agent]
        else:
            self.length, self.first, self.agents = 1, min(pending.call for pending in round_), [agent]
        self.said, self.tool = (first if alone else None), first.tool
        edges = sorted({self.edge(pending) for pending in round_})
        symbol = edges[0] if alone else text_digest(",".join(map(str, edges)))
        parts = [(symbol, pending.key, pending.tool) for pending in round_]
        last = max(pending.call for pending in round_)
        self.handoffs.add(Step(symbol, last, first.message, parts, False))

    def edge(self, pending: Pending) -> int:
        """Who handed off, and how."""
        return text_digest(pending.agent) ^ pending.way

    def knows(self, pending: Pending) -> bool:
        """Whether the agent handed off in this way since somebody worked."""
        return self.edge(pending) in self.handoffs.seen

    def work(self) -> None:
        """Somebody did or learned something new."""
        if self.handoffs.total:
            self.handoffs = Cycles(self.handoffs.window)

    def dump(self) -> dict[str, Any]:
        """The state as JSON values."""
        said = self.said.saved() if self.said is not None else None
        return {"handoffs": self.handoffs.dump(), "chain": [self.length, self.first, self.agents, self.tool], "said": said}

    @classmethod
    def load(cls, saved: dict[str, Any], window: int) -> Delegations:
        """The state that was dumped."""
        made = cls(window)
        made.handoffs = Cycles.load(saved["handoffs"], window)
        made.length, made.first, made.agents, made.tool = saved["chain"]
        made.said = Said.from_row(saved["said"]) if saved["said"] is not None else None
        return made
