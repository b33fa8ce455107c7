"""The door for home-made loops, and the predicate over messages."""

from __future__ import annotations

import asyncio
import json
import logging
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

import unstuck
from unstuck import Level, LoopStopped, Message, Monitor, Options, Result, Rules, SettingsError
from unstuck.detectors.detector import Detector
from unstuck.ladder import Ladder
from unstuck.live import MARK


def read_until_stopped(run, told):
    """A loop that reads one file forever; *told* gets what the model would have read. Returns how often the file was read."""
    reads = 0
    for _ in range(47):
        run.message(calls=1)
        decision = run.call("read_file", {"path": "notes.txt"})
        if decision.level is Level.BLOCK:
            told.append(decision.text)
            continue
        reads += 1
        decision = run.result("10 lines")
        if decision.level is Level.NUDGE:
            told.append(decision.text)
    return reads


def test_a_loop_is_nudged_blocked_and_stopped():
    """The third exchange is nudged, the fifth call blocked, the eighth stopped; the words are marked as the guard's."""
    told = []
    with pytest.raises(LoopStopped) as caught, unstuck.watch() as run:
        read_until_stopped(run, told)
    assert [(found.call, found.level.label) for found in run.findings] == [(3, "nudge"), (5, "block"), (8, "stop")]
    assert caught.value.finding is run.findings[-1]
    assert [text.startswith(MARK) for text in told] == [True] * 4
    assert "not executed" in told[1]


def test_the_door_is_async_too():
    """`async with` does the same."""

    async def loop():
        async with unstuck.watch() as run:
            read_until_stopped(run, [])

    with pytest.raises(LoopStopped):
        asyncio.run(loop())


def test_a_stopped_run_refuses_every_further_call():
    """After the stop each call raises again, until a person asks for something new."""
    with unstuck.watch() as run:
        with pytest.raises(LoopStopped):
            read_until_stopped(run, [])
        with pytest.raises(LoopStopped):
            run.call("another", {"a": 1})
        run.user("Please try something else.")
        assert run.call("another", {"a": 1}).level is Level.CONTINUE


def test_parallel_results_find_their_calls():
    """Results are told by id, in any order; without an id the oldest open call is meant."""
    events = []
    with unstuck.watch(on_event=events.append) as run:
        run.message(calls=3)
        for name in ("a", "b", "c"):
            run.call("read_file", {"path": name}, id=name)
        run.result("of b", id="b")
        run.result("of a")
        run.result("of c")
        run.result("of nothing")
    assert [(event.id, event.content) for event in events if isinstance(event, Result)] == [
        ("b", "of b"),
        ("a", "of a"),
        ("c", "of c"),
    ]


def test_threads_may_share_a_run():
    """Calls from many threads are each counted once."""
    with unstuck.watch() as run:

        def work(number):
            for step in range(50):
                run.call("read_file", {"path": f"{number}-{step}"}, id=f"{number}-{step}")
                run.result(f"{number}-{step}", id=f"{number}-{step}")

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        assert run._agent.run.monitor.calls == 400
    assert run.findings == ()


def test_a_sub_agent_counts_for_itself():
    """A sub-agent's calls belong to the run, with parent and depth; a second one of that name begins anew."""
    events = []
    with unstuck.watch(on_event=events.append) as run:
        for _ in range(2):
            reviewer = run.agent("reviewer")
            for _ in range(2):
                reviewer.message(calls=1)
                reviewer.call("read_file", {"path": "a"})
                reviewer.result("same")
    assert run.findings == ()
    calls = [(event.agent, event.parent, event.depth) for event in events if type(event) is unstuck.Call]
    assert calls == [("reviewer", "main", 1)] * 2 + [("reviewer#2", "main", 1)] * 2


class Raises(Detector):
    pattern = "raises"
    moments = frozenset(("result",))
    rungs = Ladder(nudge=2)

    def look(self, view):
        raise KeyError("a secret argument")


def test_a_failure_inside_switches_the_guard_off(caplog):
    """What raises inside is logged once, without its text, and from there on everything is let through."""
    with caplog.at_level(logging.WARNING, logger="unstuck"), unstuck.watch(Rules((Raises(),))) as run:
        assert read_until_stopped(run, []) == 47
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 1
    assert "KeyError" in said[0]
    assert "secret" not in said[0]


def test_a_failing_callback_switches_the_guard_off(caplog):
    """A callback of the user that raises does not reach the user's loop."""
    with caplog.at_level(logging.WARNING, logger="unstuck"), unstuck.watch(on_finding=lambda found: 1 / 0) as run:
        assert read_until_stopped(run, []) == 47
    assert len(caplog.records) == 1


def test_shadow_mode_lets_everything_through():
    """In shadow mode nothing is blocked or raised, and the findings say what would have been."""
    with unstuck.watch(shadow=True) as run:
        assert read_until_stopped(run, []) == 47
    assert [found.would for found in run.findings] == [Level.NUDGE, Level.BLOCK, Level.STOP]


def test_text_that_repeats_is_nudged():
    """A model that answers the same again and again is told."""
    with unstuck.watch(on_event=lambda event: None) as run:
        levels = [run.message("I will look into it.", calls=0).level for _ in range(3)]
    assert levels[-1] is Level.NUDGE


def test_settings_and_options_do_not_mix():
    """Settings beside an options object are refused, with the way out."""
    with pytest.raises(SettingsError, match="put the settings into the options"):
        unstuck.watch(Options(), shadow=True)


def test_what_was_watched_is_what_a_replay_finds():
    """The events that a watched run tells give the same findings in a monitor of their own."""
    events = []
    with pytest.raises(LoopStopped), unstuck.watch(on_event=events.append) as run:
        read_until_stopped(run, [])
    monitor = Monitor()
    assert [found for event in events for found in monitor.observe(event).findings] == list(run.findings)
    assert [event.message for event in events if isinstance(event, Message)] == list(range(1, 9))


def chat(times):
    """Chat completions."""
    messages = [{"role": "system", "content": "You are helpful."}, {"role": "user", "content": "Go."}]
    for number in range(times):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a"}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "10 lines"})
    return messages


def responses(times):
    """Items of the Responses API."""
    items = [{"role": "user", "content": [{"type": "input_text", "text": "Go."}]}]
    for number in range(times):
        items.append({"type": "reasoning", "summary": []})
        items.append({"type": "function_call", "call_id": f"c{number}", "name": "read_file", "arguments": '{"path": "a"}'})
        items.append({"type": "function_call_output", "call_id": f"c{number}", "output": "10 lines"})
    return items


def anthropic(times):
    """Messages of Anthropic."""
    messages = [{"role": "user", "content": "Go."}]
    for number in range(times):
        use = {"type": "tool_use", "id": f"c{number}", "name": "read_file", "input": {"path": "a"}}
        messages.append({"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, use]})
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": [{"type": "text", "text": "10 lines"}]}
        messages.append({"role": "user", "content": [result]})
    return messages


def objects(times):
    """The same as objects with fields, as SDKs return them."""
    return json.loads(json.dumps(anthropic(times)), object_hook=lambda fields: SimpleNamespace(**fields))


SHAPES = [chat, responses, anthropic, objects]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_conversation_that_loops_is_to_be_stopped(shape):
    """Seven equal exchanges are not enough, the eighth is; lower levels can be asked for."""
    assert [unstuck.stop_when_repeated(shape(times)) for times in (0, 7, 8, 9)] == [False, False, True, True]
    assert [unstuck.stop_when_repeated(shape(times), at="nudge") for times in (2, 3)] == [False, True]
    assert [unstuck.stop_when_repeated(shape(times), at="block") for times in (4, 5)] == [False, True]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_person_who_speaks_begins_anew(shape):
    """What came before the person's last message does not count."""
    assert unstuck.stop_when_repeated([*shape(9), *shape(2)]) is False


@pytest.mark.parametrize("shape", SHAPES)
def test_the_predicate_is_pure(shape):
    """Asking twice gives the same answer, and the messages are left as they are."""
    messages = shape(8)
    before = repr(messages)
    assert unstuck.stop_when_repeated(messages) is unstuck.stop_when_repeated(messages) is True
    assert repr(messages) == before


def test_what_the_guard_said_is_no_person():
    """A nudge in the user's role and a refused call are told by their mark: neither begins anew nor counts as an outcome."""
    messages = chat(5)
    messages.insert(8, {"role": "user", "content": f"{MARK}You have made the same call 3 times."})
    messages[-1]["content"] = f"{MARK}This call was not executed."
    assert unstuck.stop_when_repeated(messages, at="block") is True


def test_strange_messages_are_left_out_of_account():
    """What is no message does no harm."""
    strange = [None, 3, "text", [], {}, {"role": "assistant"}, {"role": "tool"}, {"type": "item_reference", "id": "x"}]
    assert unstuck.stop_when_repeated(strange) is False


def test_an_unknown_level_is_refused():
    """A level that is no intervention is named."""
    with pytest.raises(SettingsError, match="at='never'"):
        unstuck.stop_when_repeated([], at="never")
