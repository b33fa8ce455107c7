"""The adapter for CrewAI, in front of the real framework."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import tempfile
from importlib.util import find_spec
from typing import Any, ClassVar

import pytest

if find_spec("crewai") is None:
    pytest.skip("CrewAI is not installed", allow_module_level=True)
os.environ.update(  # CrewAI reads it when it is imported
    CREWAI_DISABLE_TELEMETRY="true",
    OTEL_SDK_DISABLED="true",
    CREWAI_TRACING_ENABLED="false",
    CREWAI_STORAGE_DIR=tempfile.mkdtemp(),
    CREWAI_TESTING="true",
)
pytest.importorskip("crewai", reason="CrewAI warns while it is imported")

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from unstuck import Call, RunEnd
from unstuck.adapters.crewai import LoopGuard, LoopStopped
from unstuck.live import MARK
from unstuck.testing_adapters.suite import AdapterSuite
from unstuck.testing_adapters.world import (
    DONE,
    LOOP,
    TEXT,
    TWICE,
    Answered,
    Ask,
    Asked,
    Item,
    Said,
    Scenario,
    World,
    chat_calls,
    texts,
)

pytestmark = pytest.mark.filterwarnings("ignore")


class Scripted(BaseLLM):
    """A model that follows the script of a world."""

    def __init__(self, world: World) -> None:
        super().__init__(model="scripted")
        object.__setattr__(self, "world", world)

    def supports_function_calling(self):
        return True

    def call(self, messages, tools=None, *args, **options):
        calls = self.world.turn(item for message in messages for item in items(message))
        return chat_calls(calls) if calls else DONE

    async def acall(self, *args, **options):
        return self.call(*args, **options)


class InText(Scripted):
    """The same for a model that has no function calls: it writes them."""

    def supports_function_calling(self):
        return False

    def call(self, messages, tools=None, *args, **options):
        calls = self.world.turn(item for message in messages for item in items(message))
        if not calls:
            return f"Thought: I now can give a great answer\nFinal Answer: {DONE}"
        ((_, ask),) = calls
        return f"Thought: {TEXT}\nAction: {ask.tool}\nAction Input: {json.dumps(dict(ask.args))}"


def items(message: Any) -> list[Item]:
    if message["role"] == "tool":
        return [Answered(message["tool_call_id"], str(message["content"]))]
    calls = [Asked(call["id"]) for call in message.get("tool_calls") or ()]
    text = message.get("content")
    return [*([Said(message["role"], text)] if text else []), *calls]


def agent_of(world: World, more: Any = (), role: str = "assistant", **options: Any) -> Agent:
    tools = [*(tool(function.__name__)(function) for function in world.tools()), *more]
    return Agent(role=role, goal="g", backstory="b", llm=Scripted(world), tools=tools, cache=False, max_iter=100, **options)


def crew_of(world: World, more: Any = (), role: str = "assistant") -> Crew:
    agent = agent_of(world, more, role)
    task = Task(description="Go.", expected_output="e", agent=agent)
    return Crew(agents=[agent], tasks=[task], verbose=False, cache=False)


async def kick_off(crew: Crew, guard: Any) -> str:
    if guard is None:
        return (await crew.kickoff_async()).raw
    with guard.watching():
        return (await crew.kickoff_async()).raw


class TestCrewAI(AdapterSuite):
    adapter = "crewai"
    doors = ("async", "sync", "native")
    gaps: ClassVar = {
        "test_a_quiet_stop_ends_the_run": "a hook cannot end a crew but by an exception",
        "test_text_and_usage_are_seen": "hooks are not told of responses that hold calls, nor of tokens",
        "test_a_call_run_again_counts_once": "nothing runs twice: a call is made once in a crew",
        "test_a_hand_off_is_linked": "CrewAI has no hand-off: an agent delegates by a tool, which is a sub-agent",
    }

    @pytest.fixture(autouse=True)
    def _without_the_limit_of_crewai(self, monkeypatch):
        """CrewAI fails a run at the fifth equal exchange; it is out of the way where ten are wanted."""
        monkeypatch.setattr("crewai.utilities.agent_utils.MAX_REPEATED_TOOL_CALLS", 1000, raising=False)

    async def drive(self, world, guard):
        return await kick_off(crew_of(world), guard)

    def enter(self, door, world, guard):
        if door == "native":

            async def native() -> str:
                with guard.watching():
                    return (await crew_of(world).akickoff()).raw

            return asyncio.run(native())
        with guard.watching():
            return crew_of(world).kickoff().raw

    async def export(self, world, guard, path):
        with guard.watching():
            found = await crew_of(world).kickoff_async()
        path.write_text(json.dumps(found.tasks_output[0].messages), "utf-8")
        return found.raw

    async def delegate(self, outer, inner, guard):
        @tool("ask_reviewer")
        def ask_reviewer(task: str) -> str:
            """Ask the reviewer."""
            return crew_of(inner, role="reviewer").kickoff().raw

        return await kick_off(crew_of(outer, [ask_reviewer]), guard)


def test_the_limit_of_crewai_does_not_come_first(monkeypatch):
    """CrewAI's own limit of five equal exchanges is not reached: calls that are blocked are answered differently each time."""
    suite, world = TestCrewAI(), World(LOOP)
    outcome = suite.attempt(world, suite.guard())
    assert isinstance(outcome.error, LoopStopped)
    assert len(world.requests) == 8


def test_each_execution_begins_anew():
    """What is kicked off again, the same crew or crews one after another, begins with an empty context: nothing is counted on."""
    guard, crew = LoopGuard(), crew_of(World(TWICE))
    with guard.watching():
        for _ in range(4):
            crew.agents[0].llm = Scripted(World(TWICE))
            assert crew.kickoff().raw == DONE
        for _ in range(8):
            assert crew_of(World(TWICE)).kickoff().raw == DONE
            gc.collect()  # what takes the memory of a task that is gone is another task
    assert guard.findings == ()


def test_an_agent_that_calls_in_text_is_watched():
    """CrewAI answers equal calls in text itself, and adds to some answers how to call: the model is nudged and the run stopped all the same."""
    world, guard = World(LOOP), LoopGuard()
    crew = crew_of(world)
    crew.agents[0].llm = InText(world)
    with pytest.raises(LoopStopped), guard.watching():
        crew.kickoff()
    assert [found.level.label for found in guard.findings] == ["nudge", "block", "stop"]
    assert [MARK in texts(request) for request in world.requests[:5]] == [False] * 4 + [True]


@pytest.mark.parametrize("world", [World(TWICE), World(LOOP)], ids=["finished", "stopped"])
def test_the_run_ends_with_what_is_watched(world):
    """Whatever comes of it, the run is over behind the `with`."""
    events = []
    with contextlib.suppress(LoopStopped), LoopGuard(on_event=events.append).watching():
        crew_of(world).kickoff()
    assert isinstance(events[-1], RunEnd)
    assert [isinstance(event, RunEnd) for event in events].count(True) == 1


def test_a_coworker_is_linked():
    """CrewAI's own delegation runs the coworker inside a tool: a sub-agent of the one who asked."""
    events = []
    ask = Ask("delegate_work_to_coworker", {"coworker": "reviewer", "task": "look", "context": "notes.txt"})
    leader = agent_of(World(Scenario(((ask,),), lambda ask, nth: "")), allow_delegation=True)
    reviewer = agent_of(World(TWICE), role="reviewer")
    crew = Crew(agents=[leader, reviewer], tasks=[Task(description="Go.", expected_output="e", agent=leader)], cache=False)
    with LoopGuard(on_event=events.append).watching():
        assert crew.kickoff().raw == DONE
    calls = [(event.agent, event.parent, event.depth) for event in events if isinstance(event, Call)]
    assert calls == [("assistant", None, None), *[("reviewer", "assistant", 1)] * 2]
    assert len({event.run for event in events}) == 1
