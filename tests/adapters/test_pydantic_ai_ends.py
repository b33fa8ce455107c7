"""How a run of a Pydantic AI agent ends that `LoopGuard` stops."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai is not installed")

from pydantic import BaseModel
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_script import A, Script, agent_for, call, event_loop, same, stopped, told

from unstuck import errors
from unstuck.adapters.pydantic_ai import LoopGuard, LoopStopped
from unstuck.findings import Level
from unstuck.live import MARK

__all__ = ("event_loop",)


def test_a_stop_is_an_agent_run_error_and_crosses_processes():
    """It is caught as either of its kinds, says which loop in which run without any argument, and pickles."""
    guard: LoopGuard[Any] = LoopGuard()
    script = Script([[call(args={"a": "hunter2"})]] * 12)
    error = stopped(agent_for(script, same, guard), run_id="r1")
    assert isinstance(error, AgentRunError)
    assert isinstance(error, errors.LoopStopped)
    assert (error.finding.pattern, error.finding.repeats, error.run_id) == ("repeated_result", 8, "r1")
    assert "hunter2" not in str(error) + repr(error.finding)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.finding, again.run_id, str(again)) == (LoopStopped, error.finding, "r1", str(error))
    assert guard.runs["r1"].ending == "stopped"


class Report(BaseModel):
    summary: str


def test_a_last_answer_instead_of_an_error():
    """With `on_stop="answer"` the model is asked once more, told why, without tools; the record says how it ended."""
    offered: list[list[str]] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered.append([tool.name for tool in info.function_tools])
        return ModelResponse(parts=A if info.function_tools else [TextPart("I could not find it.")])

    guard: LoopGuard[Any] = LoopGuard(on_stop="answer")
    agent = agent_for(Script([]), same, guard, output_type=str)
    result = agent.run_sync("go", model=FunctionModel(model))
    assert result.output == "I could not find it."
    assert offered == [["look", "find", offered[0][2]]] * 8 + [[]]
    last = told(result.all_messages())[-1]
    assert (last.metadata or {})["origin"] == "unstuck.answer.v1"
    assert "final answer" in last.content
    record = guard.runs[result.run_id]
    assert (record.ending, record.stopped and record.stopped.level) == ("answered", Level.STOP)


def test_a_last_answer_may_be_structured():
    """Output tools stay when all others go."""

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        final = [ToolCallPart(info.output_tools[0].name, {"summary": "stuck"})]
        return ModelResponse(parts=A if info.function_tools else final)

    agent = agent_for(Script([]), same, LoopGuard(on_stop="answer"), output_type=Report)
    assert agent.run_sync("go", model=FunctionModel(model)).output == Report(summary="stuck")


def test_a_model_that_does_not_answer_is_stopped():
    """A last answer is asked for once: calls in it are not executed, and then the run ends with the error."""
    script = Script([A] * 20)
    executed: list[int] = []
    guard: LoopGuard[Any] = LoopGuard(on_stop="answer")
    stopped(agent_for(script, lambda tool, args, number: executed.append(number), guard))
    assert (len(script.requests), len(executed)) == (9, 4)


def test_a_quiet_end_needs_text_as_output():
    """With `on_stop="end"` an agent of structured output is stopped by the error, since no such output can be made up."""
    quiet: LoopGuard[Any] = LoopGuard(on_stop="end")
    ended = agent_for(Script([A] * 12), same, quiet, output_type=str).run_sync("go")
    assert ended.output.startswith(MARK)
    assert quiet.runs[ended.run_id].ending == "stopped"
    stopped(agent_for(Script([A] * 12), same, LoopGuard(on_stop="end"), output_type=Report))
