"""What may be right although it looks like a loop: the model is told once, and nothing is held up."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.patterns import CITIES, THINGS, Found, X, chapter, found, harm, said
from unstuck.events import User

PAIRS = list(zip(CITIES, THINGS, strict=True))
BEAT = User("r", "Anything to do?", origin="harness")


def shell(command: str, content: Any = "", outcome: str = "ok", time: float | None = None) -> X:
    return X("bash", {"command": command}, content, outcome, time)


POLLS: dict[str, list[Any]] = {
    "a pipeline, every two minutes": [X("get_pipeline", {"id": 7}, "running", "ok", 120.0 * n) for n in range(60)],
    "the checks of a pull request": [shell("gh pr checks 12", "build  pending", "ok", 600.0 * n) for n in range(60)],
    "pods": [shell("kubectl get pods", "api-1  0/1  Pending", "ok", 60.0 * n) for n in range(60)],
    "a mailbox": [X("check_inbox", {}, "no new mail for you today", "ok", 3_600.0 * n) for n in range(60)],
    "a queue, after a sleep": [x for _ in range(60) for x in (shell("sleep 300"), shell("squeue -u me", "17 PENDING"))],
    "a queue, after a wait of a tool": [
        x for _ in range(60) for x in (X("wait", {"seconds": 120}, "waited"), X("get_queue", {}, "17 pending"))
    ],
}
ATTEMPTS: dict[str, list[Any]] = {
    "a push that fails, tried again after two minutes": [
        x for _ in range(60) for x in (shell("sleep 120"), shell("git push", "fatal: the remote end hung up", "error"))
    ],
    "a pull, every five minutes": [shell("git pull", "Already up to date.", "ok", 300.0 * n) for n in range(60)],
    "an edit and its test in one line": [
        shell(f"sed -i 's/{city}/{thing}/' app.py && pytest -q", "FAILED test_app.py::test_sum - assert 3 == 4", "error")
        for city, thing in PAIRS
    ],
    "a patch and its test in one line": [
        shell(f"apply_patch <<'EOF'\n-{city}\n+{thing}\nEOF\nnpm test", "1 failing: sums numbers", "error")
        for city, thing in PAIRS
    ],
    "code that writes and then runs": [
        shell(f"python -c \"open('a.txt', 'w').write('{city}')\" && ./check", "Error: not yet", "error") for city in CITIES
    ],
    "hosts that refuse": [X("fetch", {"url": f"https://{city}.example/"}, "403 Forbidden", "error") for city in CITIES],
    "hosts that refuse a shell": [
        shell(f"curl -sf https://{city}.example/api/v1/status", "curl: (22) The requested URL returned error: 403", "error")
        for city in CITIES
    ],
    "records that are not there": [
        X("get_order", {"order_id": f"ord-{n}"}, f"Error: order ord-{n} not found", "error") for n in range(16)
    ],
    "records that are not there, said in an answer": [
        X("get_order", {"order_id": n}, {"error": "order not found"}) for n in range(100, 116)
    ],
    "packages that are not there": [
        shell(f"pip install {thing}", "ERROR: No matching distribution found", "error") for thing in THINGS
    ],
    "tests that fail, one after another": [shell(f"pytest -k {thing}", "1 failed", "error") for thing in THINGS],
    "modules that do not compile": [
        shell(f"python -m py_compile src/app/{thing}.py", "SyntaxError: invalid syntax", "error") for thing in THINGS
    ],
    "one failure, something new tried before each look": [
        x
        for city, thing in PAIRS
        for x in (
            X("calibrate", {"part": city}, f"{thing} set"),
            X("ignite", {"mode": f"{thing} first"}, "Error: no spark", "error"),
        )
    ],
    "a bisection": [
        x
        for n in range(14)
        for x in (
            shell("git bisect bad", f"Bisecting: {1_000 >> n} revisions left to test after this\n[{n}a1b2c3] {THINGS[n]}"),
            shell("./check.sh", "FAIL: sums numbers", "error"),
        )
    ],
    "one question in other words, with the same hits": [
        X("search_docs", {"query": query}, "docs/retry.md\ndocs/queue.md")
        for query in (
            "how does the retry queue drain",
            "retry queue draining at shutdown",
            "shutdown of the queue with retries",
            "what happens to queued retries",
            "drain retries before the queue stops",
            "stopping a queue that still retries",
            "pending retries at the end of the queue",
            "retry queue on exit",
            "does the queue retry on exit",
            "queue exit and retry order",
            "order of retry when the queue exits",
            "exit order of the retry queue",
        )
    ],
}
BEATS: dict[str, list[Any]] = {
    "a short answer to each prompt": [step for _ in range(20) for step in (BEAT, said("HEARTBEAT_OK"))],
    "a long answer to a prompt each half hour": [
        step for n in range(20) for step in (BEAT, said(f"All is well. {chapter(1)} {chapter(2)}")._replace(time=1_800.0 * n))
    ],
}
NUDGED = {**POLLS, **ATTEMPTS, **BEATS}


@pytest.mark.parametrize("rounds", NUDGED.values(), ids=list(NUDGED))
def test_it_is_nudged_and_never_held_up(rounds: list[Any]):
    """However long it goes on: nothing is blocked or stopped, and the model is told."""
    findings = found(rounds)
    assert harm(findings) == []
    assert findings or rounds == ATTEMPTS["a bisection"]


@pytest.mark.parametrize("name", POLLS)
def test_a_slow_poll_is_left_alone_for_twenty_looks(name: str):
    """Ten looks after a minute and more count as one."""
    assert found(POLLS[name][:20]) == []


def test_a_slow_poll_whose_answers_differ_is_left_alone():
    """Even where they are made of the same words."""
    assert found([X("get_queue", {}, f"{n % 3} ahead of you, pending", "ok", 90.0 * n) for n in range(60)]) == []


def test_a_sleep_in_the_same_line_is_waiting_too():
    """The line says itself that five minutes pass."""
    assert found([shell("sleep 300; squeue", "17 PENDING")] * 50) == []
    assert found([shell("sleep 5; squeue", "17 PENDING")] * 12) == [
        Found("stuck_poll", "nudge", 6),
        Found("stuck_poll", "block", 12),
    ]


def test_a_short_sleep_between_looks_halves_what_they_count():
    """As with looks by a tool that waits itself."""
    rounds = [x for _ in range(15) for x in (shell("sleep 20"), X("get_queue", {}, "17 pending"))]
    assert next(one for one in found(rounds) if one.pattern == "repeated_result") == Found("repeated_result", "nudge", 10)


def test_a_file_read_again_after_a_while_is_nudged_like_any_other():
    """The time may be the model's own; it is not stopped, since somebody else may write to it."""
    rounds = [X("read_file", {"path": "a.log"}, "step 1", "ok", 90.0 * n) for n in range(20)]
    assert found(rounds) == [Found("repeated_result", "nudge", 3)]


def test_to_have_been_refused_is_no_waiting():
    """Whoever asks for a blocked call again and again for more than a minute is stopped like anybody."""
    ran = [X("get_order", {"id": 7}, "open", "ok", 15.0 * n) for n in range(4)]
    refused = [X("get_order", {"id": 7}, "not executed", "blocked", 60.0 + 40.0 * n) for n in range(4)]
    assert found([*ran, *refused])[1:] == [Found("repeated_result", "block", 5), Found("repeated_result", "stop", 8)]


def test_work_in_between_is_no_waiting():
    """A read that comes again after a minute in which the agent did something else counts in full."""
    rounds = [
        x
        for n in range(8)
        for x in (
            X("get_order", {"id": 7}, "open", "ok", 90.0 * n),
            X("search", {"query": CITIES[n]}, chapter(n), "ok", 90.0 * n + 40),
            X("search", {"query": THINGS[n]}, chapter(n + 9), "ok", 90.0 * n + 80),
        )
    ]
    assert [one.level for one in found(rounds) if one.pattern == "repeated_result"] == ["nudge", "block", "stop"]


HELD_UP: dict[str, tuple[list[Any], Found]] = {
    "the same edit with its test, in other spellings": (
        [
            shell(f"sed -i 's/a/b/' app.py && pytest {flags}", "FAILED test_app.py::test_sum", "error")
            for flags in ("-q", "-x", "-v", "--lf", "-vv", "-s", "-x -q", "-q -s", "-v -s")
        ],
        Found("repeated_failure", "block", 9),
    ),
    "one host, in other spellings": (
        [
            X("fetch", {"url": "https://x.example/a", "mode": f"{city} {thing}"}, "Error: 403 Forbidden", "error")
            for city, thing in PAIRS[:9]
        ],
        Found("repeated_failure", "block", 9),
    ),
    "one host from a shell, in other spellings": (
        [
            shell(f"curl {flags} https://x.example/a", "curl: (22) The requested URL returned error: 403", "error")
            for flags in ("-s", "-f", "-sf", "-k", "-L", "-v", "-kL", "-sL", "--http1.1")
        ],
        Found("repeated_failure", "block", 9),
    ),
    "hosts that refuse, gone through a second time": (
        [X("fetch", {"url": f"https://{city}.example/"}, "403 Forbidden", "error") for city in [*CITIES[:8], *CITIES[:10]]],
        Found("repeated_failure", "block", 16),
    ),
}


@pytest.mark.parametrize(("rounds", "expected"), HELD_UP.values(), ids=list(HELD_UP))
def test_the_same_target_is_held_up(rounds: list[Any], expected: Found):
    """The counterpart: what fails is what failed before, however it is spelt."""
    assert expected in found(rounds)


def test_the_same_text_without_being_asked_is_stopped():
    """A program that prompts for it makes the difference, and only where the text is short or time has passed."""
    alone = found([said("I am done.")] * 8)
    assert [one.level for one in alone if one.pattern == "repeated_text"] == ["nudge", "stop"]
    prompted = [step for _ in range(8) for step in (BEAT, said("I will now go on with it. " + chapter(1) + chapter(2)))]
    assert "stop" in [one.level for one in found(prompted)]


def test_a_look_how_far_something_is_is_no_pause():
    """Only what lets time pass makes the looks after it rarer: other looks between two equal ones do not."""
    tools = ("read_file", "list_files", "search", "lint", "job_status")
    laps = [X(tool, {"a": 1}, f"{tool} has this to say") for _ in range(3) for tool in tools]
    assert Found("repeated_result", "nudge", 11) in found(laps)
    paused = [X("sleep", {}, "") if one.tool == "job_status" else one for one in laps]
    assert Found("repeated_result", "nudge", 11) not in found(paused)


def test_waiting_longer_each_time_for_a_service_is_left_alone():
    """An overload passes by itself: to send a change again after it is no insisting on what was refused."""
    post = {"method": "POST", "url": "https://x.example/sync"}
    times = (0.0, 4.0, 13.0, 34.0, 80.0)
    tries = [X("http_request", post, "HTTP 503 Service Unavailable", "error", time) for time in times]
    limited = [X("search_contacts", {"q": "a"}, '{"errorType": "RATE_LIMIT"}', "error", time) for time in times]
    assert found(tries) == [] == found(limited)


def test_guessing_at_tools_is_a_loop():
    """There are none of those names, whichever comes next."""
    guesses = ("search", "google", "bing", "find_on_web", "lookup")
    rounds = [X(tool, {"q": "release"}, f"Error: No such tool available: {tool}", "error") for tool in guesses]
    assert Found("failure_cascade", "nudge", 5) in found(rounds)


HITS = "\n".join(
    f"{n}. {city} guide\n   https://{city}.example/{thing}\n   About {thing} in {city}."
    for n, (city, thing) in enumerate(PAIRS[:7])
)
WAYS = (
    "rotate the signing key",
    "rotating a signing key",
    "key rotation for signing",
    "how to change the signing key",
    "new signing key",
)


def test_a_question_that_is_printed_above_its_hits_does_not_make_them_new():
    """The same hits for one question in other words; other hits below the question are left alone."""
    same = [X("WebSearch", {"query": way}, f'Web search results for query: "{way}"\n\n{HITS}') for way in WAYS]
    assert Found("near_repeat", "nudge", 5) in found(same)
    other = [
        X("WebSearch", {"query": way}, f'Web search results for query: "{way}"\n\n{n}{HITS[n * 9 :]}')
        for n, way in enumerate(WAYS)
    ]
    assert found(other) == []
