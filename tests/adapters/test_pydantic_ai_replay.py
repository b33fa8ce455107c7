"""What a guard finds in a live run is what `unstuck scan` finds in the run's exported messages."""

from __future__ import annotations

import asyncio
import io
import random
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai is not installed")

from pydantic_ai import Agent, BinaryContent, ModelRetry, ToolReturn, capture_run_messages
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_script import A, Script, agent_for, event_loop, same

from unstuck.adapters.pydantic_ai import LoopGuard, LoopStopped
from unstuck.events import User
from unstuck.findings import Finding, Level
from unstuck.readers import read
from unstuck.scan import Scan
from unstuck.traces.source import Source

__all__ = ("event_loop",)

TOOLS = ("read_file", "write_file", "job_status", "search", "run_tests")
SETTINGS: list[dict[str, Any]] = [
    {},
    {},
    {"shadow": True},
    {"on_stop": "answer"},
    {"on_stop": "end"},
    {"strongest": "nudge", "detectors": {"degenerate_text": None}},
    {"preset": "pydantic-ai-harness"},
]


def scanned(messages: list[ModelMessage], rules: Any) -> dict[str, list[Finding]]:
    """The findings of each run in exported *messages*."""
    source = Source(io.BytesIO(ModelMessagesTypeAdapter.dump_json(messages)), "run.json")
    return {report.run: list(report.findings) for report in Scan(rules).runs(source)}


def turn(choose: random.Random) -> list[Any] | str:
    """One response: a text that will be rejected, or up to three calls, some of them broken."""
    if choose.random() < 0.1:
        return choose.choice(["Working on it.", "working  on it.", "Nearly there."])
    parts: list[Any] = [TextPart("Let me see.")] if choose.random() < 0.3 else []
    if choose.random() < 0.2:
        parts.append(ThinkingPart("Hm."))
    if choose.random() < 0.1:
        parts += [NativeToolCallPart("web_search", {"q": 1}, "n1"), NativeToolReturnPart("web_search", ["a", {"b": 1}], "n1")]
    for _ in range(choose.choice([1, 1, 1, 2, 3])):
        tool = choose.choice([*TOOLS, "no_such_tool"])
        args: Any = choose.choice([{"a": choose.randrange(2)}, f'{{"a": {choose.randrange(2)}}}', {"b": 1}, {"c": 1}, None])
        parts.append(ToolCallPart(tool, args))
    return parts


def script(seed: int) -> list[Any]:
    """A run: some turns, and most times a stretch of them over and over."""
    choose = random.Random(seed)
    turns = [turn(choose) for _ in range(choose.randrange(2, 8))]
    stretch = turns[-choose.randrange(1, 4) :]
    return turns + stretch * choose.randrange(0, 12) + [turn(choose) for _ in range(3)]


def answers(seed: int) -> Any:
    """Tools that answer with anything, often with the same."""
    choose = random.Random(seed)
    constant: dict[str, Any] = {
        tool: choose.choice(
            ["10 lines", {"rows": [1, {"x": 2}]}, "", None, 3, True, [BinaryContent(b"x", media_type="image/png"), "y"]]
        )
        for tool in TOOLS
    }

    def answer(tool: str, args: dict[str, Any], number: int) -> Any:
        kind = choose.random()
        if kind < 0.05:
            raise ModelRetry("not like that")
        if kind < 0.1:
            return ToolReturn(f"{number} rows", content="see above")
        return f"{number} lines" if kind < 0.3 else constant[tool]

    return answer


def live(seed: int) -> tuple[LoopGuard[Any], list[ModelMessage], BaseException | None]:
    """Run script *seed* under a guard; return the guard, the run's messages and how it failed."""
    guard: LoopGuard[Any] = LoopGuard(**SETTINGS[seed % len(SETTINGS)])
    agent = agent_for(Script(script(seed)), answers(seed), guard, tools=TOOLS)
    failed = None
    with capture_run_messages() as messages:
        try:
            agent.run_sync("go")
        except AgentRunError as error:
            failed = error
    return guard, messages, failed


BLOCKS = [*range(2), *(pytest.param(block, marks=pytest.mark.slow) for block in range(2, 10))]


@pytest.mark.parametrize("block", BLOCKS)
def test_live_equals_recorded(block):
    """Over 200 random scripts, under several settings: the same findings, at the same calls, with the same counts and hashes."""
    levels: set[Level] = set()
    for seed in range(block * 20, block * 20 + 20):
        guard, messages, failed = live(seed)
        assert failed is None or isinstance(failed, LoopStopped) or "exceed" in str(failed), seed
        (record,) = guard.runs.values()
        assert scanned(messages, guard.rules) == {record.run_id: list(record.findings)}, seed
        levels |= {finding.level for finding in record.findings}
    assert {Level.NUDGE, Level.BLOCK, Level.STOP} <= levels


def test_a_conversation_is_one_run_for_each_prompt():
    """Messages of several runs in one history are told apart by their run ids, and each gives what was found live."""
    guard: LoopGuard[Any] = LoopGuard()
    history: list[ModelMessage] = []
    for prompt in ("first", "second"):
        history = agent_for(Script([A] * 4), same, guard).run_sync(prompt, message_history=history).all_messages()
    assert scanned(history, guard.rules) == {record.run_id: list(record.findings) for record in guard.runs.values()}
    assert [len(record.findings) for record in guard.runs.values()] == [1, 1]
    source = Source(io.BytesIO(ModelMessagesTypeAdapter.dump_json(history)), "run.json")
    assert [event.text for event in read(source)[1] if isinstance(event, User)] == ["first", "second"]


def test_two_hundred_runs_at_a_time_are_judged_alone():
    """On one agent, every third of 200 concurrent runs loops: those are stopped, the others end, and each has its own findings."""

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        first = messages[0].parts[-1]
        assert isinstance(first, UserPromptPart)
        number = sum(isinstance(message, ModelResponse) for message in messages)
        if number == 12:
            return ModelResponse(parts=[TextPart("done")])
        path = "notes.txt" if str(first.content).startswith("loop") else f"{first.content}/{number}.txt"
        return ModelResponse(parts=[ToolCallPart("read_file", {"path": path})])

    guard: LoopGuard[Any] = LoopGuard()
    agent = Agent(FunctionModel(model), capabilities=[guard])

    @agent.tool_plain
    async def read_file(path: str) -> str:
        await asyncio.sleep(0.001)
        return f"what stands in {path}"

    async def main() -> list[Any]:
        prompts = [f"loop {number}" if number % 3 == 0 else f"work {number}" for number in range(200)]
        runs = [agent.run(prompt, run_id=prompt) for prompt in prompts]
        return await asyncio.gather(*runs, return_exceptions=True)

    ended = asyncio.get_event_loop().run_until_complete(main())
    for number, one in enumerate(ended):
        record = guard.runs[f"loop {number}" if number % 3 == 0 else f"work {number}"]
        if number % 3 == 0:
            assert isinstance(one, LoopStopped)
            assert (one.run_id, [finding.call for finding in record.findings]) == (record.run_id, [3, 5, 8])
        else:
            assert (one.output, list(record.findings)) == ("done", [])
