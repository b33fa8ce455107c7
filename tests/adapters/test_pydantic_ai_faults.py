"""Scripts that a published guard misses, reports wrongly or breaks at, under `LoopGuard` on a real agent."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai is not installed")

from pydantic_ai import ModelRetry, UsageLimits
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import SystemPromptPart, ToolReturnPart
from pydantic_ai_script import Script, agent_for, call, event_loop, same

from unstuck.adapters.pydantic_ai import LoopGuard, LoopStopped
from unstuck.findings import Level
from unstuck.live import MARK

__all__ = ("event_loop",)

Answer = Callable[[str, dict[str, Any], int], Any]
TOOLS = ("read_file", "list_files", "search", "write_file", "run_tests", "lint", "job_status", "sleep", "charge", "attach_file")
FAR = UsageLimits(request_limit=None)


def cycle(*tools: str, laps: int = 20) -> list[Any]:
    return [[call(tool, {"a": index})] for _ in range(laps) for index, tool in enumerate(tools)]


def numbered(tool: str, times: int, **fixed: Any) -> list[Any]:
    return [[call(tool, {"a": number, **fixed})] for number in range(times)]


def stamped(tool: str, args: dict[str, Any], number: int) -> str:
    return f"[2026-03-04T10:00:{number % 60:02d}Z] 3 rows, took {number * 7 % 90} ms"


def noisy(*tools: str) -> list[Any]:
    """Sixty calls that differ in a request id alone."""
    return [[call(tools[n % len(tools)], {"a": "open orders", "request_id": str(UUID(int=n * 7919**9))})] for n in range(60)]


def page(tool: str, args: dict[str, Any], number: int) -> str:
    return "\n".join(f"order {n}: open, two items, to be paid by the end of the month" for n in range(17, 25))


def refused(tool: str, args: dict[str, Any], number: int) -> str:
    raise ModelRetry("the path is outside of the workspace")


class Wordless(AbstractCapability[Any]):
    """Keeps values without a JSON form away from the model."""

    async def before_model_request(self, ctx, request_context):
        request_context.messages = request_context.messages[:1]
        return request_context


def run(responses: list[Any], answer: Answer, *capabilities: AbstractCapability[Any]) -> LoopGuard[Any]:
    """Run the script to its end or to the stop."""
    guard: LoopGuard[Any] = LoopGuard()
    agent = agent_for(Script(responses), answer, guard, *capabilities, tools=TOOLS, retries=1000)
    with contextlib.suppress(LoopStopped):
        agent.run_sync("go", usage_limits=FAR)
    return guard


LOOPS: list[tuple[str, list[Any], Answer, int]] = [
    ("a cycle of three", cycle("read_file", "list_files", "search"), same, 9),
    ("a cycle of four", cycle("read_file", "list_files", "search", "lint"), same, 12),
    ("a cycle of five", cycle("read_file", "list_files", "search", "lint", "job_status"), same, 15),
    ("a cycle of six", cycle("read_file", "list_files", "search", "lint", "read_file", "search"), same, 18),
    ("a cycle with time stamps in its results", cycle("read_file", "list_files", "search"), stamped, 9),
    ("A-A-B", [[call("read_file", {"a": step})] for _ in range(20) for step in (1, 1, 2)], same, 9),
    ("a request id that changes", noisy("search"), page, 12),
    ("a request id that changes, short answers", noisy("search"), same, 12),
    ("two in turn with a random argument", noisy("read_file", "list_files"), page, 16),
    ("two in turn with a random argument, short answers", noisy("read_file", "list_files"), same, 16),
    ("time stamps in the results", [[call("search", {"a": "x"})]] * 60, stamped, 6),
    ("the same refusal", [[call("read_file", {"a": "/etc"})]] * 30, refused, 4),
    ("the same refusal of different calls", numbered("read_file", 30), refused, 8),
    ("arguments that are no such", [[call("read_file", {"pth": "x"})]] * 30, same, 4),
    ("objects that print their address", [[call("search", {"a": "x"})]] * 20, lambda tool, args, number: object(), 4),
    ("a text again and again", ["I will fix it now."] * 21, same, 0),
    (
        "the same intention in other words",
        [
            f"{start} look into the failing test and fix it {end}."
            for start in ("I will", "Let me", "Now I")
            for end in ("now", "next", "soon", "first")
        ]
        * 2,
        same,
        0,
    ),
]


@pytest.mark.parametrize(("responses", "answer", "by"), [row[1:] for row in LOOPS], ids=[row[0] for row in LOOPS])
def test_a_loop_is_found_in_time(responses, answer, by):
    """It is nudged within a few rounds, and stopped or blocked long before the script is over."""
    guard = run(responses, answer, Wordless())
    assert guard.findings != ()
    first = guard.findings[0]
    assert first.level is Level.NUDGE
    assert (first.call or 0) <= by
    assert max(finding.level for finding in guard.findings) >= Level.BLOCK
    assert guard.runs.last is not None
    assert guard.runs.last.ending == "stopped"


def progress(tool: str, args: dict[str, Any], number: int) -> str:
    return f"{min(number * 8, 100)} percent done"


def work(tool: str, args: dict[str, Any], number: int) -> str:
    return (
        "ok"
        if tool == "write_file"
        else f"{12 - number // 2} tests failed: {', '.join(f'test_{n}' for n in range(12 - number // 2))}"
    )


def slept(tool: str, args: dict[str, Any], number: int) -> str:
    return "slept 5 s" if tool == "sleep" else f"built {number // 2} of 30 targets"


def edited(tool: str, args: dict[str, Any], number: int) -> str:
    return "ok" if tool == "write_file" else f"version {number} of the file"


SLEEP_AND_LOOK = [turn for _ in range(12) for turn in ([call("sleep", {"a": 5})], [call("job_status")])]
HONEST: list[Any] = [
    ("sleep and look, with progress", SLEEP_AND_LOOK, slept),
    ("a poll that advances", [[call("job_status", {"a": 7})]] * 12, progress),
    ("a poll that jumps", [[call("job_status", {"a": 7})]] * 3, lambda tool, args, n: f"{(10, 40, 80)[n - 1]} percent"),
    (
        "edit and test, fewer failures each time",
        [turn for n in range(10) for turn in ([call("write_file", {"a": "x.py", "b": n})], [call("run_tests")])],
        work,
    ),
    (
        "read again after each edit",
        [turn for n in range(10) for turn in ([call("write_file", {"a": "x.py", "b": n})], [call("read_file", {"a": "x.py"})])],
        edited,
    ),
    ("ten files written", [[call("write_file", {"a": f"{name}.md", "b": name * 9})] for name in "abcdefghij"], lambda *_: "ok"),
    ("three files written", numbered("write_file", 3), lambda *_: "File written"),
    (
        "three searches without a hit",
        [[call("search", {"a": word})] for word in ("tax", "invoice", "refund")],
        lambda *_: "No matches",
    ),
    ("three attachments", [[call("attach_file", {"a": name})] for name in ("a.pdf", "b.pdf", "c.pdf")], lambda *_: True),
]


@pytest.mark.parametrize(("responses", "answer"), [row[1:] for row in HONEST], ids=[row[0] for row in HONEST])
def test_honest_repetition_is_left_alone(responses, answer):
    """Nothing is found, nothing is said, the run ends as its script does."""
    guard = run(responses, answer)
    assert guard.findings == ()
    assert guard.runs.last is not None
    assert (guard.runs.last.ending, guard.runs.last.calls) == ("finished", len(responses))


def test_edits_that_change_nothing_about_the_failure_are_not_stopped_early():
    """Edit, lint, test, with another edit each time and the same failure: trying is work; at most a nudge within ten rounds."""
    turns = [
        turn
        for n in range(10)
        for turn in ([call("write_file", {"a": "x.py", "b": f"attempt {n}"})], [call("lint")], [call("run_tests")])
    ]
    guard = run(turns, lambda tool, args, n: {"write_file": "ok", "lint": "clean"}.get(tool, "1 failed: test_total"))
    assert max((finding.level for finding in guard.findings), default=Level.CONTINUE) <= Level.NUDGE


def history(responses: list[Any], answer: Answer, retries: int = 1) -> tuple[LoopGuard[Any], list[ToolReturnPart], Script]:
    guard: LoopGuard[Any] = LoopGuard()
    script = Script(responses)
    with pytest.raises(LoopStopped):
        agent_for(script, answer, guard, tools=TOOLS, retries=retries).run_sync("go")
    parts = [part for message in script.requests[-1] for part in message.parts]
    return guard, [part for part in parts if isinstance(part, ToolReturnPart)], script


def test_a_warning_costs_no_result():
    """Three equal charges ran: the model sees all three results, and the warning beside them."""
    _, returns, _ = history([[call("charge", {"a": "card"})]] * 12, lambda *_: "charged 10 EUR")
    assert [(part.content, part.outcome) for part in returns[:3]] == [("charged 10 EUR", "success")] * 3


def test_a_warning_does_not_end_the_run():
    """With the framework's default of one retry the run lives through every warning, up to the stop, with the right error."""
    guard, returns, script = history([[call("charge", {"a": "card"})]] * 12, lambda *_: "charged 10 EUR")
    assert [finding.level for finding in guard.findings] == [Level.NUDGE, Level.BLOCK, Level.STOP]
    assert len(script.requests) == 8
    assert {part.outcome for part in returns} == {"success", "failed"}


class Unprintable:
    """A result that cannot be turned into text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "answer", ["\ud800 lone", deep(900), Unprintable(), float("inf"), 2**80], ids=lambda one: type(one).__name__
)
def test_no_result_ends_the_run(answer):
    """What a tool returns never breaks the run, and a loop of it is a loop."""
    guard: LoopGuard[Any] = LoopGuard()
    agent = agent_for(Script([[call("search", {"a": 1})]] * 4), lambda *_: answer, guard, Wordless(), tools=TOOLS)
    assert agent.run_sync("go").output == "done"
    assert [finding.pattern for finding in guard.findings] == ["repeated_result"]


class Watched(LoopGuard[Any]):
    """Notes how large the saved state of its run is after each response."""

    sizes: list[int]

    async def after_model_request(self, ctx, *, request_context, response):
        answer = await super().after_model_request(ctx, request_context=request_context, response=response)
        if self.record.messages % 60 == 0:
            self.sizes.append(len(self._run.live.monitor.dump()))
        return answer


def test_memory_does_not_grow_with_the_run():
    """After many times the window of different calls the state is hardly larger than once the window was full."""
    guard = Watched(window=16)
    guard.sizes = []
    script = Script(numbered("read_file", 300))
    agent = agent_for(script, lambda tool, args, n: f"line {n * n}", guard, Wordless(), tools=TOOLS)
    agent.run_sync("go", usage_limits=FAR)
    assert len(guard.sizes) == 5
    assert guard.sizes[-1] < 1.2 * guard.sizes[1]


def test_hits_can_be_counted_in_a_history():
    """Nudges are found by the origin in their metadata, blocks by the mark their text begins with."""
    guard, returns, script = history([[call("search", {"a": 1})]] * 12, lambda *_: "nothing")
    parts = [part for message in script.requests[-1] for part in message.parts if isinstance(part, SystemPromptPart)]
    origins = [(part.metadata or {}).get("origin") for part in parts]
    assert origins == ["unstuck.nudge.v1"]
    assert sum(str(part.content).startswith(MARK) for part in returns) == 3
    assert guard.runs.last is not None
    assert guard.runs.last.blocked == 4
