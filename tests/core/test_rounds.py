"""Responses and their calls: what forms a round, whichever way a trace tells it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from unstuck.events import MAIN, Call, Event, Message, Result, RunEnd
from unstuck.findings import Finding, Level
from unstuck.monitor import Monitor


def findings(events: list[Event]) -> list[Finding]:
    monitor = Monitor()
    return [finding for event in (*events, RunEnd("r")) for finding in monitor.observe(event).findings]


def look(id: str, message: int | None, agent: str = MAIN) -> Call:
    return Call("r", id, "read_file", {"path": "a"}, message, agent)


def told_by_messages(times: int) -> Iterator[Event]:
    for n in range(times):
        yield from (Message("r", n, 1), look("c", n), Result("r", "c", "aaa"))


def told_by_numbers(times: int) -> Iterator[Event]:
    for n in range(times):
        yield from (look("c", n), Result("r", "c", "aaa"))


def not_told(times: int) -> Iterator[Event]:
    for _ in range(times):
        yield from (look("c", None), Result("r", "c", "aaa"))


def without_a_count(times: int) -> Iterator[Event]:
    for n in range(times):
        yield from (Message("r", n), look("c", n), Result("r", "c", "aaa"))


def with_too_high_a_count(times: int) -> Iterator[Event]:
    for n in range(times):
        yield from (Message("r", n, 3), look("c", n), Result("r", "c", "aaa"))


def late(times: int) -> Iterator[Event]:
    """Each result comes after the next response and its call."""
    for n in range(times + 1):
        yield from (Message("r", n, 1), look(f"c{n}", n))
        if n:
            yield Result("r", f"c{n - 1}", "aaa")


def numbered_from_a_thousand(times: int) -> Iterator[Event]:
    for n in range(times):
        yield from (Message("r", 1_000 + 7 * n, 1), look("c", 1_000 + 7 * n), Result("r", "c", "aaa"))


WAYS = [told_by_messages, told_by_numbers, not_told, without_a_count, with_too_high_a_count, late, numbered_from_a_thousand]


@pytest.mark.parametrize("way", WAYS)
def test_three_equal_exchanges_are_found_however_they_are_told(way: Callable[[int], Iterator[Event]]):
    """With responses as events or without, with numbers or without, with counts that are right, missing or wrong, in time or late."""
    assert findings(list(way(2))) == []
    (finding,) = findings(list(way(3)))
    assert (finding.repeats, finding.first_call, finding.level) == (3, 1, Level.NUDGE)
    assert (finding.call, finding.message) == (3, 3)


@pytest.mark.parametrize("copies", [2, 6])
def test_a_duplicate_within_a_response_counts_once(copies: int):
    """However often one response asks for the same, it is one look; three such responses are three."""

    def run(times: int) -> list[Event]:
        events: list[Event] = []
        for n in range(times):
            events.append(Message("r", n, copies))
            events += [look(f"c{k}", n) for k in range(copies)]
            events += [Result("r", f"c{k}", "aaa") for k in range(copies)]
        return events

    assert findings(run(2)) == []
    assert [finding.repeats for finding in findings(run(3))] == [3]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_results_may_come_in_any_order(order: tuple[int, ...]):
    """Which of a response's results is there first decides nothing but when a nudge may be said: after the last."""
    monitor = Monitor()
    levels = []
    for n in range(3):
        monitor.observe(Message("r", n, 3))
        for k in range(3):
            monitor.observe(Call("r", f"c{k}", f"get_{k}", {"path": k}, n))
        levels.append([monitor.observe(Result("r", f"c{k}", f"content {k}")).level for k in order])
    assert levels == [[Level.CONTINUE] * 3, [Level.CONTINUE] * 3, [Level.CONTINUE, Level.CONTINUE, Level.NUDGE]]


def test_calls_of_one_response_may_be_told_apart_from_their_results_or_in_turn():
    """Call, result, call, result of one response, or both calls first: one round either way."""
    for turn in (True, False):
        events: list[Event] = []
        for n in range(3):
            calls = [Call("r", f"c{k}", f"get_{k}", {}, n) for k in range(2)]
            results = [Result("r", f"c{k}", f"content {k}") for k in range(2)]
            events += [Message("r", n, 2)]
            events += [x for pair in zip(calls, results, strict=True) for x in pair] if turn else [*calls, *results]
        assert {finding.message for finding in findings(events)} == {3}


def test_agents_that_take_turns_do_not_end_each_others_rounds():
    """Two agents at work at once, their events mixed: the loop of the one is found, and its nudge waits for its own round only."""
    monitor = Monitor()
    seen: list[tuple[str, Level]] = []
    for n in range(3):
        for event in (
            Message("r", 2 * n, 1, "one"),
            look("a", 2 * n, "one"),
            Message("r", 2 * n + 1, 1, "two"),
            Call("r", "b", "search", {"q": f"{n} and {n * 17}"}, 2 * n + 1, "two"),
            Result("r", "a", "aaa"),
            Result("r", "b", f"hit {'abc'[n] * 9}"),
        ):
            decision = monitor.observe(event)
            seen += [(finding.agent, decision.level) for finding in decision.findings]
    assert seen == [("one", Level.NUDGE)]


def test_the_same_ids_in_two_agents_at_once_belong_to_the_latest():
    """An id is one of the run: who needs two at a time gives two."""
    monitor = Monitor()
    monitor.observe(look("c", 1, "one"))
    monitor.observe(look("c", 2, "two"))
    monitor.observe(Result("r", "c", "aaa"))
    assert set(monitor.ledger.trails["two"].calls)
    assert not monitor.ledger.trails["one"].calls


def test_many_agents_are_bounded():
    """The one that was silent longest makes room; those that act are still watched."""
    monitor = Monitor()
    for n in range(500):
        monitor.observe(look("c", n, f"agent-{n}"))
        monitor.observe(Result("r", "c", "aaa"))
    assert len(monitor.ledger.trails) <= monitor.ledger.MOST_AGENTS
    found = []
    for n in range(600, 603):
        monitor.observe(look("c", n, "the last"))
        found += monitor.observe(Result("r", "c", "aaa")).findings
    assert [finding.agent for finding in found] == ["the last"]
