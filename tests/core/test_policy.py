"""Policy: caps, shadow mode, the ceiling, approval, who is counted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.host import B, C, Host, N, O, S
from unstuck.events import Retry, RunStart, User
from unstuck.findings import Level
from unstuck.monitor import Monitor
from unstuck.testing import call, message, result


@pytest.mark.parametrize(
    ("strongest", "expected"),
    [
        ("nudge", [(C, C), (C, C), (C, N)] + [(C, C)] * 7),
        ("block", [(C, C), (C, C), (C, N), (C, C)] + [(B, C)] * 6),
        ("stop", [(C, C), (C, C), (C, N), (C, C), (B, C), (B, C), (B, C), (S, C), (S, C), (S, C)]),
    ],
)
def test_strongest_caps_the_ladder(strongest: str, expected: list[tuple[Level, Level]]):
    """Nothing beyond it is decided, however long the loop goes on."""
    host = Host(strongest=strongest)
    assert [host.ask() for _ in range(10)] == expected


def test_shadow_mode_reports_what_would_have_been_and_does_nothing():
    """Same loops, same places, as a run in which nothing was done; level `observe`, no words for the model."""
    host, live = Host(shadow=True), Monitor()
    found = []
    for number in range(1, 10):
        for event in (message(number), call(args={"path": "a"}, message=number), result("the same")):
            decision = host.see(event)
            assert decision.level in (C, O)
            assert decision.text is None
            found += live.observe(event).findings
    assert [(f.level, f.would) for f in host.findings] == [(O, N), (O, B), (O, S)]
    assert [f._replace(level=f.would or f.level, would=None) for f in host.findings] == found


@pytest.mark.parametrize("shadow", [False, True])
def test_the_ceiling_stops_unattended_runs_and_only_reports_in_shadow_mode(shadow: bool):
    """A hundred identical exchanges, exempt or not."""
    host = Host(shadow=shadow, exempt=["read_file"])
    host.see(RunStart("r", attended=False))
    levels = [host.ask() for _ in range(101)]
    assert levels[:99] == [(C, C)] * 99
    assert levels[99:] == [(C, O if shadow else S)] * 2
    (finding,) = host.findings
    assert (finding.pattern, finding.repeats, finding.call, finding.would) == (
        "repeated_result",
        100,
        100,
        S if shadow else None,
    )


def test_an_attended_run_has_no_ceiling():
    """Somebody can look; also one that says nothing about it."""
    for start in (None, RunStart("r"), RunStart("r", attended=True)):
        host = Host(exempt=["read_file"])
        if start is not None:
            host.see(start)
        assert {host.ask() for _ in range(150)} == {(C, C)}


def test_differing_outcomes_do_not_reach_the_ceiling():
    """It counts exchanges that are identical but for what is volatile."""
    host = Host(ceiling=10, exempt=["read_file"])
    host.see(RunStart("r", attended=False))
    assert {host.ask(content=f"item {n} of 60") for n in range(60)} == {(C, C)}
    assert host.ask(content="at 12:00:01 nothing") == (C, C)
    assert [host.ask(content=f"at 12:00:{n:02} nothing")[1] for n in range(2, 11)] == [C] * 8 + [S]


def test_an_approved_call_is_no_evidence():
    """A person who allows each call has seen it."""
    host = Host()
    assert {host.ask(approved=True) for _ in range(20)} == {(C, C)}
    assert [host.ask() for _ in range(3)][:2] == [(C, C), (C, C)]


def test_an_approval_lifts_a_block_for_a_bounded_number_of_repeats():
    """Three by default; then the ladder goes on where it was."""
    host = Host(approved_repeats=2, detectors={"repeated_result": {"stop": 20}})
    for _ in range(4):
        host.ask()
    assert host.ask()[0] == B
    assert host.ask(approved=True) == (C, C)
    assert [host.ask()[0] for _ in range(4)] == [C, C, B, B]


def test_an_approval_ends_when_the_outcome_changes():
    """What was allowed was allowed for what it came to."""
    host = Host(approved_repeats=100, detectors={"repeated_result": {"stop": 50}})
    for _ in range(4):
        host.ask()
    assert host.ask(approved=True) == (C, C)
    assert host.ask()[0] == C
    host.ask(content="quite another thing")
    levels = [host.ask(content="quite another thing")[0] for _ in range(8)]
    assert B in levels


def test_a_denied_call_is_evidence():
    """A person said no, and the model asks again for the same."""
    host = Host()
    assert [host.ask(content="denied by the user", outcome="denied") for _ in range(3)] == [(C, C), (C, C), (C, N)]


@pytest.mark.parametrize("exempt", [["think"], ["thi*"], ["*"]])
def test_exempt_tools_neither_count_nor_break(exempt: list[str]):
    """A loop of one is not found; one between the calls of another loop changes nothing."""
    host = Host(exempt=exempt)
    assert {host.ask("think", {"about": "it"}, "noted") for _ in range(20)} == {(C, C)}
    if exempt != ["*"]:
        levels = []
        for number in range(3):
            levels.append(host.ask()[1])
            host.ask("think", {"about": number}, f"noted {number}")
        assert levels == [C, C, N]


def test_identity_keys_choose_what_makes_a_call():
    """The other arguments are ignored; a name that a call does not have is no matter."""
    host = Host(identity={"search": ["query", "site"]})
    levels = [host.ask("search", {"query": "x", "page": number, "why": f"{number} times"}, "hits")[1] for number in range(3)]
    assert levels == [C, C, N]
    assert [
        host.ask("search", {"query": f"y{number} other words", "page": 1}, f"hits for {number}")[1] for number in range(3)
    ] == [C, C, C]


def test_identity_applies_to_arguments_as_json_text():
    """The same arguments written as text are the same arguments."""
    host = Host(identity={"search": ["query"]})
    given = [{"query": "x", "n": 1}, '{"query": "x", "n": 2}', {"n": 3, "query": "x"}]
    assert [host.ask("search", args, "hits")[1] for args in given] == [C, C, N]


@pytest.mark.parametrize("origin", ["harness", "retry"])
def test_calls_of_programs_and_of_the_transport_neither_count_nor_reset(origin: Any):
    """Twenty of them are no loop, and between the model's calls they change nothing, not even with another result."""
    host = Host()
    assert {host.ask(origin=origin) for _ in range(20)} == {(C, C)}
    levels = []
    for number in range(3):
        levels.append(host.ask()[1])
        host.ask(origin=origin, content=f"other {number}")
        host.see(Retry("r"))
    assert levels == [C, C, N]


def test_a_persons_request_begins_a_turn_and_a_programs_text_does_not():
    """Only a real request resets; loop numbers go on."""
    host = Host()
    host.ask()
    host.ask()
    host.see(User("r", "Remember the rules.", "harness"))
    assert host.ask() == (C, N)
    host.see(User("r", "And now?"))
    assert [host.ask() for _ in range(5)] == [(C, C), (C, C), (C, N), (C, C), (B, C)]
    assert [finding.loop for finding in host.findings] == [1, 2, 2]


def test_a_stop_does_not_outlive_the_turn():
    """A person who speaks after a stop has taken over."""
    host = Host()
    for _ in range(8):
        host.ask()
    host.see(User("r", "Go on."))
    assert host.ask() == (C, C)


def test_agents_have_streaks_of_their_own():
    """Two agents that each look twice have not looked four times."""
    host = Host()
    levels = [host.ask(agent=agent) for agent in ("one", "two", "one", "two", "one", "two")]
    assert levels == [(C, C)] * 4 + [(C, N)] * 2
    assert [(finding.agent, finding.loop) for finding in host.findings] == [("one", 1), ("two", 2)]


def test_repeats_are_each_named_once():
    """Calls from the second lap on, by call and response, when the loop is found and as it goes on."""
    monitor = Monitor()
    named: list[tuple[int, int]] = []
    for number in range(1, 8):
        for event in (message(number), call(args={"path": "a"}, message=number), result("the same")):
            named += monitor.observe(event).repeats
    assert named == [(number, number) for number in range(2, 8)]
