"""Which lines a call reads, and when they were read before."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.patterns import COMPACTED, Found, X, edit, found
from unstuck.fingerprint import text_digest
from unstuck.monitor import Monitor
from unstuck.ranges import MOST_STRETCHES, MOST_TARGETS, Ground, range_of

ONE = (text_digest("a.py"), 40, 91)


@pytest.mark.parametrize(
    "args",
    [
        {"path": "a.py", "offset": 40, "limit": 51},
        {"file_path": "a.py", "start_line": 40, "end_line": 90},
        {"file_path": "a.py", "start_line": "40", "end_line": "90"},
        {"command": "view", "path": "a.py", "view_range": [40, 90]},
        {"command": "sed -n '40,90p' a.py"},
        {"command": 'sed -n "40,90p" a.py'},
        {"command": "cd /app && sed -n 40,90p a.py"},
        {"command": "cat -n a.py | sed -n '40,90p'"},
        {"command": "nl -ba 'a.py' | sed -n '40,90p'"},
        {"command": "head -n 90 a.py | tail -n 51"},
        {"command": "head -90 a.py | tail -51"},
        {"command": "tail -n +40 a.py | head -n 51"},
        "sed -n '40,90p' a.py",
    ],
    ids=repr,
)
def test_one_range_in_many_forms(args: Any):
    """Offset and limit, first and last line, a pair, a stream editor, the head and the tail of a file."""
    assert range_of(args) == ONE


@pytest.mark.parametrize(
    "args",
    [
        None,
        {},
        {"path": "a.py"},
        {"path": "a.py", "offset": 40},
        {"offset": 40, "limit": 51},
        {"path": "a.py", "view_range": [40, -1]},
        {"path": "a.py", "view_range": [40]},
        {"path": "a.py", "start_line": 90, "end_line": 40},
        {"path": "a.py", "offset": -40, "limit": 5},
        {"path": "a.py", "offset": True, "limit": 5},
        {"path": "a.py", "offset": 40, "limit": 0},
        {"path": "a.py", "offset": 10**40, "limit": 5},
        {"command": "sed -n '40,90p' a.py | grep x"},
        {"command": "sed -n '40,90p' a.py; rm a.py"},
        {"command": "sed -i '40,90d' a.py"},
        {"command": "tail -n 40 a.py"},
        {"command": "head -n 0 a.py"},
        {"query": "x", "offset": 40, "limit": 51},
    ],
    ids=repr,
)
def test_what_names_no_range_of_lines(args: Any):
    """No target, no end, an end before the beginning, what is filtered or changed afterwards."""
    assert range_of(args) is None


def lines(first: int, last: int) -> str:
    return "\n".join(f"{n:6}\tvalue_{n * 7919 % 1013} = compute({n * 31 % 97})" for n in range(first, last))


def read(first: int, last: int, path: str = "a.py") -> X:
    return X("read_file", {"path": path, "offset": first, "limit": last - first}, lines(first, last))


def sed(first: int, last: int) -> X:
    return X("bash", {"command": f"sed -n '{first},{last - 1}p' a.py"}, lines(first, last))


REGION = [
    (40, 90),
    (45, 85),
    (42, 88),
    (50, 80),
    (41, 89),
    (44, 90),
    (40, 86),
    (48, 82),
    (43, 87),
    (46, 90),
    (40, 84),
    (47, 88),
]


@pytest.mark.parametrize("look", [read, sed])
def test_one_region_read_by_ever_other_ranges_is_nudged_and_never_held_up(look: Any):
    """By the fifth range that lies inside what was read; the laps of it, for as long as it goes on."""
    rounds = [look(*region) for region in REGION]
    assert found(rounds) == [Found("recovered_ground", "nudge", 6)]
    inside = [look(1 + n, 100 - n) for n in range(40)]
    assert found([look(1, 120), *inside]) == [Found("recovered_ground", "nudge", 6)]


@pytest.mark.parametrize("look", [read, sed])
def test_reading_ahead_is_new_ground(look: Any):
    """With an overlap of half a page, in pages of any order, from the end to the beginning."""
    assert found([look(50 * n, 50 * n + 100) for n in range(16)]) == []
    assert found([look(100 * n, 100 * n + 100) for n in (5, 2, 8, 1, 9, 3, 7, 4, 6)]) == []
    assert found([look(100 * n, 100 * n + 100) for n in range(15, 0, -1)]) == []


def test_reading_on_where_an_answer_was_cut_is_new_ground():
    """Two thousand lines asked for, a hundred shown."""
    cut = X("read_file", {"path": "a.py", "offset": 1, "limit": 2_000}, lines(1, 101))
    assert found([cut, *(read(100 * n, 100 * n + 100) for n in range(1, 9))]) == []


def test_what_was_changed_or_compacted_away_may_be_read_again():
    """An edit before each look, or a compaction."""
    assert found([x for n, region in enumerate(REGION) for x in (edit(n), read(*region))]) == []
    assert (
        found([read(1, 120), *(read(*region) for region in REGION[:4]), COMPACTED, *(read(*region) for region in REGION[:5])])
        == []
    )


def test_looks_at_something_new_between_them_begin_the_count_anew():
    """The same region again while something else is read is comparing."""
    rounds = [x for n, region in enumerate(REGION) for x in (read(*region), read(100 * n, 100 * n + 90, "b.py"))]
    assert found(rounds) == []


def test_the_lines_read_are_saved_and_taken_up():
    """And bounded, in targets and in stretches of one."""
    ground, since = Ground(), (1, 0, 0)
    for n in range(100):
        ground.add((7, 100 * n, 100 * n + 10), 10, since)
        ground.add((100 + n, 0, 10), 10, since)
    assert len(ground.read) == MOST_TARGETS
    ground.add((7, 0, 10), 10, since)
    assert all(len(stretches) <= MOST_STRETCHES for stretches in ground.read.values())
    assert Ground.load(ground.dump()).dump() == ground.dump()
    assert ground.holds((7, 2, 8), since)
    assert not ground.holds((7, 2, 8), (2, 0, 0))
    monitor = Monitor()
    assert Monitor.load(monitor.dump()).dump() == monitor.dump()
