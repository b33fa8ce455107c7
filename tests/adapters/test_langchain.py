"""The LangChain and LangGraph adapter, in front of the real framework."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from typing import Any, ClassVar

import pytest

pytest.importorskip("langchain.agents", reason="LangChain is not installed")

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, interrupt

from unstuck import LoopStopped, Result, RunEnd
from unstuck.live import MARK
from unstuck.testing_adapters.suite import AdapterSuite
from unstuck.testing_adapters.world import (
    DONE,
    INPUT_TOKENS,
    LOOP,
    OUTPUT_TOKENS,
    PAIRS,
    TEXT,
    TWICE,
    Answered,
    Asked,
    Item,
    Said,
    World,
    assert_paired,
    texts,
)

ROLES = {HumanMessage: "user", SystemMessage: "system", AIMessage: "assistant"}
USAGE = {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS}
GO = {"messages": [("user", "Go.")]}
FAR = {"recursion_limit": 500}


class Scripted(BaseChatModel):
    """A chat model that follows the script of a world."""

    world: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any) -> ChatResult:
        calls = self.world.turn(item for message in messages for item in items(message))
        asked = [{"id": id, "name": ask.tool, "args": dict(ask.args)} for id, ask in calls]
        message = AIMessage(TEXT if calls else DONE, tool_calls=asked, usage_metadata=USAGE)
        return ChatResult(generations=[ChatGeneration(message=message)])


def items(message: Any) -> list[Item]:
    if isinstance(message, ToolMessage):
        return [Answered(message.tool_call_id, str(message.content))]
    calls = [Asked(call["id"]) for call in getattr(message, "tool_calls", ())]
    return [Said(ROLES[type(message)], message.content), *calls]


def agent_of(world: World, guard: Any, more: Any = (), **options: Any) -> Any:
    tools = [*map(tool, world.tools()), *more]
    return create_agent(Scripted(world=world), tools, middleware=[guard] if guard else [], **options)


def asking(world: World) -> Any:
    """A tool that asks a person on its first call, and so is executed again when the run is resumed."""

    @tool
    def read_file(path: str) -> str:
        """Read a file once somebody has agreed."""
        answer = world.do("read_file", path=path)
        if len(world.executed) < 3:
            interrupt("May I?")
        return answer

    return read_file


class TestLangChain(AdapterSuite):
    adapter = "langchain"
    doors = ("async", "sync", "stream", "astream")

    async def drive(self, world, guard):
        return (await agent_of(world, guard).ainvoke(GO, FAR))["messages"][-1].content

    def enter(self, door, world, guard):
        agent = agent_of(world, guard)
        if door == "sync":
            return agent.invoke(GO, FAR)["messages"][-1].content
        if door == "stream":
            return str(list(agent.stream(GO, FAR))[-1])

        async def stream() -> str:
            return str([part async for part in agent.astream(GO, FAR)][-1])

        return asyncio.run(stream())

    async def export(self, world, guard, path):
        messages = (await agent_of(world, guard).ainvoke(GO, FAR))["messages"]
        path.write_text(json.dumps(convert_to_openai_messages(messages)), "utf-8")
        return messages[-1].content

    async def delegate(self, outer, inner, guard):
        @tool
        async def ask_reviewer(task: str) -> str:
            """Ask the reviewer."""
            reviewer = agent_of(inner, guard, name="reviewer")
            return (await reviewer.ainvoke(GO, FAR))["messages"][-1].content

        return (await agent_of(outer, guard, [ask_reviewer]).ainvoke(GO, FAR))["messages"][-1].content

    async def hand_off(self, world, other, guard):
        graph = StateGraph(MessagesState)
        graph.add_node("first", agent_of(world, guard, name="first"))
        graph.add_node("second", agent_of(other, guard, name="second"))
        graph.add_edge(START, "first")
        graph.add_edge("first", "second")
        return (await graph.compile().ainvoke(GO, FAR))["messages"][-1].content

    async def run_again(self, world, guard):
        read_file, config = asking(world), {"configurable": {"thread_id": "t"}}
        agent = create_agent(Scripted(world=world), [read_file], middleware=[guard], checkpointer=InMemorySaver())
        for request in (GO, Command(resume="yes")):
            found = await agent.ainvoke(request, config)
        return found["messages"][-1].content

    @pytest.mark.parametrize("mode", ["updates", "values", "debug", "tasks"])
    def test_what_streams_can_be_written_down(self, mode):
        """A stream shows what middleware keeps in the state; of the guard that is a name, which every serialiser takes."""
        agent = agent_of(World(TWICE), self.guard(), checkpointer=InMemorySaver())
        parts = list(agent.stream(GO, {"configurable": {"thread_id": "t"}}, stream_mode=mode))
        text = json.dumps(parts, default=lambda message: message.model_dump())
        assert DONE in text
        assert copy.deepcopy(pickle.loads(pickle.dumps(parts))) == parts

    def test_a_tool_message_with_an_error_is_an_error(self):
        """A tool that handles its own exception answers with `status="error"`: the outcome is `error`."""

        @tool
        def read_file(path: str) -> str:
            """Read a file."""
            raise ToolException("disk on fire")

        read_file.handle_tool_error = True
        events = []
        agent = create_agent(Scripted(world=World(TWICE)), [read_file], middleware=[self.guard(on_event=events.append)])
        agent.invoke(GO)
        results = [(event.content, event.outcome) for event in events if isinstance(event, Result)]
        assert results == [("disk on fire", "error")] * 2

    def test_the_history_of_a_stopped_thread_is_whole(self):
        """After a stop among parallel calls every call of the thread is answered, and the person can go on."""
        guard, saver, config = self.guard(), InMemorySaver(), {**FAR, "configurable": {"thread_id": "t"}}
        agent = agent_of(World(PAIRS), guard, checkpointer=saver)
        with pytest.raises(LoopStopped):
            agent.invoke(GO, config)
        kept = agent.get_state(config).values["messages"]
        assert_paired([item for message in kept for item in items(message)])
        assert agent_of(World(TWICE), guard, checkpointer=saver).invoke(GO, config)["messages"][-1].content == DONE

    def test_each_run_ends_once(self):
        """Runs at the same time, without threads of LangGraph's, each end with their own agent."""
        events = []
        guard = self.guard(on_event=events.append)

        async def together():
            await asyncio.gather(*(self.drive(World(TWICE), guard) for _ in range(4)))

        asyncio.run(together())
        runs = {event.run for event in events}
        assert len(runs) == 4
        for run in runs:
            assert [type(event) is RunEnd for event in events if event.run == run].index(True) == 8

    def test_a_new_turn_of_a_thread_begins_anew(self):
        """A person who speaks in the same thread starts a new run: what came before does not count."""
        guard, config = self.guard(), {"configurable": {"thread_id": "t"}}
        for _ in range(2):
            agent = agent_of(World(TWICE), guard, checkpointer=InMemorySaver())
            assert agent.invoke(GO, config)["messages"][-1].content == DONE
        assert guard.findings == ()


class TestLangGraph(AdapterSuite):
    """A graph of one's own around `LoopGuard().tool_node(...)`."""

    adapter = "langchain"
    doors = ("async", "sync")

    gaps: ClassVar = {
        "test_text_and_usage_are_seen": "a response without calls never comes to the tool node",
        "test_a_quiet_stop_ends_the_run": "a tool node cannot end its graph",
        "test_a_hand_off_is_linked": "a tool node is not told which agent asked",
    }

    def graph(self, world, guard, more=(), **options):
        model, tools = Scripted(world=world), [*map(tool, world.tools()), *more]
        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_node("tools", guard.tool_node(tools) if guard else ToolNode(tools))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        return graph.compile(**options)

    async def drive(self, world, guard):
        return (await self.graph(world, guard).ainvoke(GO, FAR))["messages"][-1].content

    def enter(self, door, world, guard):
        return self.graph(world, guard).invoke(GO, FAR)["messages"][-1].content

    async def export(self, world, guard, path):
        messages = (await self.graph(world, guard).ainvoke(GO, FAR))["messages"]
        path.write_text(json.dumps(convert_to_openai_messages(messages)), "utf-8")
        return messages[-1].content

    async def delegate(self, outer, inner, guard):
        @tool
        async def ask_reviewer(task: str) -> str:
            """Ask the reviewer."""
            config = {**FAR, "metadata": {"lc_agent_name": "reviewer"}}
            return (await self.graph(inner, guard).ainvoke(GO, config))["messages"][-1].content

        return (await self.graph(outer, guard, [ask_reviewer]).ainvoke(GO, FAR))["messages"][-1].content

    def test_an_answer_in_blocks_is_nudged_about(self):
        """Tools of MCP servers answer with lists of blocks: the nudge is one more."""
        world = World(LOOP)

        def read_file(path: str) -> list[dict[str, str]]:
            """Read a file."""
            return [{"type": "text", "text": world.do("read_file", path=path)}]

        world.tools = lambda: [read_file]
        assert isinstance(self.attempt(world, self.guard(), "sync").error, LoopStopped)
        assert [MARK in texts(request) for request in world.requests[:4]] == [False, False, False, True]

    async def run_again(self, world, guard):
        graph = StateGraph(MessagesState)
        model, config = Scripted(world=world), {"configurable": {"thread_id": "t"}}
        graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_node("tools", guard.tool_node([asking(world)]))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        compiled = graph.compile(checkpointer=InMemorySaver())
        for request in (GO, Command(resume="yes")):
            found = await compiled.ainvoke(request, config)
        return found["messages"][-1].content
