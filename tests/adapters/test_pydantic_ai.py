"""The Pydantic AI adapter, in front of the real framework."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest

pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai is not installed")

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.usage import RequestUsage
from pydantic_ai_script import own_loop

from unstuck.testing_adapters.suite import AdapterSuite
from unstuck.testing_adapters.world import DONE, INPUT_TOKENS, OUTPUT_TOKENS, TEXT, Answered, Asked, Item, Said, World

FAR = UsageLimits(request_limit=500)
USAGE = RequestUsage(input_tokens=INPUT_TOKENS, output_tokens=OUTPUT_TOKENS)


def items(message: ModelMessage) -> list[Item]:
    found: list[Item] = []
    for part in message.parts:
        if isinstance(part, ToolReturnPart):
            found.append(Answered(part.tool_call_id, part.model_response_str()))
        elif isinstance(part, ToolCallPart):
            found.append(Asked(part.tool_call_id))
        elif isinstance(part, TextPart | SystemPromptPart | UserPromptPart):
            role = {TextPart: "assistant", SystemPromptPart: "system", UserPromptPart: "user"}[type(part)]
            found.append(Said(role, str(part.content)))
    return found


def agent_of(world: World, guard: Any, **options: Any) -> Agent[None, Any]:
    """An agent that follows the script of *world*."""

    def model(messages: list[ModelMessage], info: Any) -> ModelResponse:
        calls = world.turn(item for message in messages for item in items(message))
        parts = [ToolCallPart(ask.tool, dict(ask.args), id) for id, ask in calls]
        return ModelResponse(parts=[TextPart(TEXT if calls else DONE), *parts], usage=USAGE)

    async def stream(messages: list[ModelMessage], info: Any) -> Any:
        response = model(messages, info)
        if not response.tool_calls:  # a text before calls would be the output of a streamed run
            yield DONE
        for place, part in enumerate(response.tool_calls):
            yield {place: DeltaToolCall(part.tool_name, part.args_as_json_str(), tool_call_id=part.tool_call_id)}

    profile = ModelProfile(supports_inline_system_prompts=True)
    scripted = FunctionModel(model, stream_function=stream, profile=profile)
    return Agent(scripted, tools=world.tools(), capabilities=[guard] if guard else [], **options)


class TestPydanticAI(AdapterSuite):
    adapter = "pydantic_ai"
    doors = ("async", "sync", "stream", "iter")

    gaps: ClassVar = {
        "test_a_hand_off_is_linked": "Pydantic AI has no hand-off: one agent's run ends and a program starts the next",
        "test_an_error_is_seen": "a tool that raises ends the run: there is nothing left to watch",
        "test_a_call_run_again_counts_once": "a tool that waits ends its run; the call runs once, in the run that resumes it",
    }

    async def drive(self, world, guard):
        return (await agent_of(world, guard).run("Go.", usage_limits=FAR)).output

    def enter(self, door, world, guard):
        agent = agent_of(world, guard)
        if door == "sync":
            with own_loop():
                return agent.run_sync("Go.", usage_limits=FAR).output

        async def stream() -> str:
            async with agent.run_stream("Go.", usage_limits=FAR) as result:
                return await result.get_output()

        async def nodes() -> str:
            async with agent.iter("Go.", usage_limits=FAR) as run:
                async for _ in run:
                    pass
            return run.result.output

        return asyncio.run(stream() if door == "stream" else nodes())

    async def export(self, world, guard, path):
        result = await agent_of(world, guard).run("Go.", usage_limits=FAR)
        path.write_bytes(result.all_messages_json())
        return result.output

    async def delegate(self, outer, inner, guard):
        agent = agent_of(outer, guard)

        @agent.tool_plain
        async def ask_reviewer(task: str) -> str:
            """Ask the reviewer."""
            reviewer = agent_of(inner, guard, name="reviewer")
            return (await reviewer.run("Go.", usage_limits=FAR)).output

        return (await agent.run("Go.", usage_limits=FAR)).output
