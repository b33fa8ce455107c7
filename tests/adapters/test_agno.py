"""The adapter for Agno, in front of the real framework."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any, ClassVar

import pytest

pytest.importorskip("agno.agent", reason="Agno is not installed")
os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.metrics import MessageMetrics
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.team import Team

from unstuck import Call
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
    scanned_file,
)

pytestmark = pytest.mark.filterwarnings("ignore")


class Scripted(Model):
    """A model that follows the script of a world."""

    def __init__(self, world: World) -> None:
        super().__init__(id="scripted")
        self.world = world

    def answer(self, messages: Any) -> ModelResponse:
        calls = self.world.turn(item for message in messages for item in items(message))
        asked = [
            {"id": id, "type": "function", "function": {"name": ask.tool, "arguments": json.dumps(dict(ask.args))}}
            for id, ask in calls
        ]
        usage = MessageMetrics(
            input_tokens=INPUT_TOKENS, output_tokens=OUTPUT_TOKENS, total_tokens=INPUT_TOKENS + OUTPUT_TOKENS
        )
        return ModelResponse(role="assistant", content=TEXT if calls else DONE, tool_calls=asked, response_usage=usage)

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

    def test_the_history_of_a_guarded_run_scans_to_the_same_findings(self, tmp_path):
        """Nudge, blocks and stop stand in the history under the guard's mark, so a scan finds what the guard found."""
        guard, path = self.guard(on_stop="end"), tmp_path / "messages.json"
        messages = agent_of(World(LOOP), guard).run("Go.").messages
        path.write_text(json.dumps([message.to_dict() for message in messages]), "utf-8")
        live = [(found.pattern, found.call, found.message, found.level.label) for found in guard.findings]
        assert scanned_file(path) == live

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
