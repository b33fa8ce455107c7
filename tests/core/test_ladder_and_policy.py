"""From finding to decision: rungs, truthful blocks, approval, shadow mode, who is counted, what is told to whom."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from unstuck.config import Options
from unstuck.detectors.repeated_result import RepeatedResult
from unstuck.errors import LoopStopped
from unstuck.events import MAIN, Call, Compaction, Event, Message, Result, Retry, RunEnd, RunStart, User
from unstuck.findings import CONTINUE, Decision, Finding, Level
from unstuck.ladder import Ladder
from unstuck.monitor import Monitor
from unstuck.presets import Rules
from unstuck.testing import call, message, result

N, B, S, C, O = Level.NUDGE, Level.BLOCK, Level.STOP, Level.CONTINUE, Level.OBSERVE  # noqa: E741


class Host:
    """A host that does as it is told: what is blocked or stopped does not run, and comes back as blocked."""

    def __init__(self, **settings: Any) -> None:
        self.monitor = Monitor(Options(**settings).rules())
        self.number = 0
        self.findings: list[Finding] = []

    def see(self, event: Event) -> Decision:
        decision = self.monitor.observe(event)
        self.findings += decision.findings
        return decision

    def ask(self, tool: str = "read_file", args: Any = None, content: Any = "the same", **fields: Any) -> tuple[Level, Level]:
        """One call in a response of its own; the levels before it and at its result."""
        before, after = self.exchange(tool, args, content, **fields)
        return before.level, after.level

    def exchange(
        self, tool: str = "read_file", args: Any = None, content: Any = "the same", **fields: Any
    ) -> tuple[Decision, Decision]:
        self.number += 1
        outcome = fields.pop("outcome", "ok")
        self.see(message(self.number))
        args = {"path": "a"} if args is None else args
        before = self.see(call(tool, args, message=self.number, **fields))
        if before.level >= B:
            return before, self.see(result(before.text, outcome="blocked"))
        return before, self.see(result(content, outcome=outcome))


def test_a_loop_is_nudged_blocked_and_stopped():
    """Nudge after the third exchange, block before the fifth call runs and at each further attempt, stop before the eighth."""
    host = Host()
    levels = [host.ask() for _ in range(9)]
    assert levels == [(C, C), (C, C), (C, N), (C, C), (B, C), (B, C), (B, C), (S, C), (S, C)]
    assert [(f.level, f.call, f.message, f.repeats, f.loop) for f in host.findings] == [
        (N, 3, 3, 3, 1),
        (B, 5, 5, 5, 1),
        (S, 8, 8, 8, 1),
    ]


def test_a_finding_says_what_a_report_needs():
    """Pattern, ordinals, where it began, tools, agent, unit, fingerprints; one line without arguments for logs."""
    host = Host()
    host.ask("write_file", {"path": "other"}, "done")
    for _ in range(3):
        host.ask()
    (finding,) = host.findings
    assert finding._replace(fingerprints=()) == Finding(1, "repeated_result", 4, 4, 2, 3, ("read_file",), MAIN, N, ())
    (fingerprint,) = finding.fingerprints
    assert len(fingerprint) == 16
    assert int(fingerprint, 16) >= 0
    assert finding.record == "repeated_result: 3 calls of read_file"


def test_calls_whatever_their_origin_are_numbered():
    """The ordinals in a finding count every call event and every response."""
    host = Host()
    for _ in range(3):
        host.see(call("env", {}, id="h", origin="harness"))
        host.see(result("x", id="h"))
        host.see(message(100 + host.number, calls=0, text=f"text {host.number} of its own kind"))
        host.ask()
    assert [(f.call, f.message) for f in host.findings] == [(6, 6)]


def test_the_decision_names_its_finding_and_the_strongest_level():
    """`findings` holds what is new, `finding` what decided; a continued block has the one and not the other."""
    host = Host()
    for _ in range(4):
        host.ask()
    first, _ = host.exchange()
    again, _ = host.exchange()
    assert (first.name, len(first.findings), first.finding) == ("block", 1, first.findings[0])
    assert (again.name, again.findings) == ("block", ())
    assert again.text


def parallel(host: Host, calls: Iterable[tuple[str, str, Any, str]]) -> list[Decision]:
    """One response with several calls (id, tool, arguments, result): the decisions at their results."""
    host.number += 1
    calls = list(calls)
    host.see(message(host.number, calls=len(calls)))
    for id, tool, args, _ in calls:
        host.see(call(tool, args, id=id, message=host.number))
    return [host.see(result(content, id=id)) for id, _, _, content in calls]


def test_a_nudge_waits_until_its_round_is_over_and_comes_once():
    """It never lands between a call and the results of its response."""
    host = Host()
    rounds = [
        parallel(
            host, [("a", "read_file", {"path": "a"}, "the same"), ("b", "search", {"q": f"{n} {n * 7}"}, f"hit {'xyz'[n]}")]
        )
        for n in range(3)
    ]
    assert [[decision.level for decision in decisions] for decisions in rounds] == [[C, C], [C, C], [C, N]]
    assert [finding.call for finding in host.findings] == [5]
    assert host.see(message(50, calls=0, text="Well.")).level is C


@pytest.mark.parametrize(
    "end", [Message("r", 9, 0, text="Now."), User("r", "Note.", "harness"), RunEnd("r")], ids=["message", "user", "end"]
)
def test_a_round_with_a_result_missing_ends_with_what_comes_next(end: Event):
    """A response, a reminder or the end of the run closes it, and the nudge that waited comes then."""
    host = Host()
    host.ask()
    host.ask()
    host.see(message(3, calls=2))
    host.see(call(args={"path": "a"}, message=3))
    host.see(call("search", {"q": "x"}, id="never", message=3))
    assert host.see(result("the same")).level is C
    assert host.see(end).level is N
    assert host.see(RunEnd("r")).level is C


def test_a_persons_request_takes_back_a_nudge_that_waits():
    """Whatever it was about belongs to the turn before."""
    host = Host()
    host.ask()
    host.ask()
    host.see(message(3, calls=2))
    host.see(call(args={"path": "a"}, message=3))
    host.see(call("search", {"q": "x"}, id="never", message=3))
    host.see(result("the same"))
    assert host.see(User("r", "Stop that.")).level is C
    assert host.see(RunEnd("r")).level is C


def test_a_block_says_truly_that_the_call_did_not_run():
    """Its text begins with it, counts what was asked for, and comes anew for each attempt."""
    host = Host()
    for _ in range(4):
        host.ask()
    texts = [host.exchange()[0].text or "" for _ in range(3)]
    assert all(text.startswith("This call was not executed.") for text in texts)
    assert [str(count) in text for count, text in zip((5, 6, 7), texts, strict=True)] == [True] * 3


@pytest.mark.parametrize(("ran", "stop_at"), [(True, 8), (False, 8)])
def test_attempts_count_whether_or_not_the_host_lets_them_run(ran: bool, stop_at: int):
    """A host that cannot block reaches the stop at the same call as one that can."""
    host = Host()
    levels = []
    for number in range(1, 10):
        host.see(message(number))
        levels.append(host.see(call(args={"path": "a"}, message=number)).level)
        blocked = levels[-1] >= B and not ran
        host.see(result("not run" if blocked else "the same", outcome="blocked" if blocked else "ok"))
    assert levels.index(S) + 1 == stop_at


def test_a_blocked_result_is_no_evidence():
    """What a guard answered is not what the tool came to: it neither counts nor breaks the streak, and it adds to no other pattern."""
    host = Host(detectors={"repeated_result": {"block": 4, "stop": 20}})
    for _ in range(3):
        host.ask()
    for _ in range(6):
        assert host.ask() == (B, C)
    state = next(iter(host.monitor.ledger.trails[MAIN].calls.values()))
    assert (state.same, state.asked) == (3, 6)
    assert {finding.pattern for finding in host.findings} == {"repeated_result"}


def test_a_foreign_guards_blocks_are_no_evidence_before_anything_repeats():
    """Calls that another guard refused from the start never ran."""
    host = Host()
    for _ in range(20):
        assert host.ask(outcome="blocked") == (C, C)
    assert host.findings == []


def test_a_loop_taken_up_again_after_a_nudge_goes_on_where_it_was():
    """Another result breaks the streak, and once it shows again the count goes on: no second nudge, the block as the sixth."""
    host = Host()
    for _ in range(3):
        host.ask()
    host.ask(content="something else entirely")
    assert [host.ask() for _ in range(5)] == [(C, C), (C, C), (B, C), (B, C), (S, C)]
    assert {finding.loop for finding in host.findings} == {1}


def test_a_loop_that_was_not_nudged_begins_anew():
    """Two repeats, a change, two repeats: there was no loop."""
    host = Host()
    for _ in range(4):
        assert host.ask() == (C, C)
        assert host.ask() == (C, C)
        assert host.ask("write_file", {"path": f"b{_}", "content": f"{_}"}, f"wrote {_}") == (C, C)
    assert host.findings == []


def test_a_second_loop_has_a_ladder_and_a_number_of_its_own():
    """The first one's level does not carry over, and both go on side by side."""
    host = Host()
    for _ in range(4):
        host.ask()
    levels = [host.ask("list_dir", {"path": "b"}, "another") for _ in range(5)]
    assert levels == [(C, C), (C, C), (C, N), (C, C), (B, C)]
    assert host.ask()[0] == B
    assert [(f.loop, f.level, f.tools) for f in host.findings] == [
        (1, N, ("read_file",)),
        (2, N, ("list_dir",)),
        (2, B, ("list_dir",)),
        (1, B, ("read_file",)),
    ]


def test_a_ladder_without_a_nudge_blocks_at_once():
    """A rung that is off is skipped, not replaced."""
    host = Host(detectors={"repeated_result": Ladder(block=3, stop=4)})
    assert [host.ask() for _ in range(4)] == [(C, C), (C, C), (B, C), (S, C)]


def test_a_ladder_is_climbed_from_its_first_rung():
    """Evidence that is found late, beyond the block already, is nudged first."""
    host = Host(detectors={"repeated_result": {"nudge": 2, "block": 3, "stop": 4}})
    assert [host.ask() for _ in range(4)] == [(C, C), (C, N), (B, C), (S, C)]


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


SECRETS = {
    "argument": "hunter2-in-arguments",
    "result": "hunter2-in-a-result",
    "error": "hunter2-in-an-error",
    "text": "hunter2-in-the-text",
    "reasoning": "hunter2-in-the-reasoning",
    "request": "hunter2-in-a-request",
    "meta": "hunter2-in-meta",
}


def secret_run(number: int) -> list[Event]:
    """A response that repeats itself in every way at once, with a secret in each place that can hold one."""
    args = {
        "path": SECRETS["argument"],
        "old": SECRETS["argument"],
        "new": SECRETS["argument"] + "x",
        "task": SECRETS["argument"],
    }
    events: list[Event] = []
    for index, tool in enumerate(("read_file", "edit_file", "bash", "spawn_agent", "wait_for")):
        events += [
            Message("r", 10 * number + index, 1, text=SECRETS["text"], reasoning=SECRETS["reasoning"] * 40),
            Call("r", "c", tool, args if tool != "bash" else {"command": SECRETS["argument"]}, 10 * number + index),
            Result("r", "c", f"Error: {SECRETS['error']}" if index % 2 else SECRETS["result"], "error" if index % 2 else "ok"),
        ]
    return [*events, Message("r", 10 * number + 9, 0, text=SECRETS["text"])]


@pytest.mark.parametrize("name", ["default", "praisonai", "pydantic-ai-harness", "pydantic-deep"])
@pytest.mark.parametrize("attended", [True, False])
def test_no_record_holds_anything_of_the_run(name: str, attended: bool):
    """Neither findings nor exception texts nor saved state hold arguments, results, texts or requests, not even in part."""
    monitor = Monitor(Options(preset=name, ceiling=10).rules())
    told: list[str] = []
    events: list[Event] = [RunStart("r", attended, {"m": SECRETS["meta"]}), User("r", SECRETS["request"])]
    for number in range(1, 13):
        events += secret_run(number)
    for number in range(200, 225):
        asked = Call("r", "c", "check", {"path": SECRETS["argument"]}, number)
        events += [Message("r", number, 1), asked, Result("r", "c", SECRETS["result"])]
    events += [Compaction("r"), Call("r", "open", "read_file", {"path": SECRETS["argument"]}, 999)]
    for event in events:
        decision = monitor.observe(event)
        told += [repr(finding) + finding.record + str(LoopStopped(finding)) for finding in decision.findings]
        told.append(monitor.dump() if isinstance(event, Result | Call) else "")
    assert [line for line in told if line.startswith("Finding")]
    assert not [line for line in told if "hunter" in line]
    json.loads(monitor.dump())


def test_words_for_the_model_hold_the_first_error_line_and_nothing_else_of_the_run():
    """No argument and no result, and of a tool's name only letters, digits and underscores."""
    host = Host()
    texts = []
    for _ in range(9):
        before, after = host.exchange(
            "run`x\ny", {"path": "hunter2"}, "Error: disk is full\nhunter3 on line two", outcome="error"
        )
        texts += [decision.text for decision in (before, after) if decision.text]
    assert len(texts) == 6
    assert all("disk is full" in text for text in texts)
    assert not [text for text in texts if "hunter" in text or "\n" in text]
    assert all("run_x_y" in text for text in texts)


def test_own_words_are_used_as_they_come():
    """A function of the evidence, the level and the count words what the model reads; records stay as they are."""
    host = Host(wording=lambda evidence, level, repeats: f"{evidence.pattern} {level.label} {repeats}")
    texts = [decision.text for _ in range(5) for decision in host.exchange() if decision.text]
    assert texts == ["repeated_result nudge 3", "repeated_result block 5"]


def test_what_shows_nothing_is_one_decision_for_all():
    """No object is made for the many events at which nothing happens."""
    assert Monitor().observe(call()) is CONTINUE
    assert Decision(Level.CONTINUE, (), None, None, ()) == CONTINUE


def test_one_monitors_loops_are_not_anothers():
    """Rules are values: two monitors share them and nothing else."""
    rules = Rules((RepeatedResult(),))
    one, other = Monitor(rules), Monitor(rules)
    for number in range(1, 4):
        for event in (call(args={"path": "a"}, message=number), result("the same")):
            decision = one.observe(event)
    assert decision.level is N
    assert other.observe(call(args={"path": "a"}, message=1)).level is C
    assert other.observe(result("the same")).level is C
    assert one.dump() != other.dump()
