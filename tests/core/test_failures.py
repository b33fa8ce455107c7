"""What errors and empty answers say."""

from __future__ import annotations

from typing import Any

import pytest

from unstuck import failures
from unstuck.failures import failure_class, is_empty_answer, is_transient, names_unknown_tool, reports_failure, telling_line
from unstuck.records import Said


def said(args: Any) -> Said:
    made = Said()
    made.value = args
    return made


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("one line", "one line"),
        ("Error: disk is full", "Error: disk is full"),
        ("building...\nstep 2\nerror: no such column\nsee the log", "error: no such column"),
        ("Traceback (most recent call last):\n  File x\nValueError: bad value", "ValueError: bad value"),
        ("first error\nlast error\nbye", "last error"),
        ("\n\n  nothing telling \n second", "nothing telling"),
        ("x" * 1_000, "x" * 300),
        ("error at the top\n" + "filler\n" * 5_000 + "permission denied at the end", "permission denied at the end"),
        ("Запуск\nОшибка: нет доступа", "Ошибка: нет доступа"),  # noqa: RUF001
    ],
    ids=lambda text: text[:30],
)
def test_the_telling_line(text: str, line: str):
    """The last line with a word of failure, else the first with anything in it; three hundred characters of it."""
    assert telling_line(text) == line


SAME = [
    (("Error: no such file: /a/b.py", {"path": "/a/b.py"}), ("Error: no such file: /c/d.py", {"path": "/c/d.py"})),
    (
        ("Error: cannot reach https://a.example/x", {"url": "https://a.example/x"}),
        ("Error: cannot reach https://b.example/y", {"url": "https://b.example/y"}),
    ),
    (("Error at 12:30:01: timed out after 30s", {}), ("Error at 12:31:07: timed out after 45s", {})),
    (("Error 1: line 17 is bad", {}), ("Error 1: line 244 is bad", {})),
    (("error (req 5feceb): overloaded", {}), ("error (req 6b86b2): overloaded", {})),
    (("KeyError: 'user_id'", {"key": "user_id"}), ("KeyError: 'order_id'", {"key": "order_id"})),
    (("start\nError: denied", {}), ("begin\nanother line\nError: denied", {})),
    (
        ('Error: cannot list resource "secrets" in "prod"', {"command": "kubectl get secrets -n prod"}),
        ('Error: cannot list resource "secrets" in "prod"', {"command": "kubectl -n prod get secret"}),
    ),
    (
        ("Error: ENOENT, open '/w/docs/spec.md'", {"path": "docs/spec.md"}),
        ("Error: ENOENT, open '/w/notes/plan.txt'", {"path": "./plan.txt"}),
    ),
]
DIFFERENT = [
    (("Error: no such file: /a/b.py", {"path": "/a/b.py"}), ("Error: permission denied: /a/b.py", {"path": "/a/b.py"})),
    (("HTTP 404: error", {}), ("HTTP 500: error", {})),
    (("Error: column name is unknown", {"query": "name"}), ("Error: column city is unknown", {"query": "city"})),
    (("KeyError: 'user_id'", {}), ("KeyError: 'order_id'", {})),
    (("Error: a", {}), ("Error: b", {})),
    (
        ("Error: cannot open /etc/app/main.conf", {"path": "main.py"}),
        ("Error: cannot open /etc/app/extra.conf", {"path": "main.py"}),
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_failures_of_one_class(one: tuple[str, Any], other: tuple[str, Any]):
    """Clocks, numbers, ids and names out of the call itself make no other class."""
    assert failure_class(one[0], said(one[1])) == failure_class(other[0], said(other[1]))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_failures_of_two_classes(one: tuple[str, Any], other: tuple[str, Any]):
    """Other words, another status, a plain word of the call, a name that is not out of the call: another class."""
    assert failure_class(one[0], said(one[1])) != failure_class(other[0], said(other[1]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            (text, True)
            for text in (
                "429 Too Many Requests",
                "rate limit exceeded",
                "Error: timed out",
                "503",
                "model is overloaded",
                "ECONNRESET",
                "503 from https://pay.example/billing/invoices",
                "429: quota exceeded for reads per minute per user",
                "429 You exceeded your current quota, please check your plan.\nPlease retry in 35.2s.",
            )
        ),
        *(
            (text, False)
            for text in (
                "404 not found",
                "permission denied",
                "",
                "no such file",
                "Error: bad input\nsee also: rate limits",
                "Error 429: You exceeded your current quota, please check your plan and billing details (insufficient_quota)",
                "429 quota exceeded for project 7",
                "Too many requests: your credit balance is too low",
                "429 {'error': {'code': 'invalid_api_key'}}",
            )
        ),
    ],
)
def test_what_passes_by_itself(text: str, expected: bool):
    """Rate limits, time-outs, overload, told from the telling line; what has to be paid for or allowed does not."""
    assert is_transient(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            (text, True)
            for text in (
                "Unknown tool: x",
                "Error: no such tool 'x'",
                "Tool not found: x",
                "x is not a valid tool",
                "unknown function x",
            )
        ),
        *(
            (text, False)
            for text in ("bash: x: command not found", "file not found", "", "the tool ran", "x" * 500 + "unknown tool")
        ),
    ],
)
def test_what_names_an_unknown_tool(text: str, expected: bool):
    """As frameworks say it, near the beginning of the answer; a shell that misses a program is none."""
    assert names_unknown_tool(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            (text, True)
            for text in (
                "Error: x",
                "  ERROR: x",
                "build failed",
                "running\ncommand failed with 1",
                "Traceback (most recent call last)",
            )
        ),
        *(
            (text, True)
            for text in ("x\nValueError: y", "fatal: not a git repository", "[error] disk: full", "--- Failure ---: x")
        ),
        *(
            (text, False)
            for text in ("", "File updated.", "no errors", "3 passed", "the error was fixed", "0 failed", "\n" * 1_000)
        ),
    ],
)
def test_a_success_that_reports_a_failure(text: str, expected: bool):
    """At the beginning of a line, as tools and builds print it; a word about errors within a sentence is no report."""
    assert reports_failure(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            (text, True)
            for text in (
                "",
                " ",
                "[]",
                "{}",
                "null",
                "None",
                "No results found.",
                "no matches",
                "0 rows",
                "Nothing found!",
                "Not found",
            )
        ),
        *(
            (text, True)
            for text in (
                "没有结果",
                "keine Ergebnisse",
                "aucun résultat",
                "нет результатов",
                "見つかりません",
                "No results for 'x y' in 3 indexes",
                "Offset 300 is beyond the end of the file (260 lines)",
                "Start line 400 exceeds file length of 260 lines",
                "Page 9 is out of range, the last is 7",
                "<system-reminder>Warning: the file exists but is shorter than the provided offset (301). It has 260 lines.",
            )
        ),
        *(
            (text, True)
            for text in (
                '{"results": []}',
                '{"items":[],"total":0,"next":null}',
                '{ "hits" : [ ] , "took": 3 }',
                '{"count":0,"results":[]}',
            )
        ),
        *(
            (text, True)
            for text in (
                '{"ok": true, "messages": {"total": 0, "matches": []}}',
                '{"took": 2, "timed_out": false, "hits": {"total": {"value": 0}, "hits": []}}',
                '{"data": {"search": {"edges": [], "pageInfo": {"hasNextPage": false}}}}',
            )
        ),
        *(
            (text, False)
            for text in (
                '{"data": {"search": {"edges": [{"id": 1}]}}}',
                '{"state": {"errors": []}}',
                '{"job": {"name": "x", "results": []}}',
                '{"hits": {"total": {"value": 3}, "hits": []}}',
                '{"a": {"total": 0}',
            )
        ),
        *((text, True) for text in ('{"data": {}}', '{"status": "ok", "rows": []}', '{"results": [], "error": null}')),
        *((text, False) for text in ("1 result", "none of your business, it says", "ok", "done", "0", "[0]", "nobody knows")),
        *(
            (text, False)
            for text in (
                '{"success": true}',
                '{"errors": []}',
                '{"issues": [], "valid": true}',
                '{"results": [1]}',
                '{"total": 3, "results": []}',
            )
        ),
        *(
            (text, False)
            for text in (
                '{"results": [], "error": "gone"}',
                "Line 4: beyond repair",
                "Page 3 of 9: kettle",
                "<system-reminder>" + "Now read on. " * 30,
                "{",
                '{"results": []',
                "No results found. " + "But there is more to say. " * 9,
            )
        ),
    ],
)
def test_a_whole_answer_that_says_nothing_is_there(text: str, expected: bool):
    """In several languages, as a value, or as JSON of which every list is empty; no errors, no issues is good news and none."""
    assert is_empty_answer(text) == expected


def test_own_words_for_nothing():
    """What a user adds, whatever its case and with a full stop."""
    assert not is_empty_answer("Nada.")
    assert is_empty_answer("Nada.", frozenset(("nada",)))


@pytest.mark.parametrize(
    "text",
    [
        '{"status": "failed"}',
        "status: cancelled",
        "<status>killed</status><exit_code>137</exit_code>",
        "Job 1 not found",
        "CANCELLED",
        '{"state": "COMPLETED"}',
        "process 17 has exited",
    ],
)
def test_what_is_over_is_known(text: str):
    """A job that failed, was cancelled, or is gone."""
    assert failures.is_final(text)


@pytest.mark.parametrize(
    "text", ['{"status": "running"}', "pending", "success", '{"status": "success"}', "completed 3 of 9", "the job runs", ""]
)
def test_what_may_still_move_is_not_over(text: str):
    """And a receipt that all went well says nothing of a job."""
    assert not failures.is_final(text)


def test_a_line_that_says_there_was_no_error_tells_nothing():
    """Some hosts list the parts of an outcome, whether they hold anything or not."""
    text = "Stdout: (empty)\nStderr: ModuleNotFoundError: No module named 'yaml'\nError: (none)\nExit Code: 1\nSignal: 0"
    assert failures.telling_line(text) == "Stderr: ModuleNotFoundError: No module named 'yaml'"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ERROR: failed to solve: e52a6c3076ac", "ERROR: failed to solve: 7fe2ad1009d2"),
        (
            '{"code": 1, "stderr": "Traceback (most recent call last):\\n  File \\"/tmp/run_23a7/m.py\\"\\nNameError: no df\\n"}',
            '{"code": 1, "stderr": "Traceback (most recent call last):\\n  File \\"/tmp/run_f7d3/m.py\\"\\nNameError: no df\\n"}',
        ),
    ],
    ids=["an id", "a traceback in JSON"],
)
def test_one_failure_has_one_class(one: str, other: str):
    """Whatever id it has this time, and wherever the program was put."""
    said = Said()
    assert failure_class(one, said) == failure_class(other, said)
