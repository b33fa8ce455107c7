"""
Text made to be slow.

Nothing is timed: each text is long enough that work which grows with its square would not end while anybody waits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from unstuck import failures, gist, outcomes, ranges, volatile
from unstuck.aims import aims_of
from unstuck.commands import asks, changed_part, kind_of_command, kind_of_sql, seconds_of
from unstuck.degenerate import degenerate
from unstuck.events import Call, Message, Result
from unstuck.monitor import Monitor
from unstuck.sketch import words_of
from unstuck.unrecorded import holds_picture, is_unrecorded

LENGTH = 40_000
SEEDS = (
    *("1", "a1", "1 ", "a-", "-", "0-", "0a-", "1:", "12:30:", "1.", "1,", "a=1", "id:", "a b=1 ", "0x", "tmp", "1h ", "1m "),
    *(
        "read 1 ",
        "Mon, ",
        "Jan 1 ",
        "`",
        "`a",
        "\n",
        "\n ",
        " \n",
        "-\n",
        "error",
        "error ",
        "Error: ",
        "error\n",
        "a_",
        "_",
        "(",
    ),
    *(
        "((\"'",
        "\\",
        "/",
        "/a",
        "=",
        "@",
        "abc",
        "aA",
        "é",
        "\ud800",
        "&& ",
        "| ",
        "; ",
        ">",
        "> ",
        ">>",
        "=1 ",
        "a=1 ",
        "sudo ",
    ),
    *("env ", " ", "\t", "~", "#", "# ", "a#", "1/", "1/1/", "2026-01-", "1712345678", "ffffffff-", "deadbeef", "A", "AAAA"),
    *("?_=", "&ts", "?ts=1&", "(request 1", "total calls: "),
    *("<<E\n", "<<'EOF' x\n", "sleep 1", "'", "a/b ", "exit code ", "x: ", "error ", "a.b:1 "),
    *("open(", "open(a, ", "/*", ";", "; update a ", "grant a ", "copy a (", "with open('a', "),
    *(
        " 1m",
        " 1m\n",
        "1/1 1m\n",
        "[1]:",
        "[1",
        "[123] ",
        "pid 1",
        "req-a1",
        "eyJa1",
        "--",
        "--_Part_1",
        "1 tokens ",
        "1d",
        "1d 1",
    ),
    *(
        "echo a;",
        "echo ",
        "sleep 1;",
        "> /tmp/a;",
        "> /tmp/a; cat ",
        "| tail",
        " 2>&1",
        " #a",
        "sed -n 1,2p ",
        "head -1 a|",
        "[image",
        "image ",
    ),
    *("tmp.", "(x1 over ", "(ID 1", "0.1:4", "1.1.1.1:40000", "Mar  3 a[1]:", "01", "01A", "Tokens used: 1,"),
    *("Traceback (most", "test failed", "-+", "1 of ", "attempt ", "Attempt 1 ", "{", "}", "{\n", "pid", "pid: ", "12:30:01"),
)


def text(seed: str) -> str:
    return (seed * (LENGTH // len(seed) + 1))[:LENGTH]


READERS: dict[str, Callable[[str], Any]] = {
    "fields": lambda given: volatile._VALUE.sub(lambda found: volatile._volatile_field(frozenset(), found), given),
    "tokens": lambda given: volatile._tokens().sub("~", given),
    "numbers": volatile.template,
    "addresses": volatile.plain_address,
    "reports": failures._REPORT.findall,
    "quotes": lambda given: failures._QUOTED.sub(" ", given),
    "gists": lambda given: [gist.plain_command(given[start : start + 4_096]) for start in range(0, LENGTH, 4_096)],
    "ranges": lambda given: [ranges.range_of(given[start : start + 1_000]) for start in range(0, LENGTH, 1_000)],
    "placeholders": lambda given: (is_unrecorded(given[:400]), is_unrecorded(given), holds_picture(given)),
    "words": lambda given: words_of(given, LENGTH),
    "commands": lambda given: [kind_of_command(given[start : start + 16_000]) for start in range(0, LENGTH, 16_000)],
    "statements": kind_of_sql,
    "asking": asks,
    "edits": changed_part,
    "sleeps": seconds_of,
    "names": aims_of,
    "outcomes": lambda given: [
        pattern.search(given[:400]) for pattern in vars(outcomes).values() if isinstance(pattern, re.Pattern)
    ],
    "circles": degenerate,
}


@pytest.mark.parametrize("read", READERS.values(), ids=list(READERS))
def test_reading_ends(read: Callable[[str], Any]):
    """Every way in which a text is read comes to an end on every such text, and on one that changes in the middle."""
    for seed in SEEDS:
        read(text(seed))
        read(text(seed)[: LENGTH // 2] + "!" + text(seed)[: LENGTH // 2])


@pytest.mark.parametrize("tool", ["bash", "write_file"])
def test_watching_ends(tool: str):
    """So does a run in which every place holds such a text, as success and as failure."""
    for seed in SEEDS:
        monitor = Monitor()
        for number in range(3):
            monitor.observe(Message("r", number, 1, text=text(seed), reasoning=text(seed)))
            monitor.observe(
                Call("r", "c", tool, {"path": "a", "command": text(seed), "content": text(seed) + str(number)}, number)
            )
            monitor.observe(Result("r", "c", text(seed) + str(number), "error" if number == 1 else "ok"))
