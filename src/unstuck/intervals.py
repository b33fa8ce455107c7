"""What a run does between one compaction of its context and the next."""

from __future__ import annotations

from functools import lru_cache

from unstuck.fingerprint import text_digest
from unstuck.records import Row
from unstuck.states import Pending

_digest = lru_cache(maxsize=1_024)(text_digest)


class Intervals(Row):
    """The kinds of steps since the latest compaction, and how many intervals in a row were made of the same ones."""

    FIELDS = ("alike", "before", "first", "now", "started", "tools")
    MOST = 32

    def __init__(self) -> None:
        self.alike = self.first = 0
        self.before: list[int] = []
        self.now: list[int] = []
        self.tools: list[str] = []
        self.started = 1

    def step(self, pending: Pending) -> None:
        """A call was made; after a few dozen different ones an interval is work and not looked at further."""
        if len(self.now) >= self.MOST:
            return
        tool = pending.tool
        shape = _digest(tool) ^ pending.aims_at()
        if shape not in self.now:
            self.now.append(shape)
            self.tools = [*self.tools[-3:], tool] if tool not in self.tools else self.tools

    def compacted(self, calls: int) -> None:
        """The context was compacted after *calls* calls."""
        steps = sorted(self.now)
        if steps and steps == self.before and len(steps) < self.MOST:
            self.alike += 1
        else:
            self.alike, self.first = 1 if steps else 0, self.started
        self.before, self.now, self.started, self.tools = steps, [], calls + 1, self.tools if steps == self.before else []
