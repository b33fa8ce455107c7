"""Scripted Pydantic AI agents for tests: a model that gives prepared responses, tools that give prepared answers."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from pydantic_ai import Agent, ModelRetry, RunContext, TextOutput
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from unstuck.adapters.pydantic_ai import LoopStopped
from unstuck.compat.pydantic_ai_harness import DetectedLoop, DetectLoops

if TYPE_CHECKING:
    from pydantic_ai.capabilities import AbstractCapability

Part = ToolCallPart | TextPart | ThinkingPart | NativeToolCallPart | NativeToolReturnPart
ORIGIN = "pydantic-ai-harness.detect_loops.nudge.v1"
INLINE = ModelProfile(supports_inline_system_prompts=True)
ODD = "dots.and-dashes/`x`"
"""The name of a tool, as no API would take it."""


def call(tool: str = "look", args: Any = None, id: str | None = None) -> ToolCallPart:
    return ToolCallPart(tool, args, id) if id else ToolCallPart(tool, args)


@contextmanager
def own_loop() -> Iterator[None]:
    """An event loop that is closed at the end: `run_sync` would leave one behind for the garbage collector to complain about."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(None)
        loop.close()


@pytest.fixture(autouse=True, scope="module")
def event_loop() -> Iterator[None]:
    """One loop for the module."""
    with own_loop():
        yield


def finish(coroutine: Any) -> Any:
    return asyncio.get_event_loop().run_until_complete(coroutine)


@dataclass
class Script:
    """A model that gives these responses one after the other and then says that it is done; keeps the requests it got."""

    responses: Sequence[Sequence[Part] | str]
    requests: list[list[ModelMessage]] = field(default_factory=list)

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.requests.append(copy.copy(messages))
        number = len(self.requests) - 1
        parts = self.responses[number] if number < len(self.responses) else "done"
        return ModelResponse(parts=[TextPart(parts)] if isinstance(parts, str) else [_anew(part) for part in parts])


def _anew(part: Part) -> Part:
    """A copy, with an id of its own where the script gives none."""
    if isinstance(part, ToolCallPart) and part.tool_call_id.startswith("pyd_ai_"):
        return ToolCallPart(part.tool_name, part.args)
    return copy.copy(part)


@dataclass
class Trial:
    """What a run with a handler of loops found, at which request."""

    script: Script
    loops: list[tuple[int, DetectedLoop]] = field(default_factory=list)
    messages: list[ModelMessage] = field(default_factory=list)

    @property
    def found(self) -> list[tuple[int, str, int]]:
        """(response after which it was found, pattern, count)"""
        return [(at, loop.pattern, loop.count) for at, loop in self.loops]


Results = Callable[[str, dict[str, Any], int], Any]


def same(tool: str, args: dict[str, Any], number: int) -> Any:
    return "nothing new"


def differs(tool: str, args: dict[str, Any], number: int) -> Any:
    return f"answer {number}"


def agent_for(
    script: Script, results: Results = same, *capabilities: AbstractCapability[Any], **settings: Any
) -> Agent[None, Any]:
    """An agent whose *tools* take anything and answer what *results* says of their nth execution."""
    numbers = count(1)
    names = settings.pop("tools", ("look", "find", ODD))
    settings = {"retries": 50, "output_type": TextOutput(picky)} | settings
    agent: Agent[None, Any] = Agent(FunctionModel(script, profile=INLINE), capabilities=list(capabilities), **settings)
    for tool in names:

        def execute(_tool: str = tool, **args: Any) -> Any:
            return results(_tool, args, next(numbers))

        agent.tool_plain(name=tool)(_taking_anything(execute))
    return agent


def picky(text: str) -> str:
    """Output that is accepted: the model's last word alone."""
    if text != "done":
        raise ModelRetry("try again")
    return text


def _taking_anything(execute: Callable[..., Any]) -> Callable[..., Any]:
    def tool(a: Any = None, b: Any = None, request_id: Any = None) -> Any:
        return execute(a=a, b=b)

    return tool


def trial(responses: Sequence[Sequence[Part] | str], results: Results = same, /, **settings: Any) -> Trial:
    """Run *responses* under `DetectLoops(**settings)` and tell what it found."""
    done = Trial(Script(responses))

    def note(ctx: RunContext[Any], loop: DetectedLoop) -> None:
        done.loops.append((sum(isinstance(message, ModelResponse) for message in ctx.messages), loop))

    agent = agent_for(done.script, results, DetectLoops(action=note, **settings))
    done.messages = agent.run_sync("go").all_messages()
    return done


def returns(messages: Sequence[ModelMessage], outcome: str | None = None) -> list[ToolReturnPart]:
    """What tools returned, with one *outcome* or all."""
    parts = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    return [part for part in parts if outcome in (None, part.outcome)]


def told(messages: Sequence[ModelMessage]) -> list[SystemPromptPart]:
    """What a guard, or anybody, put into the history as a system prompt."""
    return [part for message in messages for part in message.parts if isinstance(part, SystemPromptPart)]


def stopped(agent: Agent[None, Any], **options: Any) -> LoopStopped:
    """The stop that a run of *agent* ends with."""
    with pytest.raises(LoopStopped) as caught:
        agent.run_sync("go", **options)
    return caught.value


def nudges(messages: Sequence[ModelMessage]) -> list[SystemPromptPart]:
    return [part for part in told(messages) if (part.metadata or {}).get("origin") == ORIGIN]


A, B, C = [call(args={"a": 1})], [call(args={"a": 2})], [call("find", {"a": 3})]
