"""The adapter for Agno, in front of the real framework."""

from __future__ import annotations

import asyncio
import json
import os
import re
from typing import Any, ClassVar

import pytest

pytest.importorskip("agno.agent", reason="Agno is not installed")
os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.metrics import MessageMetrics
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.team import Team
from agno.tools.function import ToolResult

from unstuck import Call, LoopStopped, Result
from unstuck.live import MARK
from unstuck.testing_adapters.suite import AdapterSuite
from unstuck.testing_adapters.world import (
    DONE,
    INPUT_TOKENS,
    LOOP,
    OUTPUT_TOKENS,
    TEXT,
    TWICE,
    Answered,
    Ask,
    Asked,
    Item,
    Said,
    Scenario,
    World,
    answer_of,
    chat_calls,
    texts,
)

pytestmark = pytest.mark.filterwarnings("ignore")


class Scripted(Model):
    """A model that follows the script of a world."""

    def __init__(self, world: World) -> None:
        super().__init__(id="scripted")
        self.world = world

    def answer(self, messages: Any) -> ModelResponse:
        calls = self.world.turn(item for message in messages for item in items(message))
        usage = MessageMetrics(
            input_tokens=INPUT_TOKENS, output_tokens=OUTPUT_TOKENS, total_tokens=INPUT_TOKENS + OUTPUT_TOKENS
        )
        return ModelResponse(
            role="assistant", content=TEXT if calls else DONE, tool_calls=chat_calls(calls), response_usage=usage
        )

    def invoke(self, messages, **options):
        return self.answer(messages)

    async def ainvoke(self, messages, **options):
        return self.answer(messages)

    def invoke_stream(self, messages, **options):
        yield self.answer(messages)

    async def ainvoke_stream(self, messages, **options):
        yield self.answer(messages)

    def _parse_provider_response(self, response, **options):
        return response

    def _parse_provider_response_delta(self, response):
        return response


def items(message: Any) -> list[Item]:
    if message.role == "tool":
        return [Answered(message.tool_call_id, str(message.content))]
    calls = [Asked(call["id"]) for call in message.tool_calls or ()]
    return [Said(message.role, str(message.content)), *calls]


def agent_of(world: World, guard: Any, more: Any = (), **options: Any) -> Agent:
    tools, hooks = [*world.tools(), *more], [guard] if guard else None
    return Agent(model=Scripted(world), tools=tools, tool_hooks=hooks, telemetry=False, **options)


def in_parts(world: World) -> Any:
    def read_file(path: str):
        """Read a file."""
        yield from re.split(r"(?= )", world.do("read_file", path=path))

    return read_file


def in_parts_async(world: World) -> Any:
    async def read_file(path: str):
        """Read a file."""
        for part in re.split(r"(?= )", world.do("read_file", path=path)):
            yield part

    return read_file


def as_object(world: World) -> Any:
    def read_file(path: str) -> dict[str, int]:
        """Read a file."""
        return {"lines": int(world.do("read_file", path=path).split()[0])}

    return read_file


def as_result(world: World) -> Any:
    def read_file(path: str) -> ToolResult:
        """Read a file."""
        return ToolResult(content=world.do("read_file", path=path))

    return read_file


KINDS = [(make, way) for make in (in_parts, as_object, as_result) for way in ("sync", "async", "stream", "astream")]
KINDS += [(in_parts_async, "async"), (in_parts_async, "astream")]


class TestAgno(AdapterSuite):
    adapter = "agno"
    doors = ("async", "sync", "stream", "astream")
    gaps: ClassVar = {
        "test_text_and_usage_are_seen": "a tool hook is not told of a response without calls",
        "test_a_hand_off_is_linked": "Agno has no hand-off: a team delegates, which is a sub-agent",
    }

    async def drive(self, world, guard):
        return (await agent_of(world, guard).arun("Go.", session_id=str(id(world)))).messages[-1].content

    def enter(self, door, world, guard):
        agent = agent_of(world, guard)
        if door == "sync":
            return agent.run("Go.").messages[-1].content
        if door == "stream":
            return "".join(str(event.content) for event in agent.run("Go.", stream=True))

        async def stream() -> str:
            return "".join([str(event.content) async for event in agent.arun("Go.", stream=True)])

        return asyncio.run(stream())

    async def export(self, world, guard, path):
        messages = (await agent_of(world, guard).arun("Go.")).messages
        path.write_text(json.dumps([message.to_dict() for message in messages]), "utf-8")
        return messages[-1].content

    async def delegate(self, outer, inner, guard):
        async def ask_reviewer(task: str) -> str:
            """Ask the reviewer."""
            return (await agent_of(inner, guard, name="reviewer").arun(task)).messages[-1].content

        return (await agent_of(outer, guard, [ask_reviewer]).arun("Go.")).messages[-1].content

    async def run_again(self, world, guard):
        again = []

        def retry(function_name, function_call, arguments):
            if not again:
                again.append(function_call(**arguments))
            return function_call(**arguments)

        agent = Agent(model=Scripted(world), tools=world.tools(), tool_hooks=[guard, retry], telemetry=False)
        return agent.run("Go.").messages[-1].content

    @pytest.mark.parametrize(("make", "way"), KINDS)
    def test_every_kind_of_answer_is_read(self, make, way):
        """A tool may answer in parts, with an object, with Agno's own result: what it says is compared, and nudged about."""
        events, world = [], World(LOOP)
        world.tools = lambda: [make(world)]
        assert isinstance(self.attempt(world, self.guard(on_event=events.append), way).error, LoopStopped)
        contents = [event.content for event in events if isinstance(event, Result) and event.outcome == "ok"]
        assert contents == [{"lines": 10} if make is as_object else "10 lines"] * 4
        assert [MARK in texts(request) for request in world.requests[:4]] == [False, False, False, True]
        assert "10" in answer_of(world.requests[3], "call-3-0")

    def test_parts_that_advance_are_no_loop(self):
        """A tool that tells in parts how far a job has come says something new each time."""
        world, guard = World(LOOP._replace(turns=LOOP.turns[:10], answer=lambda ask, nth: f"{nth * 8} percent")), self.guard()
        world.tools = lambda: [in_parts_async(world)]
        assert self.attempt(world, guard).answer == DONE
        assert guard.findings == ()

    def test_parts_that_break_off_are_an_error(self):
        """A tool that raises after its first part has failed."""
        events = []
        guard = self.guard(on_event=events.append)

        async def read_file(path: str):
            """Read a file."""
            yield "10"
            raise OSError("disk on fire")

        agent = Agent(model=Scripted(World(TWICE)), tools=[read_file], tool_hooks=[guard], telemetry=False)
        asyncio.run(agent.arun("Go."))
        results = [(event.content, event.outcome) for event in events if isinstance(event, Result)]
        assert results == [("OSError: disk on fire", "error")] * 2

    def test_a_team_member_is_linked(self):
        """A team's leader hands a task to a member, whose run is a sub-agent's."""
        events = []
        guard = self.guard(on_event=events.append)
        member = agent_of(World(TWICE), guard, name="reviewer")
        asks = Ask("delegate_task_to_member", {"member_id": "reviewer", "task": "look"})
        leader = Scripted(World(Scenario(((asks,),), lambda ask, nth: "")))
        team = Team(name="team", members=[member], model=leader, tool_hooks=[guard], telemetry=False)
        assert team.run("Go.").messages[-1].content == DONE
        calls = [(event.agent, event.parent, event.depth) for event in events if isinstance(event, Call)]
        assert calls == [("team", None, None), *[("reviewer", "team", 1)] * 2]
        assert len({event.run for event in events}) == 1
