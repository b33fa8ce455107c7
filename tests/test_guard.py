"""What every `LoopGuard` is made with: settings, runs by key, sub-agents."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from unstuck import Level, Options, Result, RunEnd, SettingsError, preset
from unstuck.guard import MOST_RUNS, Guard, failsafe
from unstuck.live import CURRENT, MARK, MOST_AGENTS, MOST_OPEN, LiveAgent


def loop(agent: LiveAgent, times: int) -> None:
    for number in range(times):
        agent.responded("", 1)
        agent.called(f"c{number}", "read_file", {"path": "a"})
        agent.returned(f"c{number}", "10 lines")


@pytest.mark.parametrize(
    ("given", "settings"),
    [(None, {}), (None, {"shadow": True}), (Options(shadow=True), {}), (preset("pydantic-ai-harness"), {})],
)
def test_options_rules_and_settings_are_taken(given, settings):
    """A guard takes an options object, a rule set, or settings as keywords."""
    expected = given.rules() if isinstance(given, Options) else given or Options(**settings).rules()
    assert Guard(given, **settings).rules.policy == expected.policy


@pytest.mark.parametrize("wrong", [{"on_stop": "never"}, {"shadow": "yes"}, {"options": Options(), "shadow": True}])
def test_what_cannot_be_is_refused(wrong):
    """An unknown way to stop, a wrong setting, and settings beside an options object are named."""
    with pytest.raises(SettingsError):
        Guard(**wrong)


def test_parallel_calls_that_are_first_begin_one_run():
    """Threads that meet an unknown run at the same time get the same one."""
    guard = Guard()
    with ThreadPoolExecutor(8) as pool:
        assert len({id(agent) for agent in pool.map(lambda _: guard.at("run"), range(64))}) == 1


def test_runs_that_were_never_ended_make_room():
    """A guard remembers a bounded number of runs, those that were silent longest first to go."""
    guard = Guard()
    first, second = guard.at("first"), guard.at("second")
    for number in range(MOST_RUNS - 1):
        guard.at("first")
        guard.at(number)
    assert guard.at("first") is first
    assert guard.at("second") is not second


def test_a_run_ends_with_its_main_agent():
    """The end of a sub-agent is not the end of the run."""
    events = []
    guard = Guard(on_event=events.append)
    main = guard.begin("main")
    with main.inside():
        guard.begin("sub", "reviewer")
    guard.end("sub")
    assert not [event for event in events if isinstance(event, RunEnd)]
    guard.end("main")
    assert [event for event in events if isinstance(event, RunEnd)] == [RunEnd(main.run.name)]


def test_who_begins_inside_a_tool_is_a_sub_agent():
    """Inside an agent's tool another guard's agent joins the run; outside it begins its own."""
    outer, inner = Guard(), Guard()
    main = outer.start("main")
    with main.inside():
        reviewer = inner.start("reviewer")
        with reviewer.inside():
            assert inner.start("checker").depth == 2
        assert CURRENT.get() is main
    assert (reviewer.run, reviewer.parent, reviewer.depth) == (main.run, "main", 1)
    assert inner.start("reviewer").run is not main.run


def test_who_takes_over_is_no_sub_agent():
    """An agent may be a tool at first and take the conversation over later: then it acts at the level of who handed it over."""
    main = Guard().start("main")
    tool = main.run.spawned("reviewer", main)
    taken = main.hand_over("reviewer")
    assert (tool.name, tool.depth) == ("reviewer", 1)
    assert (taken.name, taken.parent, taken.depth, taken.above) == ("reviewer#2", "main", None, None)
    assert taken.hand_over("main") is main
    assert main.hand_over("reviewer") is taken


def test_other_rules_make_another_run():
    """A guard with rules of its own judges by those: its agent inside a tool of another guard's begins a run."""
    main, strict = Guard().start(), Guard(ceiling=50)
    with main.inside():
        inner = strict.start("reviewer")
        with inner.inside():
            assert strict.start("checker").run is inner.run
        assert CURRENT.get() is main
    assert (inner.run is main.run, inner.depth) == (False, None)


def test_runs_of_one_task_may_be_left_in_any_order():
    """Two streams that one task reads in turn: whichever ends first, what begins afterwards is no part of either."""
    guard = Guard()
    one, two = guard.start("one"), guard.start("two")
    one.enter()
    two.enter()
    one.leave()
    assert CURRENT.get() is two
    two.leave()
    assert guard.start("later").depth is None


def test_what_a_tool_leaves_behind_is_no_part_of_a_run_that_is_over():
    """A task that a tool started in the background begins runs of its own once the run has ended."""
    guard = Guard()
    main = guard.begin("main")
    with main.inside():
        context = copy_context()
    assert context.run(guard.start, "meanwhile").run is main.run
    guard.end("main")
    later = context.run(guard.start, "later")
    assert (later.run is main.run, later.above) == (False, None)


def test_a_run_ends_once():
    """The end that is said again is not told again; a person who speaks takes it up."""
    events = []
    run = Guard(on_event=events.append).start().run
    run.end("finished")
    run.end("stopped")
    assert [event.outcome for event in events if isinstance(event, RunEnd)] == ["finished"]
    run.user("go on")
    run.end()
    assert len([event for event in events if isinstance(event, RunEnd)]) == 2


def test_a_run_may_start_any_number_of_sub_agents():
    """Those that were silent longest are forgotten, names are not used again, and a nudge still reaches who waits for them."""
    main = Guard().start()
    loop(main, 2)
    main.called("c2", "read_file", {"path": "a"})
    names = {main.run.spawned("reviewer", main).name for _ in range(3 * MOST_AGENTS)}
    assert len(names) == 3 * MOST_AGENTS
    assert len(main.run.agents) == MOST_AGENTS
    main.returned("c2", "10 lines")
    assert "3 times" in (main.nudge() or "")


def test_calls_without_results_make_room():
    """Where no responses are told and results never come, what is remembered of calls is bounded."""
    agent = Guard().start()
    for number in range(3 * MOST_OPEN):
        agent.called(f"c{number}", "send", {"to": number})
    assert (len(agent._open), len(agent._asked)) == (MOST_OPEN, MOST_OPEN)


def test_a_nudge_waits_once_for_its_agent():
    """Words for one agent are not told to another, and are told once, under the guard's mark."""
    run = Guard().start("one").run
    one, two = run.agent("one"), run.agent("two")
    loop(one, 3)
    assert two.nudge() is None
    text = one.nudge()
    assert text is not None
    assert text.startswith(MARK)
    assert one.nudge() is None


class Unprintable(Exception):  # noqa: N818 - what a tool raises may be called anything
    def __str__(self) -> str:
        raise RuntimeError


class Signal(Exception):  # noqa: N818 - a framework's own signals are no errors
    pass


@pytest.mark.parametrize(
    ("error", "told"), [(OSError("disk on fire"), "OSError: disk on fire"), (Unprintable(), "Unprintable"), (Signal(), None)]
)
def test_what_a_tool_raises_is_what_came_of_its_call(error, told):
    """It goes on to the host as it is, also where it has no text; what a framework signals by an exception is no result."""
    events = []
    agent = Guard(on_event=events.append).start()
    agent.called("c1", "read_file", {})
    with pytest.raises(type(error)), agent.running("c1", Signal):
        raise error
    assert [event.content for event in events if isinstance(event, Result)] == ([] if told is None else [told])
    assert CURRENT.get() is None


def test_a_response_that_went_round_is_told_so():
    """Nothing is left to block once a response has come in: its agent's model reads about it, in words that claim no more."""
    agent = Guard().start()
    assert agent.responded("I will look into the matter and then say what I have found. " * 40, 1).level is Level.BLOCK
    text = agent.nudge()
    assert text is not None
    assert text.startswith(f"{MARK}Your response repeats the same passage")
    assert "cut" not in text


def test_two_agents_may_use_one_call_id_at_the_same_time():
    """Ids of sub-agents do not collide with those of the agent whose tool they run in."""
    events = []
    main = Guard(on_event=events.append).start()
    main.called("c1", "ask_reviewer", {})
    with main.inside():
        sub = main.run.spawned("reviewer", main)
    sub.called("c1", "read_file", {})
    sub.returned("c1", "of the reviewer")
    main.returned("c1", "of the tool")
    assert [(event.id, event.content) for event in events if hasattr(event, "content")] == [
        ("reviewer/c1", "of the reviewer"),
        ("c1", "of the tool"),
    ]


class Translates:
    @failsafe
    def heard(self, agent, value):
        return 1 / value


def test_a_translation_that_raises_switches_the_guard_off(caplog):
    """An adapter that meets something unexpected gives up on this run alone, and says so."""
    run, other = Guard().start(), Guard().start()
    assert Translates().heard(run, 1) == 1
    assert Translates().heard(run, 0) is None
    assert Translates().heard(run, 1) is None
    assert run.run.off
    assert not other.run.off
    (record,) = caplog.records
    assert record.getMessage().startswith("ZeroDivisionError raised in Translates.heard, line ")
