"""The explanation as a person reads it."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from tests.explain.made import (
    PATTERNS,
    PERSON,
    many,
)
from unstuck.explain import Explanation, explain
from unstuck.reporters import explain as terminal

READS = many(range(1, 4))


def shown(events, width=80, *, content=True, color=False, pattern=None):
    output = io.StringIO()
    console = Console(file=output, width=width, force_terminal=color, color_system="standard" if color else None)
    strands = tuple(one for one in explain([PERSON, *events]) if pattern in (None, one.pattern))
    terminal.report(console, Explanation("r1", "a.jsonl", "events", 9, 9, "default", strands), content=content)
    return output.getvalue()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_terminal_of_80_columns_shows_it_whole(pattern):
    """No line is wider than the terminal, every decision and the rung ahead are there."""
    events, _, reached, _ = PATTERNS[pattern]
    text = shown(events)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert all(f"{level}:" in text for level, _, _ in reached)
    assert "Ladder" in text
    assert "Next" in text


def test_the_terminal_marks_what_was_masked():
    """Masked tokens stand between tildes, later exchanges refer to the first, and the sign is explained."""
    text = shown(many((1, 2, 3), "run_tests", {}, lambda number: f"3 failed at 12:30:0{number}"))
    assert "3 failed at ~12:30:01~" in text
    assert "as #1, with ~12:30:02~" in text
    assert "was not compared" in re.sub(r"\s+", " ", text)


def test_long_stretches_are_shortened():
    """Many equal exchanges take one line."""
    text = shown(many(range(1, 31)))
    assert "22 more, as #1" in text
    assert len(text.splitlines()) <= 20


def test_differences_at_the_end_of_long_arguments_are_shown():
    """Of arguments that begin alike the part that differs is shown."""
    text = shown(
        many(range(1, 6), "query", lambda n: {"text": "one word and another " * 20 + f"end{n}"}, "the same answer again " * 20)
    )
    assert "end2" in text


def test_long_arguments_that_differ_are_not_taken_for_equal():
    """Arguments whose difference lies where they are cut are shown as two, not as one."""
    events = many(
        range(1, 6), "fetch", lambda number: {"id": "x" * 5_000 + f"-{number}-" + "y" * 5_000}, "no such page", "error"
    )
    text = shown(events, pattern="repeated_failure")
    assert "as #1" not in text


def test_what_came_back_empty_says_so():
    """An empty result is named, not left blank."""
    assert "ok: (empty)" in shown(many((1, 2, 3), content=""))


def test_without_content_nothing_of_the_run_is_shown():
    """No argument, no result, no text, no masked token; names, ordinals, outcomes and reasons stay."""
    text = shown(many((1, 2, 3), "run_tests", {"path": "secret"}, lambda number: f"secret at 12:30:0{number}"), content=False)
    assert "secret" not in text
    assert "12:30" not in text
    assert "run_tests" in text
    assert "ok" in text


def test_control_characters_do_no_harm():
    """What a run holds cannot move the cursor or change colours."""
    text = shown(many((1, 2, 3), "run\x1b[31m", {"path": "\x1b[2J"}, "a\x1b]0;x\x07b\u202e"))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_colours_only_for_a_terminal():
    """A pipe gets no colours, a terminal does."""
    assert "\x1b[" not in shown(READS)
    assert "\x1b[" in shown(READS, color=True)
