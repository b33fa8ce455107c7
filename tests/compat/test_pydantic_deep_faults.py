"""
What `LoopGuard` does on the scripts on which pydantic-deep's `StuckLoopDetection` fails.

The numbers are those of the table of faults in `docs/compat/pydantic_deep.md`.
"""

from __future__ import annotations

import asyncio
import contextlib
from itertools import count
from typing import Any

import pytest

pytest.importorskip("pydantic_ai.capabilities", reason="the guard is a capability of Pydantic AI")

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ToolReturnPart
from pydantic_deep_script import run, scripted

from unstuck.adapters.pydantic_ai import LoopGuard
from unstuck.errors import LoopStopped
from unstuck.monitor import Monitor
from unstuck.testing import call, message, result

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

X = {"card": "x"}


class Shop:
    """Tools whose runs are counted; *answer* makes what they return."""

    def __init__(self, answer: Any = lambda tool, args, nth: "ok") -> None:
        self.answer = answer
        self.ran: list[tuple[str, str]] = []

    def _do(self, tool: str, **args: str) -> Any:
        self.ran.append((tool, str(args)))
        return self.answer(tool, args, len(self.ran))

    def charge(self, card: str) -> Any:
        """Charge a card."""
        return self._do("charge", card=card)

    def search(self, request_id: str = "") -> Any:
        """Search."""
        return self._do("search", request_id=request_id)

    def read_page(self, request_id: str = "") -> Any:
        """Read page."""
        return self._do("read_page", request_id=request_id)

    def list_pages(self, request_id: str = "") -> Any:
        """List pages."""
        return self._do("list_pages", request_id=request_id)

    def job_status(self, job: str) -> Any:
        """Look how far a job has come."""
        return self._do("job_status", job=job)

    def sleep(self, seconds: str) -> Any:
        """Wait."""
        return self._do("sleep", seconds=seconds)

    def write_file(self, path: str) -> Any:
        """Write a file."""
        return self._do("write_file", path=path)

    def grep(self, pattern: str) -> Any:
        """Search."""
        return self._do("grep", pattern=pattern)

    def agent(self, guard: LoopGuard, *calls: tuple[str, dict[str, Any]], **options: Any) -> Agent[None, Any]:
        tools = [
            self.charge,
            self.search,
            self.read_page,
            self.list_pages,
            self.job_status,
            self.sleep,
            self.write_file,
            self.grep,
        ]
        return Agent(scripted(*calls), tools=tools, capabilities=[guard], **options)


def first_levels(guard: LoopGuard) -> list[str]:
    record = guard.runs.last
    assert record is not None
    return [finding.level.label for finding in record.findings]


@pytest.mark.parametrize("times", [3, 4])
def test_no_result_is_lost_and_no_run_dies_of_a_warning(times):
    """W1, W2: each of three and four equal charges that ran comes back as a success; the run finishes, nothing is retried."""
    shop, guard = Shop(lambda tool, args, nth: f"receipt {nth}" if nth > 9 else "ok"), LoopGuard()
    came = run(shop.agent(guard, *[("charge", X)] * times))
    returns = [part for message in came.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]
    assert (came.output, len(shop.ran)) == ("done", times)
    assert [(part.outcome, part.content) for part in returns] == [("success", "ok")] * times
    assert first_levels(guard) == ["nudge"]


def retry(*_: Any) -> Any:
    raise ModelRetry("give another card")


NOISE = count()
LOOPS = {
    "W3 a tool that asks for a retry": ([("charge", X)] * 30, retry),
    "W3 invalid arguments": ([("charge", {"nonsense": 1})] * 30, lambda tool, args, nth: "ok"),
    "W4 A-B-C": ([("search", {}), ("read_page", {}), ("list_pages", {})] * 20, lambda tool, args, nth: tool),
    "W4 A-A-B": ([("search", {}), ("search", {}), ("read_page", {})] * 20, lambda tool, args, nth: tool),
    "W4 a changing request id": (
        [("search", {"request_id": f"{n:08x}"}) for n in range(60)],
        lambda tool, args, nth: "no data yet",
    ),
    "W4 alternating with noise": (
        [(("search", "read_page")[n % 2], {"request_id": f"{n:08x}"}) for n in range(60)],
        lambda tool, args, nth: f"{tool} has no data",
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_that_was_invisible_is_stopped(name):
    """W3, W4: failing calls, longer cycles, throwaway arguments and objects without content are seen, and the run is ended."""
    calls, answer = LOOPS[name]
    shop, guard = Shop(answer), LoopGuard()
    with pytest.raises(LoopStopped):
        run(shop.agent(guard, *calls, retries=100))
    assert len(shop.ran) < len(calls) / 2
    assert first_levels(guard)[0] == "nudge"


def test_a_loop_of_text_is_stopped():
    """W5: a model that gives the same rejected answer again and again is stopped, not asked 21 times."""
    guard = LoopGuard()
    agent = Agent(scripted(), capabilities=[guard], retries=30)
    asked = []

    @agent.output_validator
    def refuse(output: str) -> str:
        asked.append(output)
        raise ModelRetry("not good enough")

    with pytest.raises(LoopStopped):
        run(agent)
    assert len(asked) <= 6


HONEST = {
    "W6 a poll that advances": ([("job_status", {"job": "1"})] * 9, lambda tool, args, nth: f"{nth * 10}%"),
    "W7 three different writes": (
        [("write_file", {"path": f"{n}.txt"}) for n in range(3)],
        lambda tool, args, nth: "File written",
    ),
    "W7 three different searches": (
        [("grep", {"pattern": p}) for p in ("alpha", "beta", "gamma")],
        lambda tool, args, nth: "No matches",
    ),
    "W8 waiting for real progress": (
        [("sleep", {"seconds": "5"}), ("job_status", {"job": "1"})] * 6,
        lambda tool, args, nth: "slept" if tool == "sleep" else f"{nth * 7}% done",
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_work_is_left_alone(name):
    """W6, W7, W8: what the original takes for a loop runs to its end without a word."""
    calls, answer = HONEST[name]
    shop, guard = Shop(answer), LoopGuard()
    assert run(shop.agent(guard, *calls)).output == "done"
    assert len(shop.ran) == len(calls)
    assert first_levels(guard) == []


class Unspeakable:
    """A value whose text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


ODD = {"W9 surrogate": "\udcff", "W10 nested": nested(2_000), "W10 unspeakable": Unspeakable(), "W4 object": object()}


@pytest.mark.parametrize("value", ODD.values(), ids=list(ODD))
def test_no_value_kills_a_run(value):
    """W9, W10: with any result a run ends as it does without a guard."""
    ends: list[Any] = []
    for capabilities in ([], [LoopGuard()]):
        shop = Shop(lambda tool, args, nth: value)
        try:
            ends.append(
                run(Agent(scripted(("search", {}), ("search", {})), tools=[shop.search], capabilities=capabilities)).output
            )
        except Exception as error:
            ends.append(type(error).__name__)
    assert ends[0] == ends[1]
    assert ends[0] in ("done", "PydanticSerializationError")


@pytest.mark.parametrize("value", ODD.values(), ids=list(ODD))
def test_any_value_is_counted(value):
    """W4, W9, W10: such results are counted like others, an object that is made anew each time too."""
    monitor, seen = Monitor(), []
    for number in range(5):
        came = object() if type(value) is object else value
        seen.append(monitor.observe(call("read_file", {"path": "a"}, id=str(number))).name)
        seen.append(monitor.observe(result(came, id=str(number))).name)
    assert [name for name in seen if name != "continue"] == ["nudge", "block"]


def test_state_does_not_grow_with_the_run():
    """W11: what is kept after 20,000 calls is as large as after 2,000."""
    monitor, sizes = Monitor(), []
    for number in range(20_000):
        monitor.observe(message(number + 1))
        monitor.observe(call("read_file", {"path": str(number)}, id=str(number), message=number + 1))
        monitor.observe(result(f"content {number}", id=str(number)))
        if number + 1 in (2_000, 20_000):
            sizes.append(len(monitor.dump()))
    assert sizes[1] < sizes[0] * 1.1


def test_what_was_found_can_be_counted():
    """W12: the record of a run says how often it was nudged and how many calls were kept from running, whatever parts the framework's messages are made of."""
    shop, guard = Shop(), LoopGuard()
    with contextlib.suppress(LoopStopped):
        run(shop.agent(guard, *[("charge", X)] * 9))
    record = guard.runs.last
    assert record is not None
    assert ([finding.repeats for finding in record.findings], record.blocked, len(shop.ran)) == ([3, 5, 8], 4, 4)


def test_it_guards_a_deep_agent():
    """`create_deep_agent(stuck_loop_detection=False, capabilities=[LoopGuard()])`: the fourth charge is the last that runs."""
    deep = pytest.importorskip("pydantic_deep", reason="runs inside pydantic-deep")
    shop, guard = Shop(), LoopGuard()
    agent = deep.create_deep_agent(
        model=scripted(*[("charge", X)] * 9),
        tools=[shop.charge],
        stuck_loop_detection=False,
        capabilities=[guard],
        include_subagents=False,
        include_skills=False,
        cost_tracking=False,
    )
    with pytest.raises(LoopStopped):
        asyncio.run(agent.run("go", deps=deep.create_default_deps()))
    assert (len(shop.ran), first_levels(guard)) == (4, ["nudge", "block", "stop"])
