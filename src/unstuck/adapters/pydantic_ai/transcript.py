"""
The messages of one Pydantic AI run as events.

The reader `unstuck.readers.pydantic_ai` makes the same events of the same messages once they are exported: change both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import (
    CompactionPart,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from unstuck.adapters.pydantic_ai.content import ReturnPart, content_of
from unstuck.events import MAIN, Call, Compaction, Event, Message, Outcome, Result, Usage, User

if TYPE_CHECKING:
    from unstuck.live import LiveAgent

OUTCOMES: Mapping[str, Outcome] = {"success": "ok", "failed": "error", "retried": "retry", "denied": "denied"}
"""Their outcomes in our words; `interrupted` is missing because nothing came back."""


class Transcript:
    """
    Numbers the responses and calls of one run and pairs results with calls.

    Args:
        run: the run's id.
        agent: whose messages they are, in a run that others may take part in (default: the only agent of the run).
        native: whether calls that the provider ran itself are calls too (default: yes).
        content: what a returned part says, as a value to compare.

    *hints* tells the annotations of the tool with a name; *open* holds, by tool call id, our ids of the latest response's calls
    that wait for a result.
    """

    def __init__(
        self,
        run: str,
        *,
        agent: LiveAgent | None = None,
        native: bool = True,
        content: Callable[[ReturnPart], Any] | None = None,
    ) -> None:
        self.run = run
        self.native = native
        self.content = content or content_of
        self.hints: Callable[[str], Mapping[str, Any] | None] = lambda tool: None
        self.responses = 0
        self.calls = 0
        self.open: dict[str, list[str]] = {}
        self._agent = agent
        self._name, self._parent, self._depth = (agent.name, agent.parent, agent.depth) if agent else (MAIN, None, None)
        self._number = 0
        self._begins = True

    def response(self, response: ModelResponse) -> Iterator[Event]:
        """The events of one response; a result counts for its calls alone, since models use ids again."""
        self.responses += 1
        self._number = self._next_number()
        self.open.clear()
        self._begins = False
        time = response.timestamp.timestamp()
        texts: list[str] = []
        thoughts: list[str] = []
        calls: list[ToolCallPart | NativeToolCallPart | NativeToolReturnPart] = []
        for part in response.parts:
            if isinstance(part, TextPart):
                texts.append(part.content)
            elif isinstance(part, ToolCallPart):
                calls.append(part)
            elif isinstance(part, ThinkingPart):
                thoughts.append(part.content)
            elif isinstance(part, CompactionPart):
                yield Compaction(self.run)
            elif self.native and isinstance(part, NativeToolCallPart | NativeToolReturnPart):
                calls.append(part)
        usage = response.usage
        yield Message(
            self.run,
            self._number,
            sum(not isinstance(part, NativeToolReturnPart) for part in calls),
            self._name,
            self._parent,
            text="\n".join(texts) or None,
            reasoning="\n".join(thoughts) or None,
            model=response.model_name,
            usage=Usage(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens),
            time=time,
        )
        for part in calls:
            if isinstance(part, NativeToolReturnPart):
                yield from self._result(part)
            else:
                yield self._call(part, time)

    def _next_number(self) -> int:
        if self._agent is None:
            return self.responses
        live = self._agent.run
        with live.lock:
            live.messages += 1
            return live.messages

    def _call(self, part: ToolCallPart | NativeToolCallPart, time: float) -> Call:
        self.calls += 1
        id = f"{self._name}-{self.calls}"
        self.open.setdefault(part.tool_call_id, []).append(id)
        tool, hints = part.tool_name, self.hints(part.tool_name)
        return Call(self.run, id, tool, part.args, self._number, self._name, self._parent, self._depth, time, annotations=hints)

    def request(self, request: ModelRequest, blocked: Set[str] = frozenset()) -> Iterator[Event]:
        """
        The events of one request; calls whose tool call id is in *blocked* were not run.

        A person's request is the prompt that the run began with; what a program puts in later looks the same and is none. What a
        sub-agent is asked comes from a program too, and must not end the turn of the agents above it.
        """
        origin = "user" if self._begins else "harness"
        for part in request.parts:
            if isinstance(part, ToolReturnPart):
                yield from self._result(part, blocked)
            elif self._depth:
                continue
            elif isinstance(part, UserPromptPart):
                text = part.content if isinstance(part.content, str) else None
                self._begins = False
                yield User(self.run, text, origin)
            elif isinstance(part, RetryFeedbackPart):
                yield User(self.run, None, "harness")

    def _result(self, part: ReturnPart, blocked: Set[str] = frozenset()) -> Iterator[Result]:
        waiting = self.open.get(part.tool_call_id)
        if not waiting or part.outcome == "interrupted":
            return
        outcome: Outcome = "blocked" if part.tool_call_id in blocked else OUTCOMES.get(part.outcome, "error")
        yield Result(self.run, waiting.pop(0), self.content(part), outcome, part.timestamp.timestamp())
