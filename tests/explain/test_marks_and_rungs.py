"""What was masked in the exchanges, and which rungs there are."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.explain.made import (
    PATTERNS,
    PERSON,
    SPELLINGS,
    after,
    counted,
    exchange,
    failing,
    many,
    numbered,
    passed_over,
    rungs,
    strand_of,
)
from unstuck.config import Options
from unstuck.detectors.budget import Budget
from unstuck.detectors.turn_budget import TurnBudget
from unstuck.events import RunStart, User
from unstuck.explain import Exchange, explain
from unstuck.explain.runs import events_of
from unstuck.failures import failure_class, left_out_of, telling_line
from unstuck.findings import Level
from unstuck.fingerprint import text_digest
from unstuck.records import Said
from unstuck.scan import Scan
from unstuck.sketch import words_of
from unstuck.traces.source import Source
from unstuck.volatile import mask, spans

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = ROOT.parent / "shared" / "cases" / "cases.events.jsonl"

READS = many(range(1, 4))
SPELT = many(range(1, 7), "query_logs", lambda number: SPELLINGS[number], "the log holds one line about it")


def test_masked_tokens_are_marked():
    """The stretches of a result that are no news are marked, in each exchange its own; numbers that are news are not."""
    events = many((1, 2, 3), "run_tests", {}, lambda number: f"3 failed at 12:30:0{number}, pid={100 + number}")
    strand = strand_of(events, "repeated_result")
    assert [entry.result.masked for entry in strand.entries] == [(f"12:30:0{n}", str(100 + n)) for n in (1, 2, 3)]


def test_names_that_were_added_to_the_words_are_marked():
    """A field that the settings call volatile is marked like those that come with the product."""
    rules = Options(words={"volatile_fields": ["build"]}).rules()
    events = many((1, 2, 3), "probe", {}, lambda number: f"build: {number * 17}, ready")
    assert strand_of(events, "repeated_result", rules).entries[0].result.masked == ("17",)


def test_of_an_error_what_differs_is_marked():
    """Of a failure its telling line is shown, and in it what its class does not depend on: names out of the call, numbers."""
    events = [
        event
        for number in range(1, 6)
        for event in exchange(
            number,
            "fetch",
            {"url": f"http://gate/{number}"},
            f"trace\nError: no route to http://gate/{number} in {number}s",
            "error",
        )
    ]
    first = strand_of(events, "repeated_failure").entries[0]
    assert (first.result.text, first.result.masked) == ("Error: no route to http://gate/1 in 1s", ("http://gate/1", "1s"))


def test_receipts_mark_their_numbers():
    """Of a receipt for work that was passed on the numbers are no news."""
    events = many(range(1, 4), "spawn_agent", {"task": "review the file"}, lambda number: f"agent-{number} started")
    assert [entry.result.masked for entry in strand_of(events, "repeated_result").entries] == [("1",), ("2",), ("3",)]


def test_arguments_that_were_not_compared_are_named():
    """Limits and remarks of spellings, and all but the arguments that identify a call."""
    assert strand_of(SPELT, "near_repeat").entries[0].ignored == ("limit",)
    rules = Options(identity={"read_file": ["path"]}).rules()
    events = many((1, 2, 3), args=lambda number: {"path": "a.py", "nonce": number})
    assert strand_of(events, "repeated_result", rules).entries[0].ignored == ("nonce",)


def test_earlier_reads_are_named():
    """What was read again says where it was read before."""
    strand = strand_of(PATTERNS["recovered_ground"][0], "recovered_ground")
    assert [entry.earlier for entry in strand.entries] == [1, 2, 3, 4, 5, 6]


def test_passing_errors_count_half():
    """Two rate limits are one repeat, and the rung ahead takes twice the failures."""
    strand = strand_of(
        [event for number in range(1, 11) for event in failing(number, "429 too many requests")], "repeated_failure"
    )
    assert counted(strand)[-1] == (10, 5)
    assert after(strand) == ("block", 9, 8)


ENDS = {
    "stop was reached": (many(range(1, 10)), {}, "last_rung"),
    "the ladder is short": (READS, {"detectors": {"repeated_result": {"block": None, "stop": None}}}, "no_higher_rung"),
    "the policy goes no further": (READS, {"strongest": "nudge"}, "strongest"),
    "a person spoke": ([*READS, User("r", "And now?")], {}, "person"),
}


@pytest.mark.parametrize("name", ENDS)
def test_why_no_rung_comes_next(name):
    """Where nothing comes next, the reason is told."""
    events, settings, reason = ENDS[name]
    ahead = strand_of(events, "repeated_result", Options(**settings).rules()).next
    assert (ahead.level, ahead.why) == (None, reason)


def test_the_ladder_says_where_it_is_from():
    """A ladder is the preset's, or something changed it."""
    assert strand_of(READS, "repeated_result").ladder_from == "preset default"
    rules = Options(detectors={"repeated_result": {"block": 6}}).rules()
    [strand] = explain([PERSON, *READS], rules, changed_by="own.toml")
    assert (strand.ladder_from, strand.ladder.block) == ("own.toml", 6)


def test_shadow_mode_says_what_would_have_been():
    """In shadow mode a rung is `observe`, and what it would have been stands beside it."""
    strand = strand_of(READS, "repeated_result", Options(shadow=True).rules())
    assert [(rung.level, rung.would) for rung in strand.rungs] == [(Level.OBSERVE, Level.NUDGE)]
    assert strand.level is Level.NUDGE


def test_the_ceiling_is_explained():
    """In a run that nobody attends the ceiling counts exempt tools too."""
    rules = Options(ceiling=10, exempt=["think"]).rules()
    [strand] = explain([RunStart("r", attended=False), *many(range(1, 12), "think", {}, "x")], rules)
    assert (rungs(strand), strand.ladder_from, counted(strand)[:2]) == ([("stop", 10, 10)], "ceiling", [(1, 1), (2, 2)])


def test_one_loop_may_be_seen_by_two_patterns():
    """The rungs that the same loop reached by another pattern are named, since they count for its ladder."""
    strand = strand_of(PATTERNS["cycle"][0], "cycle")
    assert [(pattern, rung.level, rung.call) for pattern, rung in strand.elsewhere] == [("repeated_result", Level.NUDGE, 5)]


def test_budgets_are_explained():
    """The turn's budget counts what brought nothing new; the run's names where its shares were reached."""
    rules = Options(detectors={"budget": Budget(calls=10), "turn_budget": TurnBudget()}).rules()
    events = many(range(1, 9), args=lambda number: {"path": f"{number % 3}"})
    turn = strand_of(events, "turn_budget", rules)
    assert counted(turn) == [(1, 1), (4, 2), (5, 3), (6, 4), (7, 5), (8, 6)]
    assert passed_over(turn) == [(2, "new_outcome"), (3, "new_outcome")]
    assert rungs(strand_of(events, "budget", rules)) == [("nudge", 8, 80)]


PRESETS = {
    "pydantic-ai-harness": ("repeated_result", [(1, 1), (3, 2), (5, 3)]),
    "praisonai": ("alternating_calls", [*numbered(1, 9), (10, 11)]),
    "pydantic-deep": ("repeated_result", numbered(1, 3)),
}


@pytest.mark.parametrize("name", PRESETS)
def test_the_rules_of_other_presets_name_their_calls(name):
    """Rules over the last calls name the calls that they are about."""
    pattern, exchanges = PRESETS[name]
    events = many(range(1, 11), args=lambda number: {"path": f"{number % 2}"})
    strand = strand_of(events, pattern, Options(preset=name).rules())
    assert counted(strand)[: len(exchanges)] == exchanges
    assert strand.rule


def test_a_run_without_a_loop_has_nothing_to_explain():
    """No finding, no strand."""
    assert explain([PERSON, *many((1, 2))]) == ()


TEXTS = [
    "done at 12:30:01 in 3.5s",
    'pid: 123, {"ts": 1700000000, "id": "deadbeef12"}',
    "attempt 3 of 5 (req 5feceb99) at 0xdeadbeef00, 7 of 9 left",
    "x" * 9000 + " 12:30:01 " + "y" * 9000 + " took 3s",
    "~ 12:30 ~",
    "nothing",
]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:20])
def test_the_marks_are_what_masking_replaces(text):
    """With each marked stretch replaced by a tilde a text is what the comparison sees."""
    masked, at = "", 0
    for start, end in spans(text):
        masked, at = f"{masked}{text[at:start]}~", end
    assert masked + text[at:] == mask(text)


ERRORS = [
    ("Error: 10.0.0.1:7000 refused (req 5feceb)", {"path": "/srv/a"}),
    ("cannot open '/srv/a.txt': no such file", {"path": "/srv/a.txt"}),
    ("HTTP 404 for http://gate/x after 12 tries", {"url": "http://gate/x"}),
    ('near "selct": syntax error at line 3', {"query": "selct 1"}),
    ("first\nFatal: main.py:12 failed", "main.py"),
]


@pytest.mark.parametrize(("text", "args"), ERRORS)
def test_the_marks_of_an_error_are_what_its_class_leaves_out(text, args):
    """The words of a telling line without its marked stretches make its class."""
    said, line = Said(), telling_line(text)
    said.value = args
    for start, end in reversed(left_out_of(line, said)):
        line = f"{line[:start]} {line[end:]}"
    assert text_digest(" ".join(words_of(line))) == failure_class(text, said)


@pytest.mark.skipif(not CASES.exists(), reason="no ../shared/cases")
def test_every_finding_of_the_cases_is_explained():
    """Each finding of a scan stands in the explanation of its run, at an exchange that came to its count."""
    with closing(Source.open(CASES)) as source:
        reports = list(Scan().runs(source))
    for position, report in enumerate(reports):
        with closing(Source.open(CASES)) as source:
            strands = explain(events_of(source, position))
        told = [
            (strand.loop, strand.pattern, decided.level, entry.call, entry.message, entry.repeats)
            for strand in strands
            for entry in strand.entries
            if isinstance(entry, Exchange)
            for decided in entry.decisions
        ]
        found = [(one.loop, one.pattern, one.level, one.call, one.message, one.repeats) for one in report.findings]
        assert sorted(told, key=str) == sorted(found, key=str), report.run
