"""The adapter for Strands Agents, in front of the real framework."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any, ClassVar

import pytest

pytest.importorskip("strands", reason="Strands Agents is not installed")

from strands import Agent, tool
from strands.hooks import AfterToolCallEvent, HookProvider
from strands.models import Model
from strands.multiagent import GraphBuilder, Swarm

from unstuck import Call, Result
from unstuck.testing_adapters.suite import AdapterSuite
from unstuck.testing_adapters.world import (
    DONE,
    INPUT_TOKENS,
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
)

USAGE = {"inputTokens": INPUT_TOKENS, "outputTokens": OUTPUT_TOKENS, "totalTokens": INPUT_TOKENS + OUTPUT_TOKENS}


class Scripted(Model):
    """A model that follows the script of a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.hands_to: str | None = None

    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, output_model, prompt, system_prompt=None, **options):
        raise NotImplementedError
        yield

    async def stream(self, messages, tool_specs=None, system_prompt=None, **options):
        if self.hands_to is not None:
            calls, self.hands_to = (
                [("hand-off", Ask("handoff_to_agent", {"agent_name": self.hands_to, "message": "go on"}))],
                None,
            )
        else:
            calls = self.world.turn(item for message in copy.deepcopy(messages) for item in items(message))
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": TEXT if calls else DONE}}}
        yield {"contentBlockStop": {}}
        for id, ask in calls:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": ask.tool, "toolUseId": id}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(dict(ask.args))}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}
        yield {"metadata": {"usage": USAGE, "metrics": {"latencyMs": 1}}}


def items(message: Any) -> list[Item]:
    found: list[Item] = []
    for block in message["content"]:
        if "toolUse" in block:
            found.append(Asked(block["toolUse"]["toolUseId"]))
        elif "toolResult" in block:
            found.append(Answered(block["toolResult"]["toolUseId"], str(block["toolResult"]["content"])))
        else:
            found.append(Said(message["role"], block["text"]))
    return found


def agent_of(world: World, guard: Any, more: Any = (), hooks: Any = (), **options: Any) -> Agent:
    tools = [*map(tool, world.tools()), *more]
    hooks = [*([guard] if guard else []), *hooks]
    return Agent(model=Scripted(world), tools=tools, hooks=hooks, callback_handler=None, **options)


def answer(result: Any) -> str:
    return result.message["content"][0].get("text", "")


class RunsTwice(HookProvider):
    """Lets the first call run twice, as a retry on failure would."""

    def __init__(self) -> None:
        self.again = True

    def register_hooks(self, registry, **options):
        registry.add_callback(AfterToolCallEvent, self.after)

    def after(self, event):
        event.retry, self.again = self.again, False


UNREAD = "its messages are in no format that scan reads"


class TestStrands(AdapterSuite):
    adapter = "strands"
    doors = ("async", "sync", "stream")
    gaps: ClassVar = {
        "test_exported_messages_scan_to_the_same_findings": UNREAD,
        "test_messages_of_a_guarded_run_scan_to_the_same_findings": UNREAD,
    }

    async def drive(self, world, guard):
        return answer(await agent_of(world, guard).invoke_async("Go."))

    def enter(self, door, world, guard):
        agent = agent_of(world, guard)
        if door == "sync":
            return answer(agent("Go."))

        async def stream() -> str:
            parts = [part async for part in agent.stream_async("Go.")]
            return answer(parts[-1]["result"])

        return asyncio.run(stream())

    async def delegate(self, outer, inner, guard):
        @tool
        async def ask_reviewer(task: str) -> str:
            """Ask the reviewer."""
            return answer(await agent_of(inner, guard, name="reviewer").invoke_async(task))

        return answer(await agent_of(outer, guard, [ask_reviewer]).invoke_async("Go."))

    async def hand_off(self, world, other, guard):
        first, second = agent_of(world, guard, name="first"), agent_of(other, guard, name="second")
        first.model.hands_to = "second"
        result = await Swarm([first, second]).invoke_async("Go.")
        return answer(result.results["second"].result)

    def test_agents_that_work_at_the_same_time_do_not_mix(self):
        """The nodes of a graph share the state of their invocation; each keeps its own calls, also where ids are the same."""
        events = []
        guard = self.guard(on_event=events.append)
        asks = [Ask("read_file", {"path": path}) for path in ("a.txt", "b.txt")]
        worlds = [World(Scenario(((ask,),) * 2, lambda ask, nth: f"10 lines of {ask.args['path']}")) for ask in asks]
        builder = GraphBuilder().set_execution_timeout(60)
        for name, world in zip("ab", worlds, strict=True):
            builder.add_node(agent_of(world, guard, name=name), name)
            builder.set_entry_point(name)
        asyncio.run(builder.build().invoke_async("Go."))
        calls = {event.id: event for event in events if isinstance(event, Call)}
        assert sorted((call.agent, call.args["path"]) for call in calls.values()) == [("a", "a.txt")] * 2 + [("b", "b.txt")] * 2
        results = [event for event in events if isinstance(event, Result)]
        assert [str(calls[result.id].args["path"]) in str(result.content) for result in results] == [True] * 4
        assert len({event.run for event in events}) == 1

    def test_the_result_of_the_last_try_counts(self):
        """A call that failed and was run again by another hook came to what the model reads of it."""
        events, world = [], World(TWICE)
        do = world.do

        def broken_at_first(tool: str, **args: str) -> str:
            came = do(tool, **args)
            if len(world.executed) == 1:
                raise ConnectionError("connection reset")
            return came

        world.do = broken_at_first
        agent_of(world, self.guard(on_event=events.append), hooks=[RunsTwice()])("Go.")
        assert len(world.executed) == 3
        results = [(event.outcome, "10 lines" in str(event.content)) for event in events if isinstance(event, Result)]
        assert results == [("ok", True)] * 2

    async def run_again(self, world, guard):
        return answer(await agent_of(world, guard, hooks=[RunsTwice()]).invoke_async("Go."))
