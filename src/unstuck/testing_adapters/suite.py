"""The checks that every adapter has to pass."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from unstuck.adapters import FRAMEWORKS
from unstuck.config import Options
from unstuck.detectors.detector import Detector, Evidence
from unstuck.errors import LoopStopped
from unstuck.events import Call, Event, Message, Result, RunStart
from unstuck.findings import Level
from unstuck.ladder import Ladder
from unstuck.live import MARK
from unstuck.testing_adapters.driver import Driver, Outcome, found
from unstuck.testing_adapters.world import (
    BROKEN,
    DONE,
    INPUT_TOKENS,
    LOOP,
    OUTPUT_TOKENS,
    PAIRS,
    READ,
    TEXT,
    TWICE,
    USEFUL,
    Answered,
    Ask,
    Asked,
    Item,
    Scenario,
    World,
    answer_of,
    assert_paired,
    events_of,
    scanned,
    scanned_file,
    texts,
)
from unstuck.view import View

TEN = LOOP._replace(turns=LOOP.turns[:10])


class _Raises(Detector):
    """A detector that breaks at the third exchange."""

    pattern = "raises"
    moments = frozenset(("result",))
    rungs = Ladder(nudge=2)

    def look(self, view: View) -> Evidence | None:
        if view.call >= 3:
            raise ZeroDivisionError
        return None


class AdapterSuite(Driver):
    """
    Make a subclass `TestX` in `tests/adapters/test_x.py` with *adapter*, *drive* and the doors beside it.

    *gaps* maps names of tests (with the parameter in brackets where there is one) to the reason why the framework cannot do that.
    """

    def test_the_ladder_is_that_of_scan(self, tmp_path: Path) -> None:
        """A loop is nudged, blocked and stopped where `unstuck scan` of the same events says."""
        guard = self.guard()
        self.attempt(World(LOOP), guard)
        assert found(guard) == scanned(events_of(LOOP), tmp_path / "run.jsonl")
        assert [finding.call for finding in guard.findings] == [3, 5, 8]

    def test_the_incident_of_47_reads(self, record_property: Callable[[str, object], None]) -> None:
        """The model asks 47 times for one file: it is read four times, the model is told why not, the caller gets a stop."""
        world = World(LOOP)
        outcome = self.attempt(world, self.guard())
        told = {number: _told(request) for number, request in enumerate(world.requests, 1) if _told(request)}
        if self.adapter in FRAMEWORKS:
            record_property("release", version(_DISTRIBUTION.split(FRAMEWORKS[self.adapter].requires[0])[0]))
        record_property("executed", len(world.executed))
        record_property("told", json.dumps(told))
        record_property("caller", f"{type(outcome.error).__name__}: {outcome.error}")
        assert len(world.executed) == 4
        assert "3 times" in told[4]
        assert ["not executed" in told[number] for number in (6, 7, 8)] == [True] * 3
        assert str(outcome.error).endswith(f"repeated_result: 8 calls of {self.prefix}{READ.tool}")

    def test_the_same_events_scan_to_the_same_findings(self, tmp_path: Path) -> None:
        """What the guard saw, parallel calls and blocks included, gives in `unstuck scan` the findings that the guard had."""
        for number, scenario in enumerate((LOOP, PAIRS)):
            events: list[Event] = []
            guard = self.guard(on_event=events.append)
            self.attempt(World(scenario), guard)
            assert found(guard) == scanned(events, tmp_path / f"{number}.jsonl")

    def test_exported_messages_scan_to_the_same_findings(self, tmp_path: Path) -> None:
        """What the framework keeps of a run, read by `unstuck scan`, gives the findings that the guard had, in shadow mode."""
        guard, path = self.guard(shadow=True), tmp_path / "messages.jsonl"
        assert asyncio.run(self.export(World(TEN), guard, path)) == DONE
        assert found(guard) == scanned_file(path)

    def test_messages_of_a_guarded_run_scan_to_the_same_findings(self, tmp_path: Path) -> None:
        """Nudge and blocks, and the stop where it is quiet, stand in the messages as what they are: a scan finds what the guard found."""
        quiet = "test_a_quiet_stop_ends_the_run" not in self.gaps
        guard, path = self.guard(**{"on_stop": "end"} if quiet else {}), tmp_path / "messages.jsonl"
        asyncio.run(self.export(World(LOOP._replace(turns=LOOP.turns[: 10 if quiet else 7])), guard, path))
        assert [finding.call for finding in guard.findings] == [3, 5, 8][: 3 if quiet else 2]
        assert found(guard) == scanned_file(path)

    def test_parallel_calls_are_one_round(self) -> None:
        """Two calls in each response are one round: the third is nudged, and calls are told by the response that holds them."""
        events: list[Event] = []
        guard = self.guard(on_event=events.append)
        self.attempt(World(PAIRS), guard)
        nudges = [found.message for found in guard.findings if found.level is Level.NUDGE]
        assert nudges[0] == 3
        calls = [event.message for event in events if isinstance(event, Call)]
        assert calls[:6] == [1, 1, 2, 2, 3, 3]

    def test_a_blocked_call_does_not_run(self) -> None:
        """The tool runs four times: calls 5, 6 and 7 are blocked, at the eighth the run is stopped."""
        world = World(LOOP)
        self.attempt(world, self.guard())
        assert world.executed == [READ] * 4

    def test_the_model_is_nudged(self) -> None:
        """The request after the third exchange tells the model what it repeats, and none before does."""
        world = World(LOOP)
        self.attempt(world, self.guard())
        assert [MARK in texts(request) for request in world.requests[:4]] == [False, False, False, True]
        assert "3 times" in texts(world.requests[3])

    def test_a_nudge_stays(self) -> None:
        """What the model was told stands in the requests that follow too, once: it is not to forget it."""
        world = World(LOOP)
        self.attempt(world, self.guard())
        told = texts(world.requests[4])
        assert told.count(MARK) == 1
        assert "3 times" in told

    def test_a_block_is_answered_truthfully(self) -> None:
        """The model reads in place of the fifth result that the call was not executed, and why."""
        world = World(LOOP)
        self.attempt(world, self.guard())
        answer = answer_of(world.requests[5], "call-5-0")
        assert "not executed" in answer
        assert "5 times" in answer

    def test_the_stop_reaches_the_caller(self, door: str) -> None:
        """The run ends with the adapter's `LoopStopped`, which names the loop, before the model is asked a ninth time."""
        world = World(LOOP)
        outcome = self.attempt(world, self.guard(), door)
        stop = self.module().LoopStopped
        assert isinstance(outcome.error, stop)
        assert isinstance(outcome.error, LoopStopped)
        assert outcome.error.finding.pattern == "repeated_result"
        assert len(world.requests) == 8

    def test_a_quiet_stop_ends_the_run(self, door: str) -> None:
        """With `on_stop="end"` the run returns; the model is not asked a ninth time, and the guard says why."""
        world, guard = World(LOOP), self.guard(on_stop="end")
        outcome = self.attempt(world, guard, door)
        assert outcome.error is None
        assert DONE not in str(outcome.answer)
        assert len(world.requests) == 8
        assert guard.findings[-1].level is Level.STOP

    @pytest.mark.parametrize("name", USEFUL)
    def test_useful_repetition_passes(self, name: str) -> None:
        """Polling that advances, tests between fixes and a batch of edits run to their end, untouched."""
        world, guard = World(USEFUL[name]), self.guard()
        assert self.attempt(world, guard).answer == DONE
        assert guard.findings == ()
        assert MARK not in "".join(map(texts, world.requests))
        assert len(world.executed) == len(world.scenario.turns)

    def test_no_result_is_lost(self) -> None:
        """What a tool answered stands in the model's next request, also where the model is nudged."""
        world = World(PAIRS)
        self.attempt(world, self.guard())
        sent = [item for item in world.requests[-1] if isinstance(item, Answered) and "10 lines" in item.text]
        assert len(sent) == world.executed_before[-1] > 4

    def test_calls_and_results_stay_paired(self) -> None:
        """In every request each call has exactly one answer, and nothing stands between them."""
        for scenario in (LOOP, PAIRS):
            world = World(scenario)
            self.attempt(world, self.guard())
            for request in world.requests:
                assert_paired(request)

    def test_an_error_is_seen(self) -> None:
        """A tool that raises is an exchange with the outcome `error`, and the error's own text."""
        events: list[Event] = []
        self.attempt(World(BROKEN), self.guard(on_event=events.append))
        results = [event for event in events if isinstance(event, Result)]
        assert [result.outcome for result in results] == ["error"]
        assert "disk on fire" in str(results[0].content)

    def test_text_and_usage_are_seen(self) -> None:
        """Each response is a message event with its text, its tokens and, where the framework knows, how many calls it holds."""
        events: list[Event] = []
        self.attempt(World(TWICE), self.guard(on_event=events.append))
        messages = [event for event in events if isinstance(event, Message)]
        assert [message.calls for message in messages] in ([1, 1, 0], [None, None, 0])
        assert [message.text for message in messages] == [TEXT, TEXT, DONE]
        assert [message.usage and message.usage.total for message in messages] == [INPUT_TOKENS + OUTPUT_TOKENS] * 3

    def test_results_are_seen(self) -> None:
        """Each call is an event with its tool, arguments and result."""
        events: list[Event] = []
        self.attempt(World(TWICE), self.guard(on_event=events.append))
        calls = [(event.tool, _object(event.args)) for event in events if isinstance(event, Call)]
        assert calls == [(self.prefix + READ.tool, READ.args)] * 2
        assert ["10 lines" in str(event.content) for event in events if isinstance(event, Result)] == [True] * 2

    def test_attendance_is_passed_on(self) -> None:
        """With `attended=False` the run's first event says that nobody can answer, so that the ceiling applies."""
        events: list[Event] = []
        self.attempt(World(TWICE), self.guard(attended=False, on_event=events.append))
        assert [event.attended for event in events if isinstance(event, RunStart)] == [False]

    def test_runs_one_after_another_do_not_mix(self) -> None:
        """Two runs in one task, two equal calls each: none is nudged, and none is taken for a part of the other."""
        events: list[Event] = []
        guard = self.guard(on_event=events.append)

        async def in_turn() -> list[str]:
            return [await self.drive(World(TWICE), guard) for _ in range(2)]

        assert asyncio.run(in_turn()) == [DONE] * 2
        assert guard.findings == ()
        assert len({event.run for event in events}) == 2

    def test_tasks_at_the_same_time_do_not_mix(self) -> None:
        """Four runs under one guard in one event loop, two equal calls each: none is nudged."""
        worlds, guard = [World(TWICE) for _ in range(4)], self.guard()

        async def together() -> list[str]:
            return await asyncio.gather(*(self.drive(world, guard) for world in worlds))

        assert asyncio.run(together()) == [DONE] * 4
        assert guard.findings == ()
        assert [len(world.executed) for world in worlds] == [2] * 4

    def test_threads_at_the_same_time_do_not_mix(self) -> None:
        """Four runs under one guard in four threads, two equal calls each: none is nudged."""
        worlds, guard = [World(TWICE) for _ in range(4)], self.guard()
        with ThreadPoolExecutor(4) as pool:
            outcomes = list(pool.map(lambda world: self.attempt(world, guard), worlds))
        assert outcomes == [Outcome(DONE, None)] * 4
        assert guard.findings == ()

    def test_a_failing_detector_switches_the_guard_off(self, caplog: pytest.LogCaptureFixture) -> None:
        """What raises inside the guard is logged once; the run goes on to its end without a guard."""
        rules = Options(detectors={"raises": _Raises()}).rules()
        world = World(LOOP._replace(turns=LOOP.turns[:10]))
        with caplog.at_level(logging.WARNING, logger="unstuck"):
            outcome = self.attempt(world, self.guard(options=rules))
        assert outcome == Outcome(DONE, None)
        assert len(world.executed) == 10
        said = [record.getMessage() for record in caplog.records if record.name == "unstuck"]
        assert len(said) == 1
        assert "ZeroDivisionError" in said[0]

    def test_shadow_mode_changes_nothing(self) -> None:
        """In shadow mode the model is sent what it is sent without a guard, and the findings say what would have been."""
        guarded, plain, guard = World(TEN), World(TEN), self.guard(shadow=True)
        assert self.attempt(guarded, guard) == self.attempt(plain, None) == Outcome(DONE, None)
        assert guarded.requests == plain.requests
        assert [found.would for found in guard.findings] == [Level.NUDGE, Level.BLOCK, Level.STOP]

    def test_a_call_run_again_counts_once(self) -> None:
        """A call that the framework executes twice under one id (resume, retry) is one call."""
        events: list[Event] = []
        world, guard = World(LOOP._replace(turns=LOOP.turns[:2])), self.guard(on_event=events.append)
        assert asyncio.run(self.run_again(world, guard)) == DONE
        assert len([event for event in events if isinstance(event, Call)]) == 2
        assert len(world.executed) == 3
        assert len([event for event in events if isinstance(event, Result)]) == 2
        assert guard.findings == ()

    def test_a_sub_agent_is_linked(self) -> None:
        """An agent inside a tool is part of the run: with its parent and depth, its own counts, and a stop that reaches the caller."""
        events: list[Event] = []
        outer = World(Scenario(((READ,), (Ask("ask_reviewer", {"task": "look"}),)), lambda ask, nth: "10 lines"))
        inner, guard = World(LOOP), self.guard(on_event=events.append)
        with pytest.raises(LoopStopped) as caught:
            asyncio.run(self.delegate(outer, inner, guard))
        assert caught.value.finding.agent == "reviewer"
        assert len(inner.executed) == 4
        calls = [event for event in events if isinstance(event, Call)]
        assert len({event.run for event in events}) == 1
        assert {(call.parent, call.depth) for call in calls if call.agent == "reviewer"} == {(calls[0].agent, 1)}

    def test_a_run_after_a_stop_begins_anew(self) -> None:
        """In the task where a run was stopped, by itself or by a sub-agent, the next run has nothing to do with it."""
        events: list[Event] = []
        guard = self.guard(on_event=events.append)
        outer = World(Scenario(((Ask("ask_reviewer", {"task": "look"}),),), lambda ask, nth: "10 lines"))

        async def in_turn() -> list[str]:
            with pytest.raises(LoopStopped):
                await self.drive(World(LOOP), guard)
            first = await self.drive(World(TWICE), guard)
            with pytest.raises(LoopStopped):
                await self.delegate(outer, World(LOOP), guard)
            return [first, await self.drive(World(TWICE), guard)]

        assert asyncio.run(in_turn()) == [DONE] * 2
        assert len({event.run for event in events}) == 4

    def test_a_hand_off_is_linked(self) -> None:
        """An agent that takes the conversation over is part of the run, and knows who handed it over."""
        events: list[Event] = []
        second, guard = World(TWICE), self.guard(on_event=events.append)
        assert asyncio.run(self.hand_off(World(Scenario((), LOOP.answer)), second, guard)) == DONE
        assert len({event.run for event in events}) == 1
        messages = [event for event in events if isinstance(event, Message)]
        agents = [message.agent for message in messages]
        assert agents[0] == "first"
        assert agents[agents.index("second") :] == ["second"] * 3
        assert messages[-1].parent == "first"


_DISTRIBUTION = re.compile(r"[<>=!~;\[]")


def _told(request: Sequence[Item]) -> str:
    """What the guard says in *request* that it has not said in one before: since the last call."""
    last = max((place for place, item in enumerate(request) if isinstance(item, Asked)), default=len(request))
    said = [
        item.text[item.text.index(MARK) :] for item in request[last + 1 :] if not isinstance(item, Asked) and MARK in item.text
    ]
    return said[-1] if said else ""


def _object(args: Any) -> Any:
    return json.loads(args) if isinstance(args, str) else args
