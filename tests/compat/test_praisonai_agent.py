"""
What PraisonAI documents of its loop detection, kept on real agents under `LoopGuard`; and its faults on the same scripts.

`docs/compat/praisonai.md` lists each promise and each fault with its test.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import inspect
import json
import sys
from typing import Any

import pytest

pytest.importorskip("praisonaiagents", reason="PraisonAI is not installed")

import praisonaiagents.agent
from praisonai_script import LOOK, QUIET, READ, agent_of, executions, levels, model_server, script, tool_results
from praisonaiagents import ExecutionConfig
from praisonaiagents.agent.loop_detection import LoopDetectionConfig
from praisonaiagents.hooks import HookEvent, HookRegistry, HookResult
from praisonaiagents.trace.context_events import (
    ContextListSink,
    ContextTraceEmitter,
    reset_context_emitter,
    set_context_emitter,
)

import unstuck.compat.praisonai as ours
from unstuck.adapters.praisonai import LoopGuard
from unstuck.adapters.praisonai.tuning import NAMES
from unstuck.adapters.praisonai.turn import Turn
from unstuck.errors import SettingsError
from unstuck.events import Result
from unstuck.testing_adapters.world import DONE, Ask, Item, Said, Scenario, World, texts

__all__ = ("model_server",)
pytestmark = QUIET


def test_it_is_on_with_one_line():
    """`LoopGuard().attach(agent)` and nothing else: nudged at 3, blocked from 5, stopped at 8."""
    guard, world = LoopGuard(), script(*[READ] * 47)
    assert executions(world, guard) == 4
    assert levels(guard) == [("nudge", 3), ("block", 5), ("stop", 8)]


@pytest.mark.parametrize("way", ["chat", "achat", "start", "astart", "run"])
def test_a_block_answers_in_the_tools_place(way):
    """The blocked call does not run; the model reads `{"error": ..., "loop_blocked": true}` and finishes."""
    world = script(*[READ] * 6)
    came = getattr(agent_of(world, LoopGuard()), way)("Go.")
    assert (asyncio.run(came) if inspect.isawaitable(came) else came) == DONE
    assert len(world.executed) == 4
    for answer in map(json.loads, tool_results(world)[4:]):
        assert set(answer) == {"error", "loop_blocked"}
        assert (answer["loop_blocked"], "not executed" in answer["error"]) == (True, True)


def test_hooks_traces_and_events_fire_at_a_block():
    """Around a blocked call PraisonAI runs its hooks, ends its trace span and emits its stream events, as around any other."""
    seen: dict[str, list[Any]] = {"before": [], "after": [], "trace": [], "stream": []}
    hooks = HookRegistry()
    hooks.on(HookEvent.BEFORE_TOOL)(lambda data: seen["before"].append(data.tool_name) or HookResult.allow())
    hooks.on(HookEvent.AFTER_TOOL)(lambda data: seen["after"].append(data.tool_output) or HookResult.allow())
    world = script(*[READ] * 5)
    agent = agent_of(world, LoopGuard(), hooks=hooks)
    agent.stream_emitter.add_callback(lambda event: seen["stream"].append(event.type.value))
    sink = ContextListSink()
    token = set_context_emitter(ContextTraceEmitter(sink=sink, session_id="s", enabled=True))
    try:
        agent.chat("Go.")
    finally:
        reset_context_emitter(token)
    traced = [str(event.event_type.value) for event in sink.get_events()]
    assert len(world.executed) == 4
    assert (len(seen["before"]), len(seen["after"])) == (5, 5)
    assert seen["after"][-1]["loop_blocked"] is True
    assert (traced.count("tool_call_start"), traced.count("tool_call_end")) == (5, 5)
    assert [seen["stream"].count(f"tool_call_{kind}") for kind in ("start", "result", "end")] == [5, 5, 5]


def test_async_hooks_fire_at_a_block():
    """In an asynchronous run too, where PraisonAI itself returns before its hooks."""
    seen: list[Any] = []
    hooks = HookRegistry()
    hooks.on(HookEvent.AFTER_TOOL)(lambda data: seen.append(data.tool_output) or HookResult.allow())
    asyncio.run(agent_of(script(*[READ] * 5), LoopGuard(), hooks=hooks).achat("Go."))
    assert (len(seen), seen[-1]["loop_blocked"]) == (5, True)


def test_a_warning_stands_in_the_next_prompt_once():
    """In an autonomous run a warning waits for the next turn, whose prompt ends with the self-correction; later ones do not repeat it."""
    world = script(READ, READ, READ, None, LOOK, None, LOOK, None)
    agent = agent_of(world, LoopGuard(), autonomy=True)
    agent.run_autonomous("Go.", max_iterations=3, completion_promise="NEVER")
    prompts = [[item.text for item in request if isinstance(item, Said) and item.role == "user"] for request in world.requests]
    assert not any("unstuck" in text for text in tool_results(world))
    assert not any("[System" in text for text in prompts[3])
    corrections = [
        text for text in prompts[-1] if "[System: repeated generic_repeat detected. Try a different approach. " in text
    ]
    assert len(corrections) == 1
    assert corrections[0].startswith("Go.")


def test_an_autonomous_run_is_one_run():
    """Counts go on over the turns of an autonomous run, and a stop ends it; quietly, it is no success."""
    guard, world = LoopGuard(on_stop="end"), script(*[READ, None] * 20)
    came = agent_of(world, guard, autonomy=True).run_autonomous("Go.", max_iterations=20, completion_promise="NEVER")
    assert (came.success, came.completion_reason) == (False, "loop_stopped")
    assert len(world.executed) == 4
    assert levels(guard)[-1] == ("stop", 8)


@pytest.mark.parametrize(("warn", "critical"), [(5, 10), (3, 5), (30, 60)])
def test_thresholds_set_before_the_first_call_hold(warn, critical):
    """P1, P6: the documented recipes work: nudged at the one threshold, blocked at the other, never stopped."""
    guard, world = LoopGuard(), script(*[READ] * (critical + 4))
    agent = agent_of(world, guard)
    agent._loop_detector_config = LoopDetectionConfig(enabled=True, warn_threshold=warn, critical_threshold=critical)
    assert agent.chat("Go.") == DONE
    assert levels(guard) == [("nudge", warn), ("block", critical)]
    assert len(world.executed) == critical - 1


def test_detection_can_be_switched_off():
    """`LoopDetectionConfig(enabled=False)` is documented for agents that repeat calls on purpose: nothing counts them."""
    guard, world = LoopGuard(), script(*[READ] * 30)
    agent = agent_of(world, guard)
    agent._loop_detector_config = LoopDetectionConfig(enabled=False)
    agent.chat("Go.")
    assert (len(world.executed), guard.findings) == (30, ())


TURNS = [READ, Ask("run_tests", {"target": "a"})] * 8


@pytest.mark.parametrize(
    ("calls", "detector"), [([READ] * 12, "generic_repeat"), ([LOOK] * 12, "poll_no_progress"), (TURNS, "ping_pong")]
)
def test_detectors_can_be_switched_off_one_by_one(calls, detector):
    """A detector that is off finds nothing; with it the same script is found."""
    for on in (True, False):
        guard = LoopGuard()
        agent = agent_of(script(*calls), guard)
        agent._loop_detector_config = LoopDetectionConfig(
            enabled=True,
            warn_threshold=5,
            critical_threshold=60,
            detectors={**dict.fromkeys(NAMES.values(), False), detector: on},
        )
        agent.chat("Go.")
        assert bool(guard.findings) is on


@pytest.mark.parametrize("ask", [LOOK, Ask("read_file", {"path": "job"})])
def test_a_poll_that_changes_is_never_flagged(ask):
    """P2: forty looks at a rising percentage pass, whatever the tool is called."""
    guard, world = LoopGuard(), script(*[ask] * 40, answer=lambda ask, nth: f"{nth * 2}%")
    assert executions(world, guard) == 40
    assert guard.findings == ()


class Users(World):
    """A world with one script for each person: seven looks that find nothing new."""

    def turn(self, request: Any) -> list[tuple[str, Ask]]:
        items = list(request)
        super().turn(items)
        mine = [one for one in self.requests if person(one) == person(items)]
        return [(f"{person(items)}-{len(mine)}", LOOK)] if len(mine) <= 7 else []


def person(request: list[Item]) -> str:
    return [item.text for item in request if isinstance(item, Said) and item.role == "user"][-1]


def test_turns_do_not_add_up():
    """P8: three equal questions in each of ten turns: each turn is nudged at its third and none is blocked."""
    guard = LoopGuard()
    world = script(*[READ, READ, READ, None] * 10)
    agent = agent_of(world, guard)
    for _ in range(10):
        agent.chat("What is the weather?")
    assert levels(guard) == [("nudge", 3)] * 10
    assert len(world.executed) == 30


def test_users_at_the_same_time_do_not_add_up():
    """P9: four users at once on one agent, seven equal looks each: all 28 run, each user is told once, at the sixth."""
    guard, world = LoopGuard(), Users(Scenario((), lambda ask, nth: "pending"))
    agent = agent_of(world, guard)

    async def together() -> None:
        await asyncio.gather(*[agent.achat(f"user-{number}") for number in range(4)])

    asyncio.run(together())
    assert len(world.executed) == 28
    assert levels(guard) == [("nudge", 6)] * 4


def test_a_stuck_poll_is_stopped():
    """P3: of sixty looks at one reading eleven run, the rest is blocked, and the twentieth ends the run."""
    guard, world = LoopGuard(), script(*[LOOK] * 60)
    assert executions(world, guard) == 11
    assert levels(guard) == [("nudge", 6), ("block", 12), ("stop", 20)]


PAGES = [Ask("read_file", {"path": str(page)}) for page in range(12)]


@pytest.mark.parametrize(
    ("calls", "answer"),
    [
        ([Ask("edit_file", {"path": f"note-{n}", "text": f"{n}"}) for n in range(12)], lambda ask, nth: "ok"),
        (PAGES, lambda ask, nth: "x" * 1_000 + f" page {ask.args['path']}: {hash(ask.args['path'])}"),
    ],
    ids=["notes", "pages"],
)
def test_a_batch_runs_to_its_end(calls, answer):
    """P10: twelve writes that all answer `ok`, and twelve pages with one beginning, run untouched; PraisonAI ends both at nine."""
    guard, world = LoopGuard(), script(*calls, answer=answer)
    assert executions(world, guard) == 12
    assert guard.findings == ()


def test_a_warning_reaches_the_model_in_a_chat():
    """P11: outside an autonomous run the words stand behind the result that led to them."""
    world = script(*[READ] * 3)
    agent_of(world, LoopGuard()).chat("Go.")
    assert ["3 times" in text for text in tool_results(world)] == [False, False, True]
    assert "same" in tool_results(world)[2]


def test_a_block_asks_nobody(monkeypatch):
    """P12: without an approval backend no block waits for a person at a console."""
    monkeypatch.delenv("PRAISONAI_AUTO_APPROVE")
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("a person was asked"))
    assert executions(script(*[READ] * 7), LoopGuard()) == 4


def test_a_long_healthy_autonomous_run_goes_on():
    """P13: thirty different iterations are run with the prompt unaltered; PraisonAI stops at fifteen and asks for help."""
    guard = LoopGuard()
    world = script(
        *[one for n in range(30) for one in (Ask("read_file", {"path": str(n)}), None)], answer=lambda ask, nth: str(ask)
    )
    came = agent_of(world, guard, autonomy=True).run_autonomous("Go.", max_iterations=30, completion_promise="NEVER")
    assert (came.completion_reason, len(world.executed)) == ("max_iterations", 30)
    assert not any("[System" in texts(request) for request in world.requests)


def test_a_stream_is_a_run():
    """In `iter_stream`, where PraisonAI executes one round of calls, the guard sees them; the caller's own chats stay apart."""
    seen: list[Any] = []
    guard = LoopGuard(on_event=seen.append)
    assert "".join(agent_of(script(READ), guard).iter_stream("Go.")).endswith(DONE)
    assert [type(event).__name__ for event in seen] == ["RunStart", "Call", "Result", "RunEnd"]


def test_a_time_limit_stays():
    """`max_execution_time` still ends a turn although PraisonAI's Loop Guard, which keeps it, is replaced."""
    world = script(*[Ask("read_file", {"path": str(n)}) for n in range(5)])
    agent = agent_of(world, LoopGuard(), execution=ExecutionConfig(max_iter=100, max_execution_time=1))
    turn = Turn(agent, None, autonomous=False)
    assert turn.check("read_file", {}).action.value == "allow"
    turn.began -= 2
    assert turn.check("read_file", {}).action.value == "halt"


def test_attaching_twice_counts_once():
    """The guard that was attached last holds; each call is counted once."""
    first, second, world = LoopGuard(), LoopGuard(), script(*[READ] * 4)
    agent = second.attach(first.attach(agent_of(world)))
    agent.chat("Go.")
    assert (first.findings, levels(second)) == ((), [])


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_is_watched_for_itself(copied):
    """PraisonAI copies agents for trials and channels: a copy runs its own chats, under the same guard, as runs of their own."""
    guard, world = LoopGuard(), script(*[READ] * 2, None, *[READ] * 2)
    agent = agent_of(world, guard)
    other = copied(agent)
    for one in (agent, other):
        one.chat("Go.")
    assert (len(world.executed), guard.findings) == (4, ())
    assert isinstance(other, type(agent))


def test_parallel_calls_are_one_round():
    """With PraisonAI's parallel tool calls the threads report to the one run, and equal rounds are found as rounds."""
    guard, world = LoopGuard(), World(Scenario(((READ, LOOK),) * 12, lambda ask, nth: "same"))
    executed = executions(world, guard, execution=ExecutionConfig(max_iter=100, parallel_tool_calls=True))
    assert executed < 12
    assert levels(guard)[0] in (("nudge", 5), ("nudge", 6))  # in the third round, whichever thread was last


def test_an_asynchronous_autonomous_run_is_one_run():
    """The same as in a synchronous one: the correction waits for the next turn, the stop ends all."""
    guard, world = LoopGuard(on_stop="end"), script(*[READ, None] * 20)
    agent = agent_of(world, guard, autonomy=True)
    came = asyncio.run(agent.run_autonomous_async("Go.", max_iterations=20, completion_promise="NEVER"))
    assert (came.success, came.completion_reason, len(world.executed)) == (False, "loop_stopped", 4)
    assert sum("[System: repeated generic_repeat" in texts(request) for request in world.requests) > 0


def test_a_tool_that_is_tried_again_counts_once():
    """PraisonAI tries a tool again that lost its connection: the guard sees one call with what came in the end."""
    seen: list[Any] = []
    world = script(READ)
    do, failed = world.do, []

    def once_broken(tool: str, **args: str) -> str:
        came = do(tool, **args)
        if not failed:
            failed.append(tool)
            raise ConnectionError("connection reset")
        return came

    world.do = once_broken  # type: ignore[method-assign]
    agent_of(world, LoopGuard(on_event=seen.append)).chat("Go.")
    assert len(world.executed) == 2
    assert [event.outcome for event in seen if isinstance(event, Result)] == ["ok"]


def test_thresholds_that_cannot_be_are_named():
    """A warning at the first call is no threshold; the chat says so before anything runs."""
    agent = agent_of(script(READ), LoopGuard())
    agent._loop_detector_config = LoopDetectionConfig(enabled=True, warn_threshold=1, critical_threshold=2)
    with pytest.raises(SettingsError, match="warn_threshold"):
        agent.chat("Go.")


class TestInPlace:
    """`unstuck.compat.praisonai` in the place of the module inside PraisonAI, which wires it as published."""

    @pytest.fixture(autouse=True)
    def _in_place(self, monkeypatch):
        monkeypatch.setattr(praisonaiagents.agent, "loop_detection", ours)
        monkeypatch.setitem(sys.modules, "praisonaiagents.agent.loop_detection", ours)

    def agent(self, world: World, **thresholds: Any) -> Any:
        """An agent whose Loop Guard is off, and for which nobody allows a loop to go on."""
        agent = agent_of(world)
        agent._loop_detector_config = ours.LoopDetectionConfig(enabled=True, **thresholds) if thresholds else None
        agent._doom_loop_approved = lambda *_: False
        return agent

    def test_the_default_blocks_the_twentieth_call(self):
        """An agent for which nothing is set gets the module's own config, and its twentieth equal call is blocked as published."""
        world = script(*[READ] * 23)
        agent = self.agent(world)
        agent.chat("Go.")
        assert isinstance(agent._loop_detector_config, ours.LoopDetectionConfig)
        assert len(world.executed) == 19
        first = json.loads(tool_results(world)[19])
        assert first["error"] == "CRITICAL: 'read_file' called 20 times with identical args. Agent is stuck. Execution blocked."
        assert first["loop_blocked"] is True

    def test_the_documented_recipe_works(self):
        """P1: thresholds set before the first call hold, where PraisonAI's own module fails at every call."""
        world = script(*[READ] * 12)
        self.agent(world, warn_threshold=5, critical_threshold=10).chat("Go.")
        assert len(world.executed) == 9

    def test_a_stuck_poll_stays_blocked(self):
        """P3: of sixty looks at one reading twenty run, and none after."""
        world = script(*[LOOK] * 60)
        self.agent(world).chat("Go.")
        assert len(world.executed) == 20

    def test_a_poll_that_changes_is_not_blocked(self):
        """P2: forty looks at a rising percentage run, whatever the tool is called."""
        world = script(*[Ask("read_file", {"path": "job"})] * 40, answer=lambda ask, nth: f"{nth}%")
        self.agent(world).chat("Go.")
        assert len(world.executed) == 40


def test_the_original_fails_at_the_documented_recipe():
    """P1 as it is: with PraisonAI's own module no call runs once the config is set before the first."""
    world = script(*[READ] * 3)
    agent = agent_of(world)
    agent._loop_detector_config = LoopDetectionConfig(enabled=True, warn_threshold=5, critical_threshold=10)
    with contextlib.suppress(Exception):
        agent.chat("Go.")
    assert world.executed == []
