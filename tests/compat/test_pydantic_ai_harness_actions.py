"""What `DetectLoops` promises to do with a loop, on a real agent with a scripted model."""

from __future__ import annotations

import asyncio
import copy
import pickle
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai is not installed")

from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import AbstractCapability, Instrumentation
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.profiles import ModelProfile
from pydantic_ai_script import ODD, ORIGIN, A, B, C, Script, agent_for, call, differs, event_loop, finish, nudges, same, trial

from unstuck.compat.pydantic_ai_harness import DetectedLoop, DetectLoops, LoopDetectedError

__all__ = ("event_loop",)


def _plain(requests: Sequence[Sequence[ModelMessage]]) -> list[Any]:
    return [
        [
            [(type(part).__name__, part.content if hasattr(part, "content") else part.args) for part in message.parts]
            for message in messages
        ]
        for messages in requests
    ]


def test_a_run_without_a_loop_sends_the_same_requests():
    """The guard adds no tools and no words unless it found something."""
    with_guard, without = Script([A, B, C, A]), Script([A, B, C, A])
    guarded, bare = agent_for(with_guard, differs, DetectLoops()), agent_for(without, differs)
    assert len(guarded.run_sync("go").all_messages()) == len(bare.run_sync("go").all_messages())
    assert _plain(with_guard.requests) == _plain(without.requests)
    guard: DetectLoops[Any] = DetectLoops()
    assert (guard.get_instructions(), guard.get_toolset()) == (None, None)


def test_the_nudge_joins_the_request_and_stays():
    """It is a system prompt behind the results, with the documented words and metadata, sent unchanged from there on."""
    script = Script([A] * 4)
    result = agent_for(script, same, DetectLoops()).run_sync("go")
    (nudge,) = nudges(result.all_messages())
    assert nudge.content == (
        "Your last 3 calls to `look` used the same arguments and returned the same result, so calling it again will not change the "
        "outcome. Change your approach, or explain what is blocking you."
    )
    assert nudge.metadata == {"origin": ORIGIN, "pattern": "repeated_result", "tool_names": ["look"]}
    assert nudge.scope == "conversation"
    assert [len(nudges(request)) for request in script.requests] == [0, 0, 0, 1, 1]
    parts = [type(part) for message in script.requests[3] for part in message.parts]
    assert parts[-3:] == [ToolCallPart, ToolReturnPart, SystemPromptPart]


def test_a_model_without_inline_system_prompts_reads_it_as_user_text():
    """Pydantic AI wraps it in `<system>` there."""
    script = Script([A] * 3)
    agent = agent_for(script, same, DetectLoops())
    agent.run_sync("go", model=FunctionModel(script, profile=ModelProfile(supports_inline_system_prompts=False)))
    parts = [part for message in script.requests[3] for part in message.parts if isinstance(part, UserPromptPart)]
    assert str(parts[-1].content).startswith("<system>")
    assert "Your last 3 calls" in str(parts[-1].content)


def test_a_tool_name_cannot_carry_words_into_the_nudge():
    """Everything but letters, digits and `_` is replaced in the text; the metadata have the real name."""
    result = agent_for(Script([[call(ODD, {"a": 1})]] * 3), same, DetectLoops()).run_sync("go")
    (nudge,) = nudges(result.all_messages())
    assert "`dots_and_dashes__x_`" in nudge.content
    assert (nudge.metadata or {})["tool_names"] == [ODD]


WORDS = [
    ([A] * 5, differs, {}, "5 times"),
    ([A, C] * 3, differs, {}, "`look` and `find`"),
    ([A, B] * 3, differs, {}, "two different calls"),
]


@pytest.mark.parametrize(("responses", "results", "settings", "words"), WORDS)
def test_each_pattern_has_words_of_its_own(responses, results, settings, words):
    """The nudge says what was counted and which tools it was."""
    ((_, loop),) = trial(responses, results, **settings).loops
    assert words in loop.message
    assert loop.message.endswith("Change your approach, or explain what is blocking you.")


LOOPS = [
    ([A] * 3, same, ("repeated_result", ("look",), 3, 10, 1)),
    ([A] * 5, differs, ("repeated_call", ("look",), 5, 10, 1)),
    ([A, C] * 3, differs, ("alternating_calls", ("look", "find"), 3, 10, 2)),
    ([A, B] * 3, differs, ("alternating_calls", ("look", "look"), 3, 10, 2)),
]


@pytest.mark.parametrize(("responses", "results", "expected"), LOOPS)
def test_a_loop_says_what_it_is(responses, results, expected):
    """Pattern, tools, count, window and one hash for each call."""
    ((_, loop),) = trial(responses, results).loops
    assert (loop.pattern, loop.tool_names, loop.count, loop.window, len(loop.fingerprints)) == expected


def test_a_loop_of_text_says_what_it_is():
    """No tools, the number of responses that were looked at, and the hash of the text."""
    ((_, loop),) = trial(["no"] * 3).loops
    assert (loop.pattern, loop.tool_names, loop.count, loop.window, len(loop.fingerprints)) == ("repeated_text", (), 3, 3, 1)


PROGRAM = """
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from unstuck.compat.pydantic_ai_harness import DetectLoops, LoopDetectedError

agent = Agent(FunctionModel(lambda messages, info: ModelResponse(parts=[ToolCallPart("look", {"b": 2, "a": 1})])),
              capabilities=[DetectLoops(action="error")])

@agent.tool_plain
def look(a: int, b: int) -> str:
    return "same"

try:
    agent.run_sync("go")
except LoopDetectedError as error:
    print(error.loop.fingerprints)
"""


def test_a_call_has_the_same_fingerprint_in_every_process():
    """Hashes depend on neither the process nor the run, and hold no argument in the clear."""
    printed = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={"PYTHONHASHSEED": seed, "PATH": "", "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    secret = trial([[call(args={"a": "hunter2"})]] * 3).loops[0][1]
    assert "hunter2" not in repr(secret)
    assert trial([[call(args={"a": "hunter2"})]] * 3).loops[0][1].fingerprints == secret.fingerprints


def test_error_ends_the_run():
    """`LoopDetectedError` is an `AgentRunError`, carries the loop, says its message, and survives pickling."""
    script = Script([A] * 9)
    agent = agent_for(script, same, DetectLoops(action="error"))
    with pytest.raises(LoopDetectedError) as caught:
        agent.run_sync("go")
    error = caught.value
    assert (error.loop.pattern, error.loop.tool_names, error.loop.count) == ("repeated_result", ("look",), 3)
    assert isinstance(error, AgentRunError)
    assert str(error) == error.message == error.loop.message
    assert len(script.requests) == 3
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.loop, str(again)) == (LoopDetectedError, error.loop, str(error))
    assert copy.deepcopy(error).loop == error.loop


def test_a_handler_may_be_a_coroutine_and_may_steer():
    """It is called with the context and the loop; what it enqueues joins the request; nothing else is added."""
    seen: list[str] = []

    async def on_loop(ctx: RunContext[Any], loop: DetectedLoop) -> None:
        await asyncio.sleep(0)
        seen.append(loop.pattern)
        ctx.enqueue(SystemPromptPart("Summarize what you know and stop."))

    script = Script([A] * 3)
    agent_for(script, same, DetectLoops(action=on_loop)).run_sync("go")
    parts = [part for message in script.requests[3] for part in message.parts]
    assert seen == ["repeated_result"]
    assert [part.content for part in parts if isinstance(part, SystemPromptPart)] == ["Summarize what you know and stop."]


def test_a_handler_may_stop_the_run():
    """What it raises reaches the caller."""

    def on_loop(ctx: RunContext[Any], loop: DetectedLoop) -> None:
        raise RuntimeError(loop.pattern)

    with pytest.raises(RuntimeError, match="repeated_result"):
        agent_for(Script([A] * 5), same, DetectLoops(action=on_loop)).run_sync("go")


def test_several_guards_run_independently():
    """One nudges at the defaults, another with higher thresholds stops a run that ignores it."""
    strict = DetectLoops(action="error", repeated_result_threshold=6, repeated_call_threshold=None)
    script = Script([A] * 9)
    with pytest.raises(LoopDetectedError) as caught:
        agent_for(script, same, DetectLoops(), strict).run_sync("go")
    assert caught.value.loop.count == 6
    assert (len(script.requests), len(nudges(script.requests[-1]))) == (6, 1)


def test_concurrent_runs_share_nothing():
    """Each run has an instance of its own; only those that loop are stopped."""

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        first = messages[0].parts[-1]
        assert isinstance(first, UserPromptPart)
        number = sum(isinstance(message, ModelResponse) for message in messages)
        if number == 8:
            return ModelResponse(parts=[TextPart("done")])
        loops = first.content == "loop"
        return ModelResponse(parts=[call(args={"a": 1 if loops else number})])

    agent = Agent(FunctionModel(model), capabilities=[DetectLoops(action="error")])

    @agent.tool_plain
    async def look(a: int) -> str:
        await asyncio.sleep(0.001)
        return "same"

    async def main() -> list[Any]:
        runs = [agent.run("loop" if number % 3 == 0 else "work") for number in range(60)]
        return await asyncio.gather(*runs, return_exceptions=True)

    ended = finish(main())
    assert [isinstance(one, LoopDetectedError) for one in ended] == [number % 3 == 0 for number in range(60)]


def test_a_replay_reaches_the_same_decisions():
    """The hooks depend on the messages alone: the same responses again give the same loops, fingerprints included."""
    responses = [A, A, A, B, A, B, A, B, *[C] * 5]
    first, second = trial(responses, differs), trial(responses, differs)
    assert first.loops == second.loops
    assert first.found != []


HOSTILE = ["\ud800", float("nan"), 2**70, {1: "a", "1": "b"}, {"deep": None}, b"\xff\x00", object()]


@pytest.mark.parametrize("answer", HOSTILE, ids=lambda answer: type(answer).__name__)
def test_no_result_breaks_the_run(answer):
    """Whatever a tool returns, the run ends as it would without the guard; a value is equal to itself."""
    if answer == {"deep": None}:
        for _ in range(500):
            answer = {"deep": answer}

    class Quiet(AbstractCapability[Any]):
        """Gives the model a text instead, since not every such value has a JSON form."""

        async def before_model_request(self, ctx, request_context):
            request_context.messages = request_context.messages[:1]
            return request_context

    found: list[str] = []
    guard = DetectLoops(action=lambda ctx, loop: found.append(loop.pattern))
    agent = agent_for(Script([A] * 3), lambda tool, args, number: answer, guard, Quiet())
    assert agent.run_sync("go").output == "done"
    assert found == ["repeated_result"]


def test_streamed_runs_are_judged_alike():
    """Arguments that arrive as text, in pieces, are the same call; the stop reaches the consumer of the stream."""

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> Any:
        yield {0: DeltaToolCall(name="look", json_args='{"a"')}
        yield {0: DeltaToolCall(json_args=": 1}")}

    async def main() -> DetectedLoop:
        agent = agent_for(Script([]), same, DetectLoops(action="error"))
        with pytest.raises(LoopDetectedError) as caught:
            async with agent.run_stream("go", model=FunctionModel(stream_function=stream)) as result:
                await result.get_output()
        return caught.value.loop

    assert finish(main()).fingerprints == trial([A] * 3).loops[0][1].fingerprints


def test_an_iterated_run_is_judged_alike():
    """`iter` fires the same hooks."""

    nodes = []

    async def main() -> None:
        async with agent_for(Script([A] * 9), same, DetectLoops(action="error")).iter("go") as run:
            async for node in run:
                nodes.append(node)  # noqa: PERF401 - what came before the error is looked at

    with pytest.raises(LoopDetectedError):
        finish(main())
    assert len(nodes) > 3


def test_a_poll_is_a_loop_by_the_documented_rules():
    """Unchanging polls are reported at 3, changing ones at 5; with the checks off, none."""
    poll = [[call("look", {"a": "job"})]] * 8
    assert trial(poll).found[0] == (3, "repeated_result", 3)
    assert trial(poll, differs).found[0] == (5, "repeated_call", 5)
    assert trial(poll, differs, repeated_call_threshold=None).found == []


def test_an_agent_file_can_name_it():
    """`DetectLoops` is made from a YAML or JSON description of an agent."""
    spec = {"model": "test", "capabilities": [{"DetectLoops": {"window": 20, "action": "error"}}]}
    agent = Agent.from_spec(spec, custom_capability_types=[DetectLoops])
    found: list[DetectLoops[Any]] = []
    agent.root_capability.apply(lambda one: found.append(one) if isinstance(one, DetectLoops) else None)
    assert [(one.window, one.action) for one in found] == [(20, "error")]


@pytest.fixture
def spans():
    """Agents are instrumented into this list."""
    pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider, lambda: [span for span in exporter.get_finished_spans() if span.name == "loop detected"]


@pytest.mark.parametrize("content", [True, False])
@pytest.mark.parametrize(("action", "name"), [("nudge", "nudge"), ("error", "error"), (lambda ctx, loop: None, "handler")])
def test_a_detection_leaves_a_span(spans, content, action, name):
    """It has the documented attributes, no content, and hashes only where content is traced."""
    provider, found = spans
    settings = InstrumentationSettings(tracer_provider=provider, include_content=content)
    agent = agent_for(Script([[call(args={"a": "hunter2"})]] * 3), same, DetectLoops(action=action), Instrumentation(settings))
    try:
        agent.run_sync("go")
    except LoopDetectedError:
        assert name == "error"
    (span,) = found()
    expected = {"pattern": "repeated_result", "action": name, "count": 3, "window": 10, "tool_names": ("look",)}
    attributes = {key.removeprefix("detect_loops."): value for key, value in span.attributes.items()}
    assert attributes.pop("fingerprints", None) == (
        trial([[call(args={"a": "hunter2"})]] * 3).loops[0][1].fingerprints if content else None
    )
    assert attributes == expected
    assert "hunter2" not in str(dict(span.attributes))
    assert span.parent is not None


def test_a_run_without_a_loop_leaves_no_span(spans):
    """Checks that find nothing emit nothing."""
    from pydantic_ai.models.instrumented import InstrumentationSettings

    provider, found = spans
    instrumentation = Instrumentation(InstrumentationSettings(tracer_provider=provider))
    agent_for(Script([A, B, C]), differs, DetectLoops(), instrumentation).run_sync("go")
    assert list(found()) == []
