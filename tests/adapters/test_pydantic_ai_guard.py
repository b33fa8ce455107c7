"""What `LoopGuard` does to a Pydantic AI agent that goes in circles, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai is not installed")

from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.capabilities import AbstractCapability, Instrumentation
from pydantic_ai.exceptions import AgentRunError, UnexpectedModelBehavior
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.tools import DeferredToolResults, Tool, ToolApproved
from pydantic_ai_script import A, Script, agent_for, call, differs, event_loop, returns, same, stopped, told

from unstuck.adapters.pydantic_ai import LoopGuard
from unstuck.config import Options
from unstuck.errors import SettingsError
from unstuck.events import Call, Event, Message
from unstuck.findings import Finding, Level
from unstuck.live import MARK

__all__ = ("event_loop",)

PAY = [call("charge", {"a": "card"})]


class Probe(AbstractCapability[Any]):
    """Notes the retries that the framework has counted, at every request."""

    def __init__(self) -> None:
        self.retries: list[dict[str, int]] = []

    async def before_model_request(self, ctx, request_context):
        self.retries.append(dict(ctx.retries))
        return request_context


LADDERS = [
    ({}, 4, ["nudge", "block", "stop"]),
    ({"detectors": {"repeated_result": {"nudge": None, "block": 2, "stop": 3}}}, 1, ["block", "stop"]),
    ({"detectors": {"repeated_result": {"nudge": None, "block": 2, "stop": None}}}, 1, ["block"]),
]


@pytest.mark.parametrize(("settings", "times", "levels"), LADDERS)
def test_a_side_effect_does_not_happen_after_a_block(settings, times, levels):
    """`charge` ran as often as before the first block, whatever the model asks for afterwards; each further call is answered."""
    executed: list[str] = []

    def charge(tool: str, args: dict[str, Any], number: int) -> str:
        executed.append(tool)
        return "charged"

    guard: LoopGuard[Any] = LoopGuard(**settings)
    script = Script([PAY] * 12)
    agent = agent_for(script, charge, guard, tools=("charge",), retries=1)
    if "stop" in levels:
        stopped(agent)
    else:
        assert agent.run_sync("go").output == "done"
    assert len(executed) == times
    assert [finding.level.label for finding in guard.findings] == levels
    answers = returns(script.requests[-1])
    assert [part.outcome for part in answers] == ["success"] * times + ["failed"] * (len(answers) - times)
    assert all(part.content.startswith(f"{MARK}This call was not executed.") for part in answers[times:])


def test_what_an_executed_call_returned_is_never_lost():
    """Nudged, blocked and stopped, every answer of a tool that ran stands in the history, as what it was."""
    answered: list[str] = []

    def answer(tool: str, args: dict[str, Any], number: int) -> str:
        answered.append(f"{tool} {args['a']}: nothing new")
        return answered[-1]

    script = Script([[*A, call("find", {"a": number})] for number in range(12)])
    guard: LoopGuard[Any] = LoopGuard()
    stopped(agent_for(script, answer, guard))
    assert sorted(str(part.content) for part in returns(script.requests[-1], "success")) == sorted(answered)
    assert {finding.level for finding in guard.findings} == {Level.NUDGE, Level.BLOCK, Level.STOP}


def test_no_retry_is_spent():
    """A tool with a single retry left is nudged about and blocked many times; the framework has counted none."""
    probe = Probe()
    guard: LoopGuard[Any] = LoopGuard(detectors={"repeated_result": {"stop": 30}})
    script = Script([A] * 20)
    agent = agent_for(script, same, guard, probe, retries=1)
    assert agent.run_sync("go").output == "done"
    assert guard.runs.last is not None
    assert guard.runs.last.blocked == 16
    assert [sum(counts.values()) for counts in probe.retries] == [0] * 21
    assert returns(script.requests[-1], "retried") == []


def test_a_nudge_asks_for_no_request_and_stands_behind_the_results():
    """As many requests as without it; it follows the round's results, and none is said after the last response."""
    script = Script([A] * 3)
    messages = agent_for(script, same, LoopGuard()).run_sync("go").all_messages()
    assert len(script.requests) == 4
    assert [len(told(request)) for request in script.requests] == [0, 0, 0, 1]
    parts = [type(part) for message in script.requests[3] for part in message.parts]
    assert parts[-3:] == [ToolCallPart, ToolReturnPart, SystemPromptPart]
    (nudge,) = told(messages)
    assert nudge.metadata == {"origin": "unstuck.nudge.v1", "pattern": "repeated_result", "tool_names": ["look"]}
    late = Script([[*A, *A, *A, TextPart("x")]])
    assert told(agent_for(late, same, LoopGuard()).run_sync("go").all_messages()) == []


def test_the_words_can_be_ones_own():
    """`wording` makes every text the model reads; the mark before it stays."""
    guard: LoopGuard[Any] = LoopGuard(wording=lambda evidence, level, n: f"{level.label} {evidence.pattern} {n}")
    script = Script([A] * 12)
    stopped(agent_for(script, same, guard))
    assert [part.content for part in told(script.requests[-1])] == [f"{MARK}nudge repeated_result 3"]
    assert returns(script.requests[-1])[-1].content == f"{MARK}block repeated_result 7"


def test_findings_can_be_read_and_heard():
    """By run id, for the latest run, for all runs, and as they come; the events, too."""
    heard: list[Finding] = []
    events: list[Event] = []
    guard: LoopGuard[Any] = LoopGuard(on_finding=heard.append, on_event=events.append)
    result = agent_for(Script([A] * 4), same, guard).run_sync("go")
    record = guard.runs[result.run_id]
    assert guard.runs.last is record
    assert list(record.findings) == list(guard.findings) == heard
    assert (record.calls, record.messages, record.ending, record.stopped) == (4, 5, "finished", None)
    assert [type(event).__name__ for event in events[:5]] == ["RunStart", "User", "Message", "Call", "Result"]


def test_old_records_make_room():
    """A guard that serves for months keeps the records of 256 runs."""
    guard: LoopGuard[Any] = LoopGuard()
    agent = agent_for(Script([]), same, guard)
    for number in range(260):
        agent.run_sync("go", run_id=f"r{number}")
    assert (len(guard.runs), next(iter(guard.runs))) == (256, "r4")


@pytest.mark.parametrize(
    "settings", [{"on_stop": "quit"}, {"ceiling": 5}, {"no_such": 1}, {"options": Options(), "shadow": True}]
)
def test_settings_that_cannot_be_are_refused(settings):
    """When the guard is made, with the name of the setting."""
    with pytest.raises(SettingsError):
        LoopGuard(**settings)


def test_an_agent_file_can_name_it():
    """`LoopGuard` is made from a YAML or JSON description of an agent, with a preset's name or with settings."""
    for given, name in (("pydantic-ai-harness", "pydantic-ai-harness"), ({"on_stop": "answer", "exempt": ["look"]}, "default")):
        spec = {"model": "test", "capabilities": [{"LoopGuard": given}]}
        found: list[LoopGuard[Any]] = []
        agent = Agent.from_spec(spec, custom_capability_types=[LoopGuard])
        agent.root_capability.apply(lambda one, found=found: found.append(one) if isinstance(one, LoopGuard) else None)
        assert [one.rules.name for one in found] == [name]
    assert (found[0].on_stop, found[0].rules.reading.exempt) == ("answer", frozenset(("look",)))


class Report(BaseModel):
    summary: str


def test_an_output_that_is_rejected_again_and_again_is_a_loop():
    """Output tools are calls as well: they are never blocked, but a run that goes on like that is nudged and stopped."""

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"sumary": "x"})])

    guard: LoopGuard[Any] = LoopGuard()
    error = stopped(Agent(FunctionModel(model), capabilities=[guard], output_type=Report, retries=50))
    assert (error.finding.tools, guard.runs.last and guard.runs.last.blocked) == (("final_result",), 0)
    assert guard.findings[0].level is Level.NUDGE


def test_what_the_provider_runs_itself_is_seen():
    """Native calls have run when the response arrives: the model can be nudged about them, and the run stopped."""
    search = [NativeToolCallPart("web_search", {"q": "x"}, "n"), NativeToolReturnPart("web_search", "nothing", "n")]
    guard: LoopGuard[Any] = LoopGuard(kinds={"look": "read"})  # what only looks excuses no other look
    script = Script([[*search, call(args={"a": number})] for number in range(12)])
    error = stopped(agent_for(script, differs, guard))
    assert error.finding.tools == ("web_search",)
    assert len(told(script.requests[3])) == 1


def test_an_earlier_conversation_does_not_count():
    """A person who writes again begins a turn: two calls before and two after are no loop."""
    guard: LoopGuard[Any] = LoopGuard()
    earlier = agent_for(Script([A] * 2), same, guard).run_sync("go").all_messages()
    agent_for(Script([A] * 2), same, guard).run_sync("again", message_history=earlier)
    assert guard.findings == ()


def approving(guard: LoopGuard[Any], script: Script) -> tuple[Agent[None, Any], list[str]]:
    executed: list[str] = []

    def deploy(a: str) -> str:
        executed.append(a)
        return "nothing changed"

    tools = [Tool(deploy, requires_approval=True)]
    return Agent(FunctionModel(script), tools=tools, capabilities=[guard], output_type=[str, DeferredToolRequests]), executed


def test_a_run_is_resumed_with_a_persons_approval():
    """A call that waited in the history runs, though the resumed run never saw the model ask for it."""
    guard: LoopGuard[Any] = LoopGuard()
    agent, executed = approving(guard, Script([[call("deploy", {"a": "x"}, "d1")]]))
    waiting = agent.run_sync("go")
    assert isinstance(waiting.output, DeferredToolRequests)
    allowed = DeferredToolResults(approvals={"d1": True})
    again = agent.run_sync(message_history=waiting.all_messages(), deferred_tool_results=allowed)
    assert (again.output, executed, guard.findings) == ("done", ["x"], ())


class Approve(AbstractCapability[Any]):
    """A person who allows every call."""

    async def handle_deferred_tool_calls(self, ctx, *, requests):
        return DeferredToolResults(approvals={part.tool_call_id: ToolApproved() for part in requests.approvals})


def test_an_approved_call_is_not_blocked():
    """What a person allowed runs, also where the ladder would block it; a stop still ends the run."""
    guard: LoopGuard[Any] = LoopGuard()
    script = Script([[call("deploy", {"a": "x"})]] * 12)
    agent, executed = approving(guard, script)
    stopped(agent, capabilities=[Approve()])
    assert len(executed) == 7
    assert returns(script.requests[-1], "failed") == []


def test_a_tool_can_say_what_it_is():
    """Metadata of a tool tell its kind: a tool that waits is given twice the counts."""
    events: list[Event] = []
    guard: LoopGuard[Any] = LoopGuard(on_event=events.append)

    def look(a: int) -> str:
        return "not yet"

    tool = Tool(look, metadata={"unstuck": {"kind": "wait"}})
    script = Script([A] * 5)
    Agent(FunctionModel(script), tools=[tool], capabilities=[guard]).run_sync("go")
    assert guard.findings == ()
    assert {event.annotations["kind"] for event in events if isinstance(event, Call) and event.annotations} == {"wait"}


def test_annotations_of_mcp_servers_are_used():
    """A tool that its server calls destructive changes the world: what was looked at before may be looked at again."""
    guard: LoopGuard[Any] = LoopGuard()
    hints = {"annotations": {"readOnlyHint": False}, "meta": None}
    change = Tool(lambda a=None: "ok", name="spin", metadata=hints, takes_ctx=False)
    script = Script([part for number in range(4) for part in (A, [call("spin", {"a": number})])])
    agent = Agent(FunctionModel(script), tools=[change], capabilities=[guard])
    agent.tool_plain(name="look")(lambda a=None: "3 tests fail")
    agent.run_sync("go")
    assert guard.findings == ()


def nested(outer: LoopGuard[Any], inner: LoopGuard[Any]) -> Agent[None, Any]:
    helper = agent_for(Script([A] * 2), same, inner, name="helper")
    agent = Agent(FunctionModel(Script([[call("ask", {"a": 1})]])), capabilities=[outer])

    @agent.tool_plain
    async def ask(a: int) -> str:
        return str((await helper.run("help")).output)

    return agent


def test_a_sub_agent_with_rules_of_its_own_is_a_run_of_its_own():
    """Under the same rules it is part of the run above it; under others it is judged by those, and linked by its record."""
    events: list[Event] = []
    guard: LoopGuard[Any] = LoopGuard(on_event=events.append)
    nested(guard, guard).run_sync("go", run_id="above")
    speakers = [(event.agent, event.parent) for event in events if isinstance(event, Message)]
    assert speakers == [("main", None), *[("helper", "main")] * 3, ("main", None)]
    assert len({event.run for event in events}) == 1
    events.clear()
    other: LoopGuard[Any] = LoopGuard(ceiling=50, on_event=events.append)
    nested(guard, other).run_sync("go", run_id="above")
    assert other.runs.last is not None
    assert (other.runs.last.parent, len({event.run for event in events})) == ("above", 2)


def test_an_unattended_run_has_a_ceiling():
    """Where nobody can answer, 100 identical exchanges end the run, also of a tool that is exempt."""
    from pydantic_ai import UsageLimits

    guard: LoopGuard[Any] = LoopGuard(attended=False, exempt=["look"], ceiling=20)
    script = Script([A] * 50)
    error = stopped(agent_for(script, same, guard), usage_limits=UsageLimits(request_limit=None))
    assert (error.finding.repeats, len(script.requests)) == (20, 20)


def test_a_finding_leaves_a_span():
    """Each finding is a span without duration in the run's trace, without content; no message in the history is touched."""
    pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentation = Instrumentation(InstrumentationSettings(tracer_provider=provider, include_content=False))
    script = Script([[call(args={"a": "hunter2"})]] * 12)
    stopped(agent_for(script, same, LoopGuard(), instrumentation))
    spans = [span for span in exporter.get_finished_spans() if span.name == "loop detected"]
    assert [(span.attributes or {})["unstuck.decision"] for span in spans] == ["nudge", "block", "stop"]
    assert dict(spans[0].attributes or {}) == {
        "unstuck.pattern": "repeated_result",
        "unstuck.decision": "nudge",
        "unstuck.shadow": False,
        "unstuck.loop": 1,
        "unstuck.count": 3,
        "unstuck.unit": "calls",
        "unstuck.tool_names": ("look",),
    }


def test_without_a_guard_such_a_run_dies_by_its_limits():
    """What the guard's users had before: the framework's request limit, after fifty requests."""
    from pydantic_ai.exceptions import UsageLimitExceeded

    script = Script([A] * 60)
    with pytest.raises(UsageLimitExceeded):
        agent_for(script, same).run_sync("go")
    assert len(script.requests) == 50
    assert issubclass(UsageLimitExceeded, AgentRunError)
    assert issubclass(UnexpectedModelBehavior, AgentRunError)
