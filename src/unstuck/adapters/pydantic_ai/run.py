"""One guarded run while it lasts: what its messages have shown, and what was decided about its calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse

from unstuck.adapters.pydantic_ai.marks import bare, hints_of, nudge_part, trace
from unstuck.adapters.pydantic_ai.transcript import Transcript
from unstuck.events import Call, Compaction, Event
from unstuck.findings import Decision, Finding, Level
from unstuck.live import MARK, LiveAgent

if TYPE_CHECKING:
    from pydantic_ai.messages import SystemPromptPart
    from pydantic_ai.tools import RunContext

    from unstuck.adapters.pydantic_ai.outcome import RunRecord


class GuardedRun:
    """
    Takes up the messages of one run.

    Args:
        agent: who acts in it: the only agent of a run of its own, or a sub-agent of the run in whose tool this one runs.
        record: what the run leaves behind.
    """

    def __init__(self, agent: LiveAgent, record: RunRecord) -> None:
        self.agent, self.record = agent, record
        self.live = agent.run
        self._transcript = Transcript(self.live.name, agent=agent)
        self._held: dict[str, Decision] = {}  # tool call id -> what was decided about it
        self._blocked: set[str] = set()
        self._latest: Finding | None = None
        self._seen: list[ModelRequest] = []
        self._length = 0

    def is_over(self, text: str) -> bool:
        """Whether a response that is coming in is to be cut after *text*."""
        decision = self.live.stream(text, self.agent.name)
        self.record.findings += decision.findings
        return decision.level >= Level.BLOCK

    def heard(self, ctx: RunContext[Any], response: ModelResponse) -> None:
        """Take up a response, and decide about its calls before any of them runs."""
        try:
            self._hear(ctx, response)
        except Exception as error:
            self.live.switch_off(error)

    def _hear(self, ctx: RunContext[Any], response: ModelResponse) -> None:
        self._held.clear()
        self._blocked.clear()
        self._transcript.hints = partial(hints_of, ctx)
        decided: dict[str, Decision] = {}
        for event in self._transcript.response(response):
            decision = self._observe(ctx, event)
            if decision.level >= Level.BLOCK and isinstance(event, Call):
                decided[event.id] = decision
        if decided:
            for name, ids in self._transcript.open.items():
                for id in ids:
                    if id in decided:
                        self._held[name] = decided[id]

    def refusal(self, tool_call_id: str, approved: bool) -> str | None:
        """The words in place of a call that must not run, else `None`; a person's approval of this very call lifts a block."""
        decision = self._held.get(tool_call_id)
        if self.live.stopped is not None:
            text = f"This call was not executed. {bare(self.live.stop_text)}"
        elif decision is None or approved:
            return None
        else:
            text = bare(decision.text)
        self.record.blocked += 1
        self._blocked.add(tool_call_id)
        return MARK + text

    def catch_up(self, ctx: RunContext[Any], messages: Sequence[ModelMessage]) -> None:
        """Take up the requests since the latest response that belong to this run."""
        try:
            self._catch_up(ctx, messages)
        except Exception as error:
            self.live.switch_off(error)

    def _catch_up(self, ctx: RunContext[Any], messages: Sequence[ModelMessage]) -> None:
        if len(messages) < self._length:
            self._observe(ctx, Compaction(self.live.name))
        self._length = len(messages)
        tail: list[ModelRequest] = []
        for message in reversed(messages):
            if not isinstance(message, ModelRequest) or message.run_id not in (None, self.record.run_id):
                break
            tail.append(message)
        for request in reversed(tail):
            if not any(request is seen for seen in self._seen):
                for event in self._transcript.request(request, self._blocked):
                    self._observe(ctx, event)
        self._seen = tail

    def nudge(self) -> SystemPromptPart | None:
        """What waits to be said, once; to be put behind the results of the round."""
        nudges = self.agent.nudges
        if not nudges:
            return None
        part = nudge_part(nudges, self._latest)
        nudges.clear()
        return part

    def _observe(self, ctx: RunContext[Any], event: Event) -> Decision:
        decision = self.live.observe(event)
        record, transcript = self.record, self._transcript
        record.calls, record.messages = transcript.calls, transcript.responses
        record.findings += decision.findings
        self._latest = decision.finding or self._latest
        for finding in decision.findings:
            trace(ctx, finding)
        return decision
