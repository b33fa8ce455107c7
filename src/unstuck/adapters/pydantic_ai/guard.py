"""`LoopGuard`: watches each run of an agent, nudges, blocks, stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, Unpack

from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import SkipModelRequest, ToolFailed
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.tools import AgentDepsT, RunContext, ToolDefinition

from unstuck.adapters.pydantic_ai.marks import answer_part, bare
from unstuck.adapters.pydantic_ai.outcome import LoopStopped, Records, RunRecord
from unstuck.adapters.pydantic_ai.run import GuardedRun
from unstuck.adapters.pydantic_ai.stream import WatchedModel
from unstuck.config import Options, Settings
from unstuck.events import MAIN, Event
from unstuck.findings import Finding
from unstuck.guard import Guard, OnStop
from unstuck.live import MARK, current

if TYPE_CHECKING:
    from pydantic_ai.capabilities.abstract import WrapRunHandler
    from pydantic_ai.models import Model, ModelRequestContext
    from pydantic_ai.run import AgentRunResult

    from unstuck.presets import Rules


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
        above = current()
        agent = self.start(MAIN if above is None else name or "agent", run=run_id)
        self.record = RunRecord(run_id, above.run.name if above is not None else None, agent.depth or 0)
        self.runs.add(self.record)
        self._run = GuardedRun(agent, self.record)
        self._messages: Sequence[ModelMessage] = ()

    async def wrap_run(self, ctx: RunContext[AgentDepsT], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Link the runs that begin inside this one, and take up what its last messages hold."""
        run, record = self._run, self.record
        try:
            with run.agent.inside():
                result = await handler()
            self._messages = result.all_messages()
            record.ending = "finished" if record.stopped is None else "stopped" if self.on_stop == "end" else "answered"
        except BaseException:
            record.ending = "failed" if record.stopped is None else "stopped"
            raise
        else:
            return result
        finally:
            run.catch_up(ctx, self._messages)
            if not run.agent.depth:
                run.live.end(record.ending)

    def get_wrapper_model(self, model: Model) -> Model | None:
        """Watch what streams; requests that do not stream are sent as before."""
        run = getattr(self, "_run", None)  # a durable activity asks the agent's own guard, which watches no run
        return None if run is None else WatchedModel(model, run.is_over)

    async def after_model_request(
        self, ctx: RunContext[AgentDepsT], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Take up a response, and decide about its calls before any of them runs."""
        self._run.heard(ctx, response)
        return response

    async def before_tool_execute(
        self, ctx: RunContext[AgentDepsT], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any]
    ) -> dict[str, Any]:
        """Answer a blocked call instead of running it; a person's approval of this very call lifts the block."""
        refusal = self._run.refusal(call.tool_call_id, ctx.tool_call_approved)
        if refusal is not None:
            raise ToolFailed(refusal)
        return args

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Take up the results of the round, then nudge or stop."""
        self._messages, run = ctx.messages, self._run
        run.catch_up(ctx, request_context.messages)
        if run.live.stopped is not None:
            self._stop(ctx, request_context, run.live.stopped)
        elif (nudge := run.nudge()) is not None:
            ctx.enqueue(nudge)
        return request_context

    def _stop(self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext, finding: Finding) -> None:
        before, self.record.stopped = self.record.stopped, finding
        parameters, text = request_context.model_request_parameters, self._run.live.stop_text
        if self.on_stop == "end" and parameters.allow_text_output and before is None:
            response = ModelResponse(parts=[TextPart(MARK + bare(text))], model_name="unstuck")
            self._run.heard(ctx, response)  # a response that no model gave comes to no hook
            raise SkipModelRequest(response)
        if self.on_stop != "answer" or before is not None:
            raise LoopStopped(finding, self.record.run_id)
        ctx.enqueue(answer_part(text, finding))
        request_context.model_request_parameters = replace(parameters, function_tools=[], native_tools=[])
