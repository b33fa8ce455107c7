"""What a guarded run leaves behind: its record, and the error that ends it."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from pydantic_ai.exceptions import AgentRunError

from unstuck import errors
from unstuck.findings import Finding
from unstuck.live import MOST_FINDINGS

MOST_RUNS = 256
"""Runs whose records a guard keeps."""

Ending: TypeAlias = Literal["running", "finished", "stopped", "answered", "failed"]
"""How a run stands: `answered` = it looped, was stopped, and gave one last answer."""


class LoopStopped(AgentRunError, errors.LoopStopped):  # noqa: N818 - the name is one in all adapters
    """
    A run that went in circles was ended; *finding* says which loop, *run_id* which run.

    An `AgentRunError`, so that code and durable engines that know how agent runs fail know this one too. Its text holds the
    pattern, the count and the tools, never arguments or results.
    """

    def __init__(self, finding: Finding, run_id: str | None = None) -> None:
        self.finding = finding
        self.run_id = run_id
        super().__init__(f"the run was stopped because it looped: {finding.record}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.finding, self.run_id)


class RunRecord:
    """
    What one run has shown: *findings* (the latest 1,000), how many calls were *blocked*, how it ended.

    *calls* and *messages* count what the guard has seen. *parent* is the run in whose tool this one ran, *depth* how deep.
    """

    __slots__ = ("blocked", "calls", "depth", "ending", "findings", "messages", "parent", "run_id", "stopped")

    def __init__(self, run_id: str, parent: str | None, depth: int) -> None:
        self.run_id = run_id
        self.parent = parent
        self.depth = depth
        self.findings: deque[Finding] = deque(maxlen=MOST_FINDINGS)
        self.calls = self.messages = self.blocked = 0
        self.stopped: Finding | None = None
        self.ending: Ending = "running"

    def __repr__(self) -> str:
        return f"RunRecord({self.run_id!r}, {self.ending}, calls={self.calls}, findings={len(self.findings)})"


class Records(Mapping[str, RunRecord]):
    """The records of the latest 256 runs by run id, in the order in which the runs began."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, RunRecord] = OrderedDict()

    def add(self, record: RunRecord) -> None:
        """Keep *record*; the oldest one makes room."""
        self._kept[record.run_id] = record
        while len(self._kept) > MOST_RUNS:
            self._kept.popitem(last=False)

    @property
    def last(self) -> RunRecord | None:
        """The record of the run that began last."""
        return next(reversed(self._kept.values()), None)

    def __getitem__(self, run_id: str) -> RunRecord:
        return self._kept[run_id]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._kept))

    def __len__(self) -> int:
        return len(self._kept)
