"""Each pattern where it is, and not where honest work looks like it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.honest import HONEST as LOOKS
from tests.core.honest_programs import HONEST as PROGRAMS
from tests.core.looping import LOOPS as PLAIN
from tests.core.patterns import CITIES, COMPACTED, THINGS, Found, X, chapter, events, found, harm, said
from tests.core.spellings import HONEST as SPELLED
from tests.core.spellings import LOOPS as SPELLINGS
from unstuck.events import Call, Message, User
from unstuck.findings import Level
from unstuck.monitor import Monitor
from unstuck.presets import preset

LOOPS = {**PLAIN, **SPELLINGS}


@pytest.mark.parametrize(("rounds", "expected"), LOOPS.values(), ids=list(LOOPS))
def test_a_loop_is_found_where_it_shows(rounds: list[Any], expected: Found):
    """By its pattern at that call or response (-1: somewhere in the run), and by no other before that would hold the run up."""
    findings = found(rounds)
    if expected.at < 0:
        findings = [one._replace(at=-1) for one in findings]
    assert expected in findings
    assert harm(findings[: findings.index(expected)]) == []


HONEST = {**LOOKS, **PROGRAMS, **SPELLED}


@pytest.mark.parametrize("rounds", HONEST.values(), ids=list(HONEST))
def test_honest_work_that_looks_like_a_loop_is_left_alone(rounds: list[Any]):
    """Not so much as a nudge."""
    assert found(rounds) == []


@pytest.mark.parametrize("rounds", HONEST.values(), ids=list(HONEST))
def test_honest_work_is_left_alone_after_a_loop_that_was_got_over(rounds: list[Any]):
    """A loop that was nudged once leaves nothing behind that makes work after it suspicious."""
    before = [X("view_old", {"path": "x"}, "unrelated")] * 3
    assert [one.at for one in found([*before, *rounds])] == [3]


def test_every_pattern_of_the_default_rules_is_shown_here():
    """The table of loops names each at least once."""
    assert {expected.pattern for _, expected in LOOPS.values()} == {
        detector.pattern for detector in preset("default").detectors
    }


def test_a_stall_is_never_stopped():
    """However long it goes on: it is nudged once."""
    rounds: list[Any] = []
    for n in range(60):
        rounds += [
            X("read_file", {"path": "plan.md"}, f"plan {chapter(n)}"),
            X("list_dir", {"path": "src"}, chapter(n + 90)),
            COMPACTED,
        ]
    assert [(one.pattern, one.level) for one in found(rounds)] == [("stalled", "nudge")]


POLL = [X("check_status", {"job": 5}, "pending", "ok", 2.0 * n) for n in range(25)]


def test_polling_has_twice_the_patience():
    """A tight poll is nudged at 6, blocked at 12 and stopped at 20."""
    assert found(POLL) == [Found("stuck_poll", "nudge", 6), Found("stuck_poll", "block", 12), Found("stuck_poll", "stop", 20)]


@pytest.mark.parametrize("gap", [60.0, 61.0, 600.0, 3_600.0])
def test_ten_slow_looks_count_as_one(gap: float):
    """A minute and more between looks is waiting: the sixth is the fifty-first, and nothing is held up for a hundred."""
    rounds = [X("check_status", {"job": 5}, "pending", "ok", gap * n) for n in range(100)]
    assert found(rounds) == [Found("stuck_poll", "nudge", 51)]
    assert found([X("check_status", {"job": 5}, "pending", "ok", 59.0 * n) for n in range(6)])


@pytest.mark.parametrize("n", [2, 3, 5, 8, 13, 21, 32])
def test_a_cycle_of_any_length_up_to_half_the_window_is_nudged_by_the_end_of_its_third_lap(n: int):
    """The steps are of different tools with outcomes of their own."""
    lap = [X(f"get_{THINGS[k % 16]}", {"path": f"{k}.md"}, chapter(k)) for k in range(n)]
    first = found(lap * 3)[0]
    assert first.pattern in ("cycle", "repeated_result", "recovered_ground")
    assert first.at <= 3 * n


def test_a_stray_call_does_not_hide_a_loop():
    """Three reads of one file with something new between each are three reads of one file."""
    rounds = [
        x for n in range(3) for x in (X("read_file", {"path": "a"}, "aaa"), X("get_weather", {"city": CITIES[n]}, chapter(n)))
    ]
    assert found(rounds)[0] == Found("repeated_result", "nudge", 5)


def test_a_change_of_the_world_begins_the_count_anew_and_the_same_change_again_does_not():
    """A write that was made before changes nothing."""
    look, write = X("read_file", {"path": "a"}, "aaa"), X("write_file", {"path": "b", "content": "x"}, "wrote b")
    assert found([look, look, write, look, look]) == []
    assert found([write, look, write, look, write, look])[0].at <= 6


@pytest.mark.parametrize("outcome", ["error", "retry"])
def test_a_write_that_failed_changes_nothing(outcome: str):
    """Only success does."""
    look = X("read_file", {"path": "a"}, "aaa")
    failed = [
        X("write_file", {"path": f"{city}.txt", "content": "x"}, f"Error: {thing} broke", outcome)
        for city, thing in zip(CITIES, THINGS, strict=True)
    ]
    assert found([look, failed[0], look, failed[1], look])[0] == Found("repeated_result", "nudge", 5)


def test_different_agents_may_do_the_same():
    """Each looks once or twice; nobody loops."""
    rounds = [X("read_file", {"path": "a"}, "aaa", agent=f"worker-{n % 8}") for n in range(16)]
    assert found(rounds) == []


def test_text_in_six_scripts_that_goes_round_is_seen_and_prose_is_not():
    """Latin, Cyrillic, Greek, Arabic, Devanagari, Han."""
    lines = {
        "latin": "the cache is stale and must be cleared first, ",
        "cyrillic": "нужно сначала очистить кэш и попробовать снова, ",
        "greek": "πρέπει πρώτα να καθαρίσουμε την προσωρινή μνήμη, ",  # noqa: RUF001
        "arabic": "يجب أولا مسح الذاكرة المؤقتة ثم المحاولة مرة أخرى، ",
        "devanagari": "पहले कैश साफ़ करना होगा और फिर से कोशिश करनी होगी, ",
        "han": "首先必须清除缓存然后再试一次看看结果如何，",  # noqa: RUF001
    }
    for line in lines.values():
        assert [one.pattern for one in found([said(line * 60)])] == ["degenerate_text"]
        assert found([said(line + "".join(lines.values()))]) == []


def test_a_loop_in_one_response_is_cut_before_two_kilobytes_too_much():
    """Where its text is looked at in pieces, as a stream's is."""
    from unstuck.degenerate import TextWatch

    watch = TextWatch()
    head = " ".join(chapter(n) for n in range(16))
    for step in range(0, len(head), 64):
        assert watch.feed(head[step : step + 64]) is None
    more = "We go on with the next item on the list. " * 100
    seen = [watch.feed(more[step : step + 64]) is not None for step in range(0, 2_048, 64)]
    assert seen[-1]


def test_what_the_model_reads_says_what_was_counted():
    """For each pattern: the number and the tools, and no more than five hundred characters."""
    for rounds, expected in LOOPS.values():
        monitor = Monitor()
        texts = [decision.text for decision in map(monitor.observe, events(rounds)) if decision.text]
        assert texts, expected
        assert len(texts[0]) < 500
        assert "{" not in texts[0]


def test_interventions_are_before_calls_or_after_rounds():
    """A block only ever answers a call; a nudge never does."""
    for rounds, _ in LOOPS.values():
        monitor = Monitor()
        for event in events(rounds * 3):
            decision = monitor.observe(event)
            if decision.level == Level.BLOCK:
                assert isinstance(event, Call | Message)
            elif decision.level == Level.NUDGE:
                assert not isinstance(event, Call | User)
