"""`LoopGuard`: watches each run of an agent, nudges, blocks, stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, Unpack

from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import SkipModelRequest, ToolFailed
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, SystemPromptPart, TextPart, ToolCallPart
from pydantic_ai.tools import AgentDepsT, RunContext, ToolDefinition

from unstuck.adapters.pydantic_ai.marks import ANSWER_ORIGIN, NUDGE_ORIGIN, bare, hints_of, metadata_of, trace
from unstuck.adapters.pydantic_ai.outcome import LoopStopped, Records, RunRecord
from unstuck.adapters.pydantic_ai.stream import WatchedModel
from unstuck.adapters.pydantic_ai.transcript import Transcript
from unstuck.config import Options, Settings
from unstuck.events import Call, Compaction, Event
from unstuck.findings import Decision, Finding, Level
from unstuck.guard import Guard, OnStop
from unstuck.live import CURRENT, MARK, LiveRun, Watchers

if TYPE_CHECKING:
    from pydantic_ai.capabilities.abstract import WrapRunHandler
    from pydantic_ai.models import Model, ModelRequestContext
    from pydantic_ai.run import AgentRunResult

    from unstuck.presets import Rules

LAST_ANSWER = "No tool can be called any more. Give your final answer now from what you know, and say what is missing."


@dataclass(init=False, repr=False, eq=False)  # agent files take dataclasses alone
class LoopGuard(Guard, AbstractCapability[AgentDepsT]):
    """
    Watches every run of an agent for loops; one object serves any number of runs at a time, of several agents too.

    Takes what every `Guard` takes. *on_stop*: `error` ends a looping run with `LoopStopped` (default), `end` ends it with a text
    that says so where text is an output of the agent, `answer` lets the model answer once more, without tools. *runs* holds the
    records of the latest 256 runs. A run inside a tool of another guarded run is a sub-agent of it, unless its rules differ.
    """

    stops = ("error", "end", "answer")

    def __init__(
        self,
        options: Options | Rules | None = None,
        *,
        attended: bool = True,
        on_stop: OnStop = "error",
        on_finding: Callable[[Finding], None] | None = None,
        on_event: Callable[[Event], None] | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        super().__init__(options, attended=attended, on_stop=on_stop, on_finding=on_finding, on_event=on_event, **settings)
        self.on_stop = on_stop
        self.runs = Records()

    @classmethod
    def from_spec(cls, *name: str, on_stop: OnStop = "error", attended: bool = True, **settings: Unpack[Settings]) -> Self:
        """The guard that a YAML or JSON agent describes: a preset's name, and settings as in `unstuck.toml`."""
        if name:
            settings["preset"] = name[0]
        return cls(on_stop=on_stop, attended=attended, **settings)

    def get_ordering(self) -> CapabilityOrdering:
        """Outermost, to read results before other capabilities rewrite the history."""
        return CapabilityOrdering(position="outermost")

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> LoopGuard[AgentDepsT]:
        """A guard of its own for each run; what it finds stands in `runs`."""
        guard = copy(self)
        guard._begin(ctx.run_id or "run", ctx.agent.name if ctx.agent is not None else None)  # noqa: SLF001 - its own class
        return guard

    def _begin(self, run_id: str, name: str | None) -> None:
        above = CURRENT.get()
        if above is not None and above.run.monitor.rules == self.rules:
            self._agent = above.run.spawned(name or "agent", above)
        else:
            watchers = Watchers(self._note, self._on_event)
            self._agent = LiveRun(self.rules, name=run_id, attended=self.attended, watchers=watchers).agent()
        self._agent.above = above
        self._live = self._agent.run
        self.record = RunRecord(run_id, above.run.name if above is not None else None, self._agent.depth or 0)
        self.runs.add(self.record)
        self._transcript = Transcript(self._live.name, agent=self._agent)
        self._held: dict[str, Decision] = {}  # tool call id -> what was decided about it
        self._blocked: set[str] = set()
        self._latest: Finding | None = None
        self._messages: Sequence[ModelMessage] = ()
        self._seen: list[ModelRequest] = []
        self._length = 0

    async def wrap_run(self, ctx: RunContext[AgentDepsT], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Link the runs that begin inside this one, and take up what its last messages hold."""
        record = self.record
        try:
            with self._agent.inside():
                result = await handler()
            self._messages = result.all_messages()
            record.ending = "finished" if record.stopped is None else "stopped" if self.on_stop == "end" else "answered"
        except BaseException:
            record.ending = "failed" if record.stopped is None else "stopped"
            raise
        else:
            return result
        finally:
            self._catch_up(ctx, self._messages)
            if not self._agent.depth:
                self._live.end(record.ending)

    def get_wrapper_model(self, model: Model) -> Model | None:
        """Watch what streams; requests that do not stream are sent as before."""
        live = getattr(self, "_live", None)  # a durable activity asks the agent's own guard, which watches no run
        return None if live is None else WatchedModel(model, self._is_over)

    def _is_over(self, text: str) -> bool:
        decision = self._live.stream(text, self._agent.name)
        self.record.findings += decision.findings
        return decision.level >= Level.BLOCK

    async def after_model_request(
        self, ctx: RunContext[AgentDepsT], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Take up a response, and decide about its calls before any of them runs."""
        try:
            self._take(ctx, response)
        except Exception as error:
            self._live.switch_off(error)
        return response

    def _take(self, ctx: RunContext[AgentDepsT], response: ModelResponse) -> None:
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

    async def before_tool_execute(
        self, ctx: RunContext[AgentDepsT], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any]
    ) -> dict[str, Any]:
        """Answer a blocked call instead of running it; a person's approval of this very call lifts the block."""
        stopped = self._live.stopped
        decision = self._held.get(call.tool_call_id)
        if stopped is not None:
            text = f"This call was not executed. {bare(self._live.stop_text)}"
        elif decision is None or ctx.tool_call_approved:
            return args
        else:
            text = bare(decision.text)
        self.record.blocked += 1
        self._blocked.add(call.tool_call_id)
        raise ToolFailed(MARK + text)

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Take up the results of the round, then nudge or stop."""
        self._messages = ctx.messages
        self._catch_up(ctx, request_context.messages)
        stopped, nudges = self._live.stopped, self._agent.nudges
        if stopped is not None:
            self._stop(ctx, request_context, stopped)
        elif nudges:
            text = MARK + " ".join(map(bare, nudges))
            ctx.enqueue(SystemPromptPart(text, metadata=metadata_of(NUDGE_ORIGIN, self._latest)))
            nudges.clear()
        return request_context

    def _stop(self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext, finding: Finding) -> None:
        before, self.record.stopped = self.record.stopped, finding
        parameters = request_context.model_request_parameters
        text = MARK + bare(self._live.stop_text)
        if self.on_stop == "end" and parameters.allow_text_output and before is None:
            response = ModelResponse(parts=[TextPart(text)], model_name="unstuck")
            self._take(ctx, response)  # a response that no model gave comes to no hook
            raise SkipModelRequest(response)
        if self.on_stop != "answer" or before is not None:
            raise LoopStopped(finding, self.record.run_id)
        ctx.enqueue(SystemPromptPart(f"{text} {LAST_ANSWER}", metadata=metadata_of(ANSWER_ORIGIN, finding)))
        request_context.model_request_parameters = replace(parameters, function_tools=[], native_tools=[])

    def _catch_up(self, ctx: RunContext[AgentDepsT], messages: Sequence[ModelMessage]) -> None:
        """Take up the requests since the latest response that belong to this run."""
        try:
            if len(messages) < self._length:
                self._observe(ctx, Compaction(self._live.name))
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
        except Exception as error:
            self._live.switch_off(error)

    def _observe(self, ctx: RunContext[AgentDepsT], event: Event) -> Decision:
        decision = self._live.observe(event)
        record, transcript = self.record, self._transcript
        record.calls, record.messages = transcript.calls, transcript.responses
        record.findings += decision.findings
        self._latest = decision.finding or self._latest
        if decision.level is Level.BLOCK and decision.text and not isinstance(event, Call):
            self._agent.nudges[decision.text] = None  # the response is there: nothing is left to cut
        for finding in decision.findings:
            trace(ctx, finding)
        return decision
