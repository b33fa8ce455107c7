"""
`DetectLoops` as the documentation of Pydantic AI Harness describes it, over our engine.

Change the import and nothing else. `docs/compat/pydantic_ai_harness.md` lists every promise with the test that shows it, and what
was chosen where the documentation leaves something open.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart
from pydantic_ai.tools import AgentDepsT, RunContext

from unstuck.adapters.pydantic_ai.content import ReturnPart, jsonable
from unstuck.adapters.pydantic_ai.transcript import Transcript
from unstuck.detectors.detector import Detector
from unstuck.detectors.repeated_text import RepeatedText
from unstuck.detectors.windowed import HIGHEST_SPAN, WindowedAlternation, WindowedCall, WindowedResult
from unstuck.errors import SettingsError
from unstuck.events import User
from unstuck.findings import Finding, Level
from unstuck.ladder import Ladder, check_count
from unstuck.monitor import Monitor
from unstuck.panel import Panel
from unstuck.policy import Policy
from unstuck.presets import Rules
from unstuck.wording import plain_name

if TYPE_CHECKING:
    from pydantic_ai.models import ModelRequestContext

__all__ = ("DetectLoops", "DetectedLoop", "LoopDetectedError", "LoopHandler", "LoopPattern")

LoopPattern: TypeAlias = Literal["repeated_call", "repeated_result", "alternating_calls", "repeated_text"]
"""Which of the four patterns a loop is."""

NUDGE_ORIGIN = "pydantic-ai-harness.detect_loops.nudge.v1"
"""The published mark of a nudge in a message history."""

_CALLS = {"repeated_result": WindowedResult, "alternating_calls": WindowedAlternation, "repeated_call": WindowedCall}
"""The patterns of calls in the order in which they are checked."""

_WORDS = {
    "repeated_result": "Your last {n} calls to {tools} used the same arguments and returned the same result, so calling it again will "
    "not change the outcome.",
    "alternating_calls": "Your last {calls} calls went back and forth between {tools}, {n} times each.",
    "repeated_call": "You have called {tools} {n} times with the same arguments among your recent calls.",
    "repeated_text": "Your last {n} responses said the same thing.",
}
_ADVICE = " Change your approach, or explain what is blocking you."


@dataclass(frozen=True)
class DetectedLoop:
    """
    A loop that was found: given to a `LoopHandler`, and carried by `LoopDetectedError`.

    *count* counts calls, A-B cycles or responses, by *pattern*; *window* is how many recent calls (responses, for text) were looked
    at; *fingerprints* are hashes of the calls or of the text; *message* is the text of the nudge.
    """

    pattern: LoopPattern
    tool_names: tuple[str, ...]
    count: int
    window: int
    fingerprints: tuple[str, ...]
    message: str


class LoopDetectedError(AgentRunError):
    """`DetectLoops(action="error")` found a *loop* and ends the run; its text is the loop's message."""

    def __init__(self, loop: DetectedLoop) -> None:
        self.loop = loop
        super().__init__(loop.message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.loop,)


LoopHandler: TypeAlias = Callable[[RunContext[AgentDepsT], DetectedLoop], Awaitable[None] | None]
"""Called with each loop; raises to stop the run, or steers it with `ctx.enqueue(...)`."""


@dataclass
class DetectLoops(AbstractCapability[AgentDepsT]):
    """
    Notices before each model request that the run repeats itself, and acts on the first loop found.

    Args:
        window: how many of the most recent calls the three checks of calls look at, 2 to 10,000 (default 10).
        repeated_call_threshold: the same call so many times within the window (default 5).
        repeated_result_threshold: the same call with the same result, the last so many times it was made (default 3).
        alternating_calls_threshold: two calls in turn, so many cycles (default 3).
        repeated_text_threshold: so many responses in a row without calls and with the same text (default 3).
        action: `nudge` (default) tells the model, `error` raises `LoopDetectedError`, a function is called with the loop.

    A threshold of `None` turns its check off. Raises `SettingsError`, a `ValueError`, where a check could never report anything.
    """

    window: int = 10
    repeated_call_threshold: int | None = 5
    repeated_result_threshold: int | None = 3
    alternating_calls_threshold: int | None = 3
    repeated_text_threshold: int | None = 3
    action: Literal["nudge", "error"] | LoopHandler[AgentDepsT] = "nudge"
    _rules: Rules = field(init=False, repr=False, compare=False)
    _monitor: Monitor = field(init=False, repr=False, compare=False)
    _transcript: Transcript = field(init=False, repr=False, compare=False)
    _found: list[Finding] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_count("window", self.window, 2, HIGHEST_SPAN)
        if self.action not in ("nudge", "error") and not callable(self.action):
            raise SettingsError("action", self.action, "there is no such action", 'give "nudge", "error" or a function')
        detectors = [*self._checks_of_calls(), *self._check_of_text()]
        policy = Policy(strongest=Level.NUDGE, one_per_round=True, consume=True)
        self._rules = Rules(Panel(detectors), policy, name="pydantic-ai-harness")
        self._monitor = Monitor(self._rules)
        self._transcript = Transcript("run", native=False, content=_result_of)
        self._found = []

    def _checks_of_calls(self) -> list[Detector]:
        found: list[Detector] = []
        for pattern, kind in _CALLS.items():
            name = f"{pattern}_threshold"
            threshold = getattr(self, name)
            if threshold is None:
                continue
            check_count(name, threshold, 2)
            needed = threshold * kind.calls_per_count
            if needed > self.window:
                problem = f"it needs {needed} calls and only the last window={self.window} are looked at"
                raise SettingsError(name, threshold, problem, f"give window={needed} or more, or a lower threshold")
            found.append(kind(Ladder(nudge=threshold), self.window))
        return found

    def _check_of_text(self) -> list[Detector]:
        if self.repeated_text_threshold is None:
            return []
        check_count("repeated_text_threshold", self.repeated_text_threshold, 2)
        return [RepeatedText(Ladder(nudge=self.repeated_text_threshold))]

    def get_ordering(self) -> CapabilityOrdering:
        """Outermost, so that results are read before other capabilities rewrite the request."""
        return CapabilityOrdering(position="outermost")

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> DetectLoops[AgentDepsT]:
        """A fresh instance, so that runs share nothing."""
        return replace(self)

    async def after_model_request(
        self, ctx: RunContext[AgentDepsT], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Record the response's calls, or its text where it has none."""
        self._found.clear()
        for event in self._transcript.response(response):
            self._found += self._monitor.observe(event).findings
        return response

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Record the results of the latest response's calls, then act on the first loop found."""
        for message in _since_response(request_context):
            for event in self._transcript.request(message):
                if not isinstance(event, User):  # Who spoke is nothing to these rules: they look at one run.
                    self._found += self._monitor.observe(event).findings
        # Calls without a result (deferred, interrupted) keep their round open; this is where the rules look all the same.
        self._found += self._monitor.observe(User("run", origin="harness")).findings
        if self._found:
            loop = self._loop(self._found[0])
            self._found.clear()
            self._trace(ctx, loop)
            await self._act(ctx, loop)
        return request_context

    def _loop(self, finding: Finding) -> DetectedLoop:
        pattern: LoopPattern = finding.pattern  # type: ignore[assignment]
        is_text = pattern == "repeated_text"
        return DetectedLoop(
            pattern=pattern,
            tool_names=finding.tools if pattern != "alternating_calls" or len(finding.tools) == 2 else finding.tools * 2,
            count=finding.repeats,
            window=finding.repeats if is_text else self.window,
            fingerprints=finding.fingerprints,
            message=_message(finding),
        )

    async def _act(self, ctx: RunContext[AgentDepsT], loop: DetectedLoop) -> None:
        if self.action == "nudge":
            metadata = {"origin": NUDGE_ORIGIN, "pattern": loop.pattern, "tool_names": list(loop.tool_names)}
            ctx.enqueue(SystemPromptPart(loop.message, metadata=metadata))
        elif self.action == "error":
            raise LoopDetectedError(loop)
        else:
            answer = self.action(ctx, loop)
            if inspect.isawaitable(answer):
                await answer

    def _trace(self, ctx: RunContext[AgentDepsT], loop: DetectedLoop) -> None:
        span = ctx.tracer.start_span("loop detected")
        if span.is_recording():
            action = self.action if isinstance(self.action, str) else "handler"
            shown: dict[str, Any] = {"pattern": loop.pattern, "action": action, "count": loop.count, "window": loop.window}
            shown["tool_names"] = loop.tool_names
            if ctx.trace_include_content:
                shown["fingerprints"] = loop.fingerprints
            span.set_attributes({f"detect_loops.{name}": value for name, value in shown.items()})
        span.end()


def _since_response(request_context: ModelRequestContext) -> list[ModelRequest]:
    """The requests since the latest response, oldest first: a result counts there alone."""
    found: list[ModelRequest] = []
    for message in reversed(request_context.messages):
        if not isinstance(message, ModelRequest):
            break
        found.append(message)
    return found[::-1]


def _result_of(part: ReturnPart) -> Any:
    """What a result is compared by: its content as JSON and the identifiers of its files; the outcome is compared beside it."""
    content = part.content
    if isinstance(content, str):
        return content
    files = [file.identifier for file in part.files]
    return {"content": jsonable(content), "files": files} if files else {"content": jsonable(content)}


def _message(finding: Finding) -> str:
    tools = " and ".join(f"`{plain_name(tool)}`" for tool in finding.tools)
    if finding.pattern == "alternating_calls" and len(finding.tools) == 1:
        tools = f"two different calls to {tools}"
    text = _WORDS[finding.pattern].format(n=finding.repeats, calls=2 * finding.repeats, tools=tools)
    return text + _ADVICE
