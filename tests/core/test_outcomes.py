"""What an exchange came to, whatever its result says of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.patterns import X, found
from unstuck.commands import asks, changed_part, kind_of_command, seconds_of
from unstuck.events import Call, Result
from unstuck.kinds import Kinds, kind_of_name
from unstuck.outcomes import OPENING, OPENINGS, corrected
from unstuck.states import Pending

FAILED: list[tuple[str, Any, str]] = [
    ("get_order", {"id": 1}, "Error: order not found"),
    ("get_order", {"id": 1}, "ERROR - Error executing get_order: boom"),
    ("get_order", {"id": 1}, "<error>no such order</error>"),
    ("get_order", {"id": 1}, "[ERROR] no such order"),
    ("get_order", {"id": 1}, "Failed to fetch order 1"),
    ("get_order", {"id": 1}, "Traceback (most recent call last):\n  File ...\nKeyError: 1"),
    ("get_order", {"id": 1}, '{"error": "not found"}'),
    ("get_order", {"id": 1}, '{"is_error": true, "content": "x"}'),
    ("get_order", {"id": 1}, '{"success": false, "reason": "x"}'),
    ("get_order", {"id": 1}, '{"status": "error", "message": "x"}'),
    ("get_order", {"id": 1}, '{"code": 40001, "msg": "invalid signature"}'),
    ("get_order", {"id": 1}, '{"data": null, "errors": [{"message": "x"}]}'),
    ("get_order", {"id": 1}, 'connection to server at "10.0.0.9", port 5432 failed: Connection refused'),
    ("fetch", {"url": "u"}, "Request failed with status code 404"),
    ("fetch", {"url": "u"}, "403 Forbidden"),
    ("fetch", {"url": "u"}, "<html><head><title>404 Not Found</title></head><body>x</body></html>"),
    ("fetch", {"url": "u"}, "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>"),
    ("fetch", {"url": "u"}, "<html><head><title>404 Not Found</title></head><body>" + "<p>x</p>" * 90),
    (
        "browser_navigate",
        {"url": "u"},
        "### Page state\n- Page URL: u\n- Page Title: Robot Check\n- Page Snapshot:\n" + "- x\n" * 120,
    ),
    ("bash", {"command": "git add -A && git commit -m x"}, 'mypy....Failed\n- exit code: 1\n\na.py:4: error: bad "x"'),
    ("bash", {"command": "python x.py"}, "Stdout: (empty)\nStderr: no yaml\nExit Code: 1\nSignal: 0"),
    ("bash", {"command": "cat x"}, "Command: cat x\nStdout: (empty)\nStderr: denied\nExit Code: 254\nSignal: 0\nPGID: 7"),
    ("bash", {"command": "foo"}, "bash: foo: command not found"),
    ("bash", {"command": "ls x"}, "ls: cannot access 'x': No such file or directory"),
    ("bash", {"command": "cat x"}, "cat: x: Permission denied"),
    ("bash", {"command": "make"}, "gcc -c a.c\ncannot link\n[exit code: 2]"),
    ("bash", {"command": "make"}, "Exit code: 127\nmake: nothing here"),
    ("bash", {"command": "python x.py"}, 'hello\nTraceback (most recent call last):\n  File "x.py"\nValueError: bad'),
    ("edit_file", {"path": "a"}, "old_string not found in file"),
    ("edit_file", {"path": "a"}, "No changes made"),
    ("edit_file", {"path": "a"}, "String to replace not found in file.\nString: x"),
    ("str_replace_editor", {"command": "str_replace"}, "No replacement was performed, old_str did not appear verbatim"),
]
SUCCEEDED: list[tuple[str, Any, str]] = [
    ("get_order", {"id": 1}, "open"),
    ("get_order", {"id": 1}, '{"error": null, "id": 1}'),
    ("get_order", {"id": 1}, '{"success": true}'),
    ("get_order", {"id": 1}, '{"code": 200, "msg": "found"}'),
    ("lint", {"path": "a"}, '{"errors": [{"line": 3}]}'),
    ("fetch", {"url": "u"}, "<html><head><title>How to read error messages</title></head></html>"),
    ("fetch", {"url": "u"}, "404 pages were found"),
    ("browser_navigate", {"url": "u"}, "### Page state\n- Page URL: u\n- Page Title: Shop\n"),
    ("bash", {"command": "cat build.log"}, "start\nexit code: 1\nend"),
    ("get_order", {"id": 1}, "Errors are explained in chapter 3"),
    ("search", {"query": "x"}, "Could not find x. Similar: y, z"),
    ("read_file", {"path": "a.log"}, "Error: it broke\n" * 60),
    ("bash", {"command": "pytest"}, "2 failed, 3 passed\n[exit code: 1]"),
    ("bash", {"command": "pytest"}, "FAILED test_a.py::test_b - AssertionError\nexit code 1"),
    ("bash", {"command": "make"}, "all done\n[exit code: 0]"),
    ("bash", {"command": "grep x a"}, "[exit code: 1]"),
    ("bash", {"command": "cat notes"}, "how to fix: command not found\nand more\nof it"),
    ("edit_file", {"path": "a"}, "File updated. One pattern was not found elsewhere."),
    ("write_file", {"path": "a"}, "wrote 8 bytes"),
    ("bash", {"command": "sed -i s/a/b/ x; grep -c b x"}, "b not found"),
    ("spawn_agent", {"task": "x"}, "Error: none"),
]
SAID_NO: list[tuple[str, str]] = [
    ("grep -rn x src", ""),
    ("grep -rn 'a|b' src", "Exit code 1"),
    ("cd src && rg x", "Command failed with exit code 1"),
    ("cat a | grep x", '{"output": "", "metadata": {"exit_code": 1, "duration_seconds": 0.1}}'),
    ("test -f a", "exit status 1"),
    ("[ -d a ]", ""),
    ("diff -q a b", "Process exited with code 1"),
    ("git diff --quiet", "(exit code 1)"),
    ("which foo", "no output"),
]
SAID_ERROR: list[tuple[str, str]] = [
    ("grep -rn x src", "grep: src: No such file or directory"),
    ("grep -rn x src", "Exit code 2"),
    ("grep x a && make", "Exit code 1"),
    ("make", "Exit code 1"),
    ("make", ""),
    ("ls x", "Exit code 1"),
]


def outcome(tool: str, args: Any, content: str, said: str) -> Result:
    kind = Kinds().of(tool, args)
    pending = Pending(Call("r", "c", tool, args, 1), 1, 1, 7, kind, args)
    pending.is_shell = kind_of_name(tool) == "shell"
    return corrected(Result("r", "c", content, said), pending, content)


@pytest.mark.parametrize(("tool", "args", "content"), FAILED, ids=repr)
def test_a_failure_that_comes_back_as_a_success_is_one(tool: str, args: Any, content: str):
    """Where the whole answer says so, or the end of a command's output, or an edit that changed nothing."""
    assert outcome(tool, args, content, "ok").outcome == "error"


def test_a_command_that_found_nothing_to_change_has_only_looked():
    """It neither failed nor changed anything."""
    look = X("read_file", {"path": "a"}, "aaa")
    idle = [
        X("bash", {"command": f"git commit -m 'step {n}'"}, "On branch main\nnothing to commit, working tree clean")
        for n in range(3)
    ]
    assert [one.pattern for one in found([x for step in idle for x in (look, step)])] == ["repeated_result"]


@pytest.mark.parametrize(("tool", "args", "content"), FAILED, ids=repr)
def test_the_cheap_test_lets_every_failure_through(tool: str, args: Any, content: str):
    """What neither changes anything nor is a command is looked at only where it begins like the report of a failure."""
    cheap = content[:OPENING] in OPENINGS
    assert cheap or Kinds().of(tool, args) == "write" or kind_of_name(tool) == "shell"


@pytest.mark.parametrize(("tool", "args", "content"), SUCCEEDED, ids=repr)
def test_what_is_not_sure_stays_a_success(tool: str, args: Any, content: str):
    """Reports of tests, files that were read, answers that mention an error, work that is handed on."""
    assert outcome(tool, args, content, "ok").outcome == "ok"


@pytest.mark.parametrize(("command", "content"), SAID_NO, ids=repr)
def test_an_exit_status_that_is_an_answer_is_no_error(command: str, content: str):
    """Nothing was found, the condition does not hold: an empty answer."""
    assert outcome("bash", {"command": command}, content, "error")[2:4] == ("", "ok")


@pytest.mark.parametrize(("command", "content"), SAID_ERROR, ids=repr)
def test_any_other_status_is_an_error(command: str, content: str):
    """The program itself failed, or it was another that did."""
    assert outcome("bash", {"command": command}, content, "error").outcome == "error"


@pytest.mark.parametrize("said", ["retry", "denied"])
def test_what_the_host_decided_stays(said: str):
    """A request to try again and a person's no are what they are."""
    assert outcome("bash", {"command": "grep x a"}, "", said).outcome == said


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("sed -i s/a/b/ x && pytest", "sed -i s/a/b/ x "),
        ("cd a; rm b; ls", " rm b"),
        ("apply_patch <<'EOF'\n-a\n+b\nEOF\nnpm test", "apply_patch <<'EOF'\n-a\n+b"),
        ("echo x > a && ./run", "echo x > a "),
        ("rm a", None),
        ("cd a && rm b", None),
        ("ls && pytest", None),
        ("", None),
    ],
)
def test_what_a_line_changes_before_it_goes_on(command: str, part: str | None):
    """The edit, not the test behind it; a line that only changes something has no such part."""
    assert changed_part(command) == part


@pytest.mark.parametrize(
    ("args", "seconds"),
    [
        ("sleep 300", 300.0),
        ({"command": "sleep 5m; squeue"}, 300.0),
        ({"command": "sleep 1.5 && sleep 2"}, 3.5),
        ({"code": "time.sleep(90)"}, 90.0),
        ({"cmd": "Start-Sleep -Seconds 120"}, 120.0),
        ({"cmd": "SLEEP 2M"}, 120.0),
        ({"seconds": 90}, 90.0),
        ({"minutes": 2}, 120.0),
        ({"duration_ms": 90_000}, 90.0),
        ({"command": "ls sleep"}, 0.0),
        ({"id": 7}, 0.0),
        (None, 0.0),
    ],
    ids=repr,
)
def test_how_long_a_call_says_that_it_waits(args: Any, seconds: float):
    """In a command line, in code, or in an argument with its unit."""
    assert seconds_of(args) == seconds


def test_a_question_ends_the_line():
    """Only the last program's status is the line's."""
    assert asks("cd a && grep x b")
    assert not asks("grep x b || make")
    assert kind_of_command("test -f a && cat a") == "read"
