"""Runs of our own making for each pattern, and what their explanations are asked for."""

from __future__ import annotations

from unstuck.events import Compaction, Message, User
from unstuck.explain import Exchange, Reset, explain
from unstuck.testing import call, message, result

PERSON = User("r", "Go.")


def exchange(number, tool="read_file", args=None, content="text", outcome="ok", time=None, **fields):
    args = {"path": "a.py"} if args is None else args
    return [
        message(number, agent=fields.get("agent", "main")),
        call(tool, args, id=f"c{number}", message=number, time=time, **fields),
        result(content, id=f"c{number}", outcome=outcome, time=time),
    ]


def many(numbers, *made, **fields):
    """One exchange for each number; what is a function makes its value from the number."""
    events = []
    for number in numbers:
        one = [part(number) if callable(part) else part for part in made]
        events += exchange(number, *one, **{name: part(number) if callable(part) else part for name, part in fields.items()})
    return events


def write(number):
    return exchange(number, "write_file", {"path": "b.py", "content": f"v{number}"}, "OK")


def failing(number, text="permission denied", **fields):
    return exchange(number, "fetch", {"id": "x" * number}, text, "error", **fields)


def says(number, text):
    return Message("r", number, 0, text=text)


def strand_of(events, pattern, rules=None, loop=None):
    found = [one for one in explain([PERSON, *events], rules) if one.pattern == pattern and loop in (None, one.loop)]
    assert found, f"no {pattern}"
    return found[0]


def counted(strand):
    """(call or response, count) of each exchange that counted."""
    return [
        (entry.call or entry.message, entry.repeats)
        for entry in strand.entries
        if isinstance(entry, Exchange) and entry.repeats is not None
    ]


def passed_over(strand):
    """(call, reason) of each exchange that could have counted and did not."""
    return [(entry.call, entry.why) for entry in strand.entries if isinstance(entry, Exchange) and entry.repeats is None]


def resets(strand):
    return [(entry.reason, entry.calls) for entry in strand.entries if isinstance(entry, Reset)]


def rungs(strand):
    return [(rung.level.label, rung.call, rung.repeats) for rung in strand.rungs]


def after(strand):
    return strand.next.level and strand.next.level.label, strand.next.repeats, strand.next.more


def numbered(first, last, count=1):
    return [(number, count + number - first) for number in range(first, last + 1)]


SENTENCES = [
    "I will now look at the API.",
    "Let me take a look at the API.",
    "I will look at the API now.",
    "I look at the API.",
]
SPELLINGS = [{"text": "everything about the slow report of monday", "limit": 100 + number} for number in range(20)]
AGENTS = ("main", "a", "b", "c", "d")


def compacted(laps):
    events = []
    for lap in range(laps):
        events += exchange(2 * lap + 1) + exchange(2 * lap + 2, "list_files", {"path": "."}, f"{lap}") + [Compaction("r")]
    return events


def flip(number):
    return {"path": "a.py", "old": str(number % 2), "new": str((number + 1) % 2)}


PATTERNS = {
    "repeated_result": (many(range(1, 5)), numbered(1, 4), [("nudge", 3, 3)], ("block", 5, 1)),
    "stuck_poll": (
        many(range(1, 8), "wait_for_build", {"id": 7}, "building"),
        numbered(1, 7),
        [("nudge", 6, 6)],
        ("block", 12, 5),
    ),
    "repeated_call": (
        many(range(1, 9), "now", {"zone": "utc"}, lambda number: f"{number:02}"),
        numbered(2, 8),
        [("nudge", 7, 6)],
        ("block", 10, 3),
    ),
    "near_repeat": (
        many(range(1, 7), "query_logs", lambda number: SPELLINGS[number], "the log holds one line about it"),
        numbered(1, 6),
        [("nudge", 5, 5)],
        ("block", 8, 2),
    ),
    "repeated_failure": (
        [event for number in range(1, 7) for event in failing(number)],
        numbered(1, 6),
        [("nudge", 5, 5)],
        ("block", 9, 3),
    ),
    "recurring_failure": (
        many(range(1, 6), "edit", lambda number: {"path": "a.py", "old": "x" * number}, "no match", "error"),
        numbered(1, 5),
        [("nudge", 4, 4)],
        (None, None, None),
    ),
    "failure_cascade": (
        many(range(1, 7), lambda number: ("fetch", "search", "probe")[number % 3], {"id": 1}, "connection refused", "error"),
        numbered(1, 6),
        [("nudge", 5, 5)],
        ("stop", 14, 8),
    ),
    "unknown_tool": (
        many(range(1, 5), "websearch", lambda number: {"q": "x" * number}, "Unknown tool: websearch", "error"),
        numbered(1, 4),
        [("nudge", 3, 3)],
        ("block", 5, 1),
    ),
    "empty_answers": (
        many(range(1, 10), "search", lambda number: {"q": f"{chr(96 + number) * 4} or {chr(97 + number) * 3}"}, "no results"),
        numbered(1, 9),
        [("nudge", 8, 8)],
        (None, None, None),
    ),
    "echoed_change": (
        many(
            range(1, 11),
            "run_code",
            lambda number: {"code": f"sleep(9); print('waiting for it {number}')"},
            lambda number: f"waiting for it {number}",
        ),
        numbered(2, 10),
        [("nudge", 9, 8)],
        ("block", 12, 3),
    ),
    "oscillation": (
        many(range(1, 6), "edit", flip, lambda number: f"OK {number * 7}"),
        numbered(2, 5),
        [("nudge", 4, 3)],
        ("stop", 6, 2),
    ),
    "recovered_ground": (
        many(range(1, 13), "read_file", lambda number: {"path": f"{number % 6}.py"}, lambda number: f"text {number % 6}"),
        numbered(7, 12),
        [("nudge", 11, 5)],
        ("stop", 16, 10),
    ),
    "cycle": (
        many(range(1, 8), "read_file", lambda number: {"path": f"{number % 2}"}, lambda number: f"text {number % 2}"),
        [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (7, 4)],
        [("block", 7, 4)],  # the nudge came by repeated_result, which sees the same loop
        ("stop", 6, 3),
    ),
    "delegation_loop": (
        many(
            range(1, 5), "spawn_agent", {"task": "move the users table over"}, "accepted", agent=lambda number: AGENTS[number]
        ),
        numbered(1, 4),
        [("nudge", 3, 3)],
        ("block", 5, 1),
    ),
    "handoff_loop": (
        many(
            range(1, 7),
            "transfer_to_agent",
            lambda number: {"to": AGENTS[number % 2 + 1]},
            "ok",
            agent=lambda number: AGENTS[(number + 1) % 2 + 1],
        ),
        [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3)],
        [("nudge", 6, 3)],
        ("block", 4, 1),
    ),
    "repeated_text": ([says(number, "Done.") for number in range(1, 5)], numbered(1, 4), [("nudge", None, 3)], ("stop", 6, 2)),
    "monologue": (
        [says(number, text) for number, text in enumerate(SENTENCES, 1)],
        numbered(1, 4),
        [("nudge", None, 4)],
        ("stop", 6, 2),
    ),
    "empty_response": ([says(number, "") for number in range(1, 5)], numbered(1, 4), [("nudge", None, 3)], ("stop", 6, 2)),
    "degenerate_text": (
        [says(1, "First I need the schema. Then I check the index. But wait. " * 40)],
        [(1, 8)],
        [("block", None, 8)],
        (None, None, None),
    ),
    "stalled": (compacted(4), [(2, 1), (4, 2), (6, 3), (8, 4)], [("nudge", 6, 3)], (None, None, None)),
}
