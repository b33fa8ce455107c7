"""A host that does as it is told."""

from __future__ import annotations

from typing import Any

from unstuck.config import Options
from unstuck.events import Event
from unstuck.findings import Decision, Finding, Level
from unstuck.monitor import Monitor
from unstuck.testing import call, message, result

N, B, S, C, O = Level.NUDGE, Level.BLOCK, Level.STOP, Level.CONTINUE, Level.OBSERVE  # noqa: E741


class Host:
    """A host that does as it is told: what is blocked or stopped does not run, and comes back as blocked."""

    def __init__(self, **settings: Any) -> None:
        self.monitor = Monitor(Options(**settings).rules())
        self.number = 0
        self.findings: list[Finding] = []

    def see(self, event: Event) -> Decision:
        decision = self.monitor.observe(event)
        self.findings += decision.findings
        return decision

    def ask(self, tool: str = "read_file", args: Any = None, content: Any = "the same", **fields: Any) -> tuple[Level, Level]:
        """One call in a response of its own; the levels before it and at its result."""
        before, after = self.exchange(tool, args, content, **fields)
        return before.level, after.level

    def exchange(
        self, tool: str = "read_file", args: Any = None, content: Any = "the same", **fields: Any
    ) -> tuple[Decision, Decision]:
        self.number += 1
        outcome = fields.pop("outcome", "ok")
        self.see(message(self.number))
        args = {"path": "a"} if args is None else args
        before = self.see(call(tool, args, message=self.number, **fields))
        if before.level >= B:
            return before, self.see(result(before.text, outcome="blocked"))
        return before, self.see(result(content, outcome=outcome))
