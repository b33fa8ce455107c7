"""The ladder: rungs, nudges that wait, truthful blocks, loops that are told apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tests.core.host import B, C, Host, N, S
from unstuck.events import MAIN, Event, Message, RunEnd, User
from unstuck.findings import Decision, Finding
from unstuck.ladder import Ladder
from unstuck.testing import call, message, result


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
    """What a guard answered is not what the tool came to: it neither counts nor breaks the streak."""
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
