"""Pydantic AI runs that stream, under `LoopGuard`."""

from __future__ import annotations

import io
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai is not installed")

from pydantic_ai import capture_run_messages
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    TextPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai_script import A, Script, agent_for, event_loop, finish, same, told

from unstuck.adapters.pydantic_ai import LoopGuard, LoopStopped
from unstuck.findings import Level
from unstuck.scan import Scan
from unstuck.traces.source import Source

__all__ = ("event_loop",)


def test_a_stream_consumer_gets_the_stop():
    """Events of the run come until it is stopped; the error is raised where the stream is consumed."""
    seen: list[Any] = []

    async def pieces(messages: list[ModelMessage], info: AgentInfo) -> Any:
        yield {0: DeltaToolCall("look", '{"a": 1}')}

    async def main() -> None:
        agent = agent_for(Script([]), same, LoopGuard())
        async with agent.run_stream_events("go", model=FunctionModel(stream_function=pieces)) as stream:
            async for event in stream:
                seen.append(event)  # noqa: PERF401 - what came before the error is looked at

    with pytest.raises(LoopStopped):
        finish(main())
    assert seen != []


SPAM = "I will now look into the matter and then tell what I have found. "


@pytest.mark.skipif(not hasattr(AbstractCapability, "get_wrapper_model"), reason="Pydantic AI wraps no models before 2.62")
def test_a_response_that_goes_round_is_cut_while_it_streams():
    """The stream ends after a few laps, what came until then is the response, and the finding says where that was."""
    sent: list[int] = []

    async def pieces(messages: list[ModelMessage], info: AgentInfo) -> Any:
        for number in range(1000):
            sent.append(number)
            yield SPAM

    guard: LoopGuard[Any] = LoopGuard()

    async def main() -> str:
        agent = agent_for(Script([]), same, guard, output_type=str)
        async with agent.run_stream("go", model=FunctionModel(stream_function=pieces)) as result:
            return str(await result.get_output())

    with capture_run_messages() as messages:
        assert finish(main()) == SPAM * len(sent)
    assert len(sent) < 40
    assert [(found.pattern, found.message, found.level) for found in guard.findings] == [("degenerate_text", 1, Level.BLOCK)]
    source = Source(io.BytesIO(ModelMessagesTypeAdapter.dump_json(messages)), "run.json")
    (report,) = Scan().runs(source)
    laps = {"repeats": 0}  # a finished text shows laps that a stream was not looked at for
    assert [found._replace(**laps) for found in report.findings] == [found._replace(**laps) for found in guard.findings]


def test_a_response_that_went_round_is_told_so():
    """Where nothing streamed there is nothing to cut: the model reads about it in the next request, if there is one."""
    guard: LoopGuard[Any] = LoopGuard()
    script = Script([[TextPart(SPAM * 40), *A], A])
    agent_for(script, same, guard).run_sync("go")
    assert [found.pattern for found in guard.findings] == ["degenerate_text"]
    (nudge,) = told(script.requests[1])
    assert "repeats" in nudge.content
    assert "not executed" not in nudge.content


def test_a_stream_of_honest_text_is_left_alone():
    """All of it arrives."""
    text = [f"Line {number} says {number * number}.\n" for number in range(200)]

    async def pieces(messages: list[ModelMessage], info: AgentInfo) -> Any:
        for piece in text:
            yield piece

    async def main() -> str:
        agent = agent_for(Script([]), same, LoopGuard(), output_type=str)
        async with agent.run_stream("go", model=FunctionModel(stream_function=pieces)) as result:
            return str(await result.get_output())

    assert finish(main()) == "".join(text)
