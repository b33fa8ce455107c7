"""The adapter for Microsoft Agent Framework, in front of the real framework."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest

pytest.importorskip("agent_framework", reason="Agent Framework is not installed")

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    UsageDetails,
    tool,
)

from unstuck import Call, RunEnd
from unstuck.testing_adapters.suite import AdapterSuite
from unstuck.testing_adapters.world import DONE, INPUT_TOKENS, OUTPUT_TOKENS, TEXT, TWICE, Answered, Asked, Item, Said, World

pytestmark = pytest.mark.filterwarnings("ignore")
USAGE = UsageDetails(
    input_token_count=INPUT_TOKENS, output_token_count=OUTPUT_TOKENS, total_token_count=INPUT_TOKENS + OUTPUT_TOKENS
)


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A chat client that follows the script of a world."""

    def __init__(self, world: World) -> None:
        super().__init__(function_invocation_configuration={"max_iterations": 100})
        self.world = world

    def _inner_get_response(self, *, messages, stream, options, **more):
        calls = self.world.turn(item for message in messages for item in items(message))
        contents = [Content.from_text(TEXT if calls else DONE)]
        contents += [Content.from_function_call(id, ask.tool, arguments=dict(ask.args)) for id, ask in calls]
        if stream:

            async def parts():
                yield ChatResponseUpdate(role="assistant", contents=contents)

            return ResponseStream(parts(), finalizer=ChatResponse.from_updates)

        async def whole():
            return ChatResponse(messages=[Message("assistant", contents)], usage_details=USAGE)

        return whole()


def items(message: Any) -> list[Item]:
    found: list[Item] = []
    for content in message.contents:
        if content.type == "function_call":
            found.append(Asked(content.call_id))
        elif content.type == "function_result":
            found.append(Answered(content.call_id, str(content.result)))
        else:
            found.append(Said(str(message.role), content.text))
    return found


def agent_of(world: World, guard: Any, more: Any = (), **options: Any) -> Agent:
    tools = [tool(function, approval_mode="never_require") for function in world.tools()]
    middleware = [guard] if guard else None
    return Agent(client=Scripted(world), tools=[*tools, *more], middleware=middleware, **options)


UNREAD = "its messages are in no format that scan reads"


class TestAgentFramework(AdapterSuite):
    adapter = "agent_framework"
    doors = ("async", "stream")
    gaps: ClassVar = {
        "test_exported_messages_scan_to_the_same_findings": UNREAD,
        "test_messages_of_a_guarded_run_scan_to_the_same_findings": UNREAD,
        "test_a_call_run_again_counts_once": "nothing runs twice: a call that waits for approval first runs in the next run",
        "test_a_hand_off_is_linked": "the agents of a workflow are runs of their own, and nothing tells which began which",
    }

    async def drive(self, world, guard):
        return (await agent_of(world, guard).run("Go.")).messages[-1].text

    def enter(self, door, world, guard):
        async def stream() -> str:
            return "".join([part.text async for part in agent_of(world, guard).run("Go.", stream=True)])

        return asyncio.run(stream())

    def test_streams_that_one_task_reads_in_turn_do_not_mix(self):
        """Each part of a stream is made for the run that it belongs to, whoever reads what in between."""
        events = []
        guard = self.guard(on_event=events.append)

        async def in_turn() -> None:
            streams = [aiter(agent_of(World(TWICE), guard, name=name).run("Go.", stream=True)) for name in "ab"]
            while streams:
                for stream in tuple(streams):
                    if await anext(stream, None) is None:
                        streams.remove(stream)
            await agent_of(World(TWICE), guard, name="c").run("Go.")

        asyncio.run(in_turn())
        calls = [(event.run, event.agent, event.message) for event in events if isinstance(event, Call)]
        runs = dict.fromkeys(run for run, _, _ in calls)
        assert sorted(calls) == [(run, agent, n) for run, agent in zip(runs, "abc", strict=True) for n in (1, 2)]
        assert [event.run for event in events if isinstance(event, RunEnd)] == list(runs)

    async def delegate(self, outer, inner, guard):
        @tool(approval_mode="never_require")
        async def ask_reviewer(task: str) -> str:
            """Ask the reviewer."""
            return (await agent_of(inner, guard, name="reviewer").run(task)).messages[-1].text

        return (await agent_of(outer, guard, [ask_reviewer]).run("Go.")).messages[-1].text
