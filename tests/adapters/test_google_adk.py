"""The adapter for Google's Agent Development Kit, in front of the real kit."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any, ClassVar

import pytest

pytest.importorskip("google.adk", reason="Google ADK is not installed")

from google.adk.agents import LlmAgent, ParallelAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

from unstuck import Call, LoopStopped, Result
from unstuck.testing_adapters.suite import AdapterSuite
from unstuck.testing_adapters.world import (
    DONE,
    INPUT_TOKENS,
    LOOP,
    OUTPUT_TOKENS,
    READ,
    TEXT,
    TWICE,
    Answered,
    Ask,
    Asked,
    Item,
    Said,
    Scenario,
    World,
)

pytestmark = pytest.mark.filterwarnings("ignore")
warnings.simplefilter("ignore")
USAGE = types.GenerateContentResponseUsageMetadata(
    prompt_token_count=INPUT_TOKENS, candidates_token_count=OUTPUT_TOKENS, total_token_count=INPUT_TOKENS + OUTPUT_TOKENS
)


class Scripted(BaseLlm):
    """A model that follows the script of a world; *hands_to* is asked for before the script begins."""

    world: Any
    hands_to: str | None = None

    async def generate_content_async(self, llm_request, stream=False):
        if self.hands_to is not None:
            name, self.hands_to = self.hands_to, None
            parts = [called("hand-off", "transfer_to_agent", {"agent_name": name})]
        else:
            calls = self.world.turn(item for content in llm_request.contents for item in items(content))
            parts = [types.Part(text=TEXT if calls else DONE), *(called(id, ask.tool, ask.args) for id, ask in calls)]
        yield LlmResponse(content=types.Content(role="model", parts=parts), usage_metadata=USAGE)


def called(id: str, tool: str, args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(id=id, name=tool, args=dict(args)))


def items(content: Any) -> list[Item]:
    found: list[Item] = []
    for part in content.parts:
        if part.function_call:
            found.append(Asked(part.function_call.id))
        elif part.function_response:
            found.append(Answered(part.function_response.id, str(part.function_response.response)))
        else:
            found.append(Said("assistant" if content.role == "model" else "user", part.text))
    return found


def agent_of(world: World, more: Any = (), name: str = "assistant", **options: Any) -> LlmAgent:
    return LlmAgent(name=name, model=Scripted(model="scripted", world=world), tools=[*world.tools(), *more], **options)


async def run(agent: LlmAgent, guard: Any) -> str:
    runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[guard] if guard else []))
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    last = ""
    message = types.Content(role="user", parts=[types.Part(text="Go.")])
    async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message):
        if event.content and event.content.parts and event.content.parts[0].text:
            last = event.content.parts[0].text
    return last


UNREAD = "its session events are in no format that scan reads"


class TestGoogleADK(AdapterSuite):
    adapter = "google_adk"
    doors = ("async", "sync")
    gaps: ClassVar = {
        "test_exported_messages_scan_to_the_same_findings": UNREAD,
        "test_messages_of_a_guarded_run_scan_to_the_same_findings": UNREAD,
        "test_the_stop_reaches_the_caller[sync]": "Runner.run raises a RuntimeError of its own; its __cause__ is the stop",
        "test_a_call_run_again_counts_once": "a confirmed call goes on in a new invocation, which is a new turn",
    }

    def test_the_cause_of_a_stopped_sync_run_is_the_stop(self):
        """`Runner.run`, meant for trying things out, wraps what is no `Exception`; the stop is the cause."""
        outcome = self.attempt(World(LOOP), self.guard(), "sync")
        assert isinstance(outcome.error.__cause__, LoopStopped)

    def test_an_agent_tool_is_linked(self):
        """ADK's own `AgentTool` runs its agent under the same plugins: a sub-agent of the run."""
        events = []
        guard = self.guard(on_event=events.append)
        outer = World(Scenario(((Ask("reviewer", {"request": "look"}),), (READ,)), lambda ask, nth: "10 lines"))
        reviewer = agent_of(World(TWICE), name="reviewer")
        assert asyncio.run(run(agent_of(outer, [AgentTool(reviewer)]), guard)) == DONE
        calls = [(event.agent, event.parent, event.depth) for event in events if isinstance(event, Call)]
        assert calls == [("assistant", None, None), *[("reviewer", "assistant", 1)] * 2, ("assistant", None, None)]
        assert len({event.run for event in events}) == 1

    def test_agents_that_work_at_the_same_time_do_not_mix(self):
        """The agents of a `ParallelAgent` share an invocation; each keeps its own calls, also where ids are the same."""
        events = []
        worlds = [
            World(Scenario(((Ask("read_file", {"path": path}),),) * 2, lambda ask, nth: ask.args["path"])) for path in "xy"
        ]
        agents = [agent_of(world, name=name) for name, world in zip("ab", worlds, strict=True)]
        asyncio.run(run(ParallelAgent(name="both", sub_agents=agents), self.guard(on_event=events.append)))
        calls = {event.id: event for event in events if isinstance(event, Call)}
        assert sorted((call.agent, call.args["path"]) for call in calls.values()) == [("a", "x")] * 2 + [("b", "y")] * 2
        results = [event for event in events if isinstance(event, Result)]
        assert [str(calls[result.id].args["path"]) in str(result.content) for result in results] == [True] * 4

    async def drive(self, world, guard):
        return await run(agent_of(world), guard)

    def enter(self, door, world, guard):
        runner = InMemoryRunner(app=App(name="app", root_agent=agent_of(world), plugins=[guard]))
        session = asyncio.run(runner.session_service.create_session(app_name="app", user_id="u"))
        message = types.Content(role="user", parts=[types.Part(text="Go.")])
        events = list(runner.run(user_id="u", session_id=session.id, new_message=message))
        return events[-1].content.parts[0].text

    async def delegate(self, outer, inner, guard):
        async def ask_reviewer(task: str) -> str:
            """Ask the reviewer."""
            return await run(agent_of(inner, name="reviewer"), guard)

        return await run(agent_of(outer, [ask_reviewer]), guard)

    async def hand_off(self, world, other, guard):
        second = agent_of(other, name="second")
        model = Scripted(model="scripted", world=world, hands_to="second")
        return await run(LlmAgent(name="first", model=model, sub_agents=[second]), guard)
