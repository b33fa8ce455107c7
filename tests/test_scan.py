"""Finished runs to reports: names, order, money, memory, and the same findings as live."""

from __future__ import annotations

import gc
import io
import json
import tracemalloc

import pytest

from unstuck.config import Options
from unstuck.events import TYPE_NAMES, Call, Message, Result, RunEnd, RunStart, Usage, User
from unstuck.findings import Level
from unstuck.monitor import Monitor
from unstuck.scan import Repeated, Scan
from unstuck.testing import call, message, result, run_of
from unstuck.traces.source import Source


def lines(events):
    """Events as a file in unstuck's own format."""
    return b"".join(json.dumps({"type": TYPE_NAMES[type(event)], **_plain(event)}).encode() + b"\n" for event in events)


def _plain(event):
    return {name: value._asdict() if isinstance(value, Usage) else value for name, value in event._asdict().items()}


def price(model, usage, time):
    """A cent a token for the model `known`, and no price for others."""
    return usage.total / 100 if model == "known" else None


def scanned(*files, **options):
    """The reports of *files*, lists of events that are called a.jsonl, b.jsonl, ..."""
    scan = Scan(prices=price, **options)
    return [
        report
        for name, events in zip("abc", files, strict=False)
        for report in scan.runs(Source(io.BytesIO(lines(events)), f"logs/{name}.jsonl"))
    ]


READS = [("read_file", {"path": "a.txt"}, "same")] * 12


USAGE = Usage(100, 10)


def looping(usage=USAGE, model="known", run="r"):
    """A run that reads one file twelve times, a call a response."""
    return [
        event._replace(usage=usage, model=model) if isinstance(event, Message) else event for event in run_of(READS, run=run)
    ]


def test_a_scan_finds_what_a_live_monitor_finds():
    """The findings of a recorded run are those that the monitor decides event by event."""
    monitor = Monitor()
    live = [finding for event in looping() for finding in monitor.observe(event).findings]
    (report,) = scanned(looping())
    assert list(report.findings) == live
    assert report.level is Level.STOP
    assert report.first(Level.STOP) == next(finding for finding in live if finding.level is Level.STOP)


def test_a_run_without_an_end_is_reported_as_one_that_ended():
    """A nudge that waits for a result that never comes is in the report, whether the trace says the end or breaks off."""
    events = [event._replace(calls=2) if isinstance(event, Message) else event for event in run_of(READS[:3])]
    (broken,), (ended,) = scanned(events), scanned([*events, RunEnd("r")])
    assert [finding.level for finding in ended.findings] == [Level.NUDGE]
    assert broken.findings == ended.findings


def test_mixed_runs_are_answered_in_the_order_they_began():
    """Runs that end early wait for those that began before them."""
    events = [User("first", "Go."), User("second", "Go."), RunEnd("second"), User("third", "Go."), RunEnd("first")]
    assert [report.run for report in scanned(events)] == ["first", "second", "third"]


def test_each_run_has_a_name_of_its_own():
    """Where a run has no id, or one that is taken, its file's name and a number stand for it."""
    again = [User("r", "Go."), RunEnd("r"), User("r", "Go."), RunEnd("r")]
    nameless = [User("", "Go."), RunEnd(""), User("a.jsonl#2", "Go.")]
    assert [report.run for report in scanned(again, nameless)] == ["r", "a.jsonl#2", "b.jsonl#1", "b.jsonl#2"]


def test_repeats_are_paid_for_once():
    """Eleven of twelve equal reads are repeats; the responses that hold them are what they took."""
    (report,) = scanned(looping())
    assert report.repeated == Repeated(11, 11 * 110, pytest.approx(11 * 1.10))
    assert (report.tokens, report.usd) == (12 * 110, pytest.approx(12 * 1.10))
    (loop,) = report.loops
    assert (loop.first_call, loop.last_call, loop.repeats, loop.unit, loop.tools) == (1, 12, 12, "calls", ("read_file",))


def interleaved(first, second, turns=12):
    """Two agents that each do one thing again and again, a call of one after a call of the other."""
    events = [User("r", "Go.")]
    for number in range(1, turns + 1):
        for agent, (tool, args, content, outcome) in (("one", first), ("two", second)):
            events += [
                message(number, agent=agent),
                call(tool, args, id=f"{agent}{number}", message=number, agent=agent),
                result(content, id=f"{agent}{number}", outcome=outcome),
            ]
    return events


LOOK = ("read_file", {"path": "a"}, "same", "ok")
ASK = ("fetch", {"url": "b"}, "the same page", "ok")


@pytest.mark.parametrize(("first", "second"), [(LOOK, ASK), (ASK, LOOK)])
def test_each_loop_has_its_own_count(first, second):
    """Of two loops that go on side by side each has its own calls, whichever was found last; the run's repeats are both together."""
    (report,) = scanned(interleaved(first, second))
    assert [
        (loop.tools[0], loop.first_call, loop.last_call, loop.repeats)
        for loop in sorted(report.loops, key=lambda one: one.tools)
    ] == [
        ("fetch", 2 if first is LOOK else 1, 24 if first is LOOK else 23, 12),
        ("read_file", 1 if first is LOOK else 2, 23 if first is LOOK else 24, 12),
    ]
    assert report.repeated.calls == 22


def test_a_loop_that_two_patterns_see_is_one_row():
    """Its pattern is the one that brought it furthest, with the count of that; the others are named, and nothing is counted twice."""
    steps = [(tool, {"n": 1}, f"what {tool} says", "ok") for tool in ("alpha", "beta", "gamma")]
    events = [User("r", "Go.")]
    for number in range(1, 31):
        tool, args, content, _ = steps[(number - 1) % 3]
        events += [message(number), call(tool, args, id=f"c{number}", message=number), result(content, id=f"c{number}")]
    (report,) = scanned(events)
    assert {finding.pattern for finding in report.findings} == {"cycle", "repeated_result"}
    (loop,) = report.loops
    assert (loop.pattern, loop.repeats, loop.unit, loop.others) == ("cycle", 10, "laps", ("repeated_result",))
    assert (loop.first_call, loop.last_call, report.repeated.calls) == (1, 30, 27)


def test_a_loop_goes_no_further_than_its_last_repeat():
    """Other work after it is not in its range."""
    events = [*run_of(READS[:9]), *run_of([("search", {"q": f"{n}"}, f"found {n}") for n in range(5)])[1:]]
    (report,) = scanned(events)
    assert [(loop.first_call, loop.last_call, loop.repeats) for loop in report.loops] == [(1, 9, 9)]


def test_shadow_mode_keeps_what_would_have_happened():
    """A loop is only observed, and says how far it would have come; counts are as without it."""
    (open_report,), (shadow,) = scanned(looping()), scanned(looping(), rules=Options(shadow=True).rules())
    assert [(loop.level, loop.would, loop.strength) for loop in shadow.loops] == [(Level.OBSERVE, Level.STOP, Level.STOP)]
    assert [loop._replace(level=Level.STOP, would=None) for loop in shadow.loops] == list(open_report.loops)


def test_a_response_with_two_repeats_is_paid_for_once():
    """Parallel calls share the tokens of their response."""
    events = [User("r", "Go.")]
    for number in range(1, 9):
        events.append(message(number, calls=2, usage=Usage(100, 10), model="known"))
        events += [call("read_file", {"path": path}, id=f"{path}{number}", message=number) for path in "ab"]
        events += [result("same", id=f"{path}{number}") for path in "ab"]
    (report,) = scanned(events)
    assert report.repeated.calls == 14
    assert report.repeated.tokens == 7 * 110


UNKNOWN = {
    "no tokens in the trace": (looping(usage=None), Repeated(11, None, None)),
    "no price for the model": (looping(model="new"), Repeated(11, 1210, None)),
    "no model": (looping(model=None), Repeated(11, 1210, None)),
    "no repeats, tokens known": (looping()[:4], Repeated(0, 0, 0.0)),
    "no repeats, nothing known": (looping(usage=None)[:4], Repeated(0, None, None)),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_is_unknown_is_null(case):
    """Tokens are null where the trace has none, money also where a price is missing: never a guess."""
    events, repeated = UNKNOWN[case]
    (report,) = scanned(events)
    assert report.repeated == repeated


def test_a_model_named_once_holds_for_the_following_responses():
    """Formats that name the model at the beginning only still get a price."""
    events = looping()
    later = [event._replace(model=None) if isinstance(event, Message) and event.message > 1 else event for event in events]
    assert scanned(later)[0].repeated == scanned(events)[0].repeated


def test_a_report_tells_times_models_and_whether_someone_was_there():
    """What a run says about itself is in its report."""
    events = [
        RunStart("r", attended=False),
        Message("r", 1, 1, model="m1", time=100.0),
        Call("r", "c", "ls", None, 1, time=101.0),
        Result("r", "c", "x", time=109.5),
        Message("r", 2, 0, model="m2"),
    ]
    (report,) = scanned(events)
    assert (report.started, report.ended, report.models, report.attended) == (100.0, 109.5, ("m1", "m2"), False)
    assert (report.calls, report.messages, report.format, report.source) == (1, 2, "events", "logs/a.jsonl")


def test_content_stands_beside_the_findings_only_where_asked_for():
    """Arguments and results of the call at which a finding fell are kept with `content`, one for each finding."""
    (report,) = scanned(looping(), content=True)
    assert report.contents is not None
    assert len(report.contents) == len(report.findings) > 0
    assert all(content["tool"] == "read_file" and content["args"] == {"path": "a.txt"} for content in report.contents)
    assert scanned(looping())[0].contents is None


STRANGE = {
    "a result before its call": [result("x"), message(), call(), result("y")],
    "an id used twice": [message(calls=2), call(), call(), result("x"), result("y")],
    "a result twice": [message(), call(), result("x"), result("x")],
    "events behind the end": [User("r", "a"), RunEnd("r"), message(), call(), result()],
    "a call without a response": [call(), result()],
    "a response number twice": [message(1), call(), result(), message(1), call(), result()],
    "unhashable and odd values": [message(), call(args={"a": [None, {}, [[]]], "": {"": ""}}), result({"x": [1.5, True]})],
    "arguments that are broken JSON": [message(), call(args='{"path": '), result("x")],
}


@pytest.mark.parametrize("case", STRANGE)
def test_strange_runs_are_reported(case):
    """Whatever the order of its events, a run gets a report that counts every call."""
    events = STRANGE[case]
    assert sum(report.calls for report in scanned(events)) == sum(isinstance(event, Call) for event in events)


def test_memory_does_not_grow_with_finished_runs():
    """Of a run that has ended, nothing but its name is remembered."""

    def feed(runs):
        for number in range(runs):
            yield lines([*looping(run=f"run-{number}"), RunEnd(f"run-{number}")])

    class Stream(io.RawIOBase):
        def __init__(self, parts):
            self._parts = parts
            self._rest = b""

        def readable(self):
            return True

        def readinto(self, buffer):
            while len(self._rest) < len(buffer) and (part := next(self._parts, b"")):
                self._rest += part
            taken, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
            buffer[: len(taken)] = taken
            return len(taken)

    reports = Scan(prices=price).runs(Source(io.BufferedReader(Stream(feed(330))), "many"))
    held = []
    tracemalloc.start()
    for number, _ in enumerate(reports, 1):
        if number in (30, 330):
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert held[1] - held[0] < 300 * 300
