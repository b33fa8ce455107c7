"""`unstuck explain`: what a person types, reads and gets as exit status. What explanations say is shown in `tests/explain`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.support.event_lines import text as text_of
from unstuck.cli import main
from unstuck.events import User
from unstuck.explain import WHY
from unstuck.testing import run_of

ROOT = Path(__file__).resolve().parent.parent


STUCK = run_of([("read_file", {"path": "secret-path"}, "secret-result")] * 9, run="stuck-1")
FINE = run_of([("read_file", {"path": f"{number}"}, f"text {number}") for number in range(4)], run="fine")
ALSO = run_of([("search", {"q": "x"}, "many lines about it")] * 4, run="stuck-2")
NEAR = run_of([("search", {"q": "x"}, "many lines about it")] * 2, run="near")


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """A file with one looping run, one with two; the current folder is empty."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "one.jsonl").write_text(text_of([*FINE, *STUCK]), "utf-8")
    (tmp_path / "two.jsonl").write_text(text_of([*STUCK, *FINE, *ALSO]), "utf-8")
    (tmp_path / "none.jsonl").write_text(text_of(FINE), "utf-8")
    (tmp_path / "calm.jsonl").write_text(text_of([*FINE, *NEAR]), "utf-8")
    (tmp_path / "no-run.jsonl").write_text('{"type": "note"}\n', "utf-8")
    (tmp_path / "broken.jsonl").write_text(text_of(STUCK) + "{no json\n", "utf-8")
    (tmp_path / "notes.txt").write_text("nothing", "utf-8")
    (tmp_path / "own.toml").write_text("[detectors.repeated_result]\nnudge = 2\n", "utf-8")
    return tmp_path


@pytest.fixture
def unstuck(capsys):
    def run(*arguments):
        status = main(["explain", *map(str, arguments)])
        out, err = capsys.readouterr()
        return status, out, err

    return run


STATUS = [
    (["one.jsonl"], 0, "stuck-1"),
    (["one.jsonl", "stuck-1"], 0, "stuck-1"),
    (["one.jsonl", "st"], 0, "stuck-1"),
    (["one.jsonl", "fine"], 0, "fine"),
    (["one.jsonl", "#2"], 0, "stuck-1"),
    (["two.jsonl", "#3"], 0, "stuck-2"),
    (["two.jsonl", "stuck-2", "--loop", "1"], 0, "stuck-2"),
    (["two.jsonl", "stuck-1", "--pattern", "repeated_result"], 0, "stuck-1"),
    (["broken.jsonl"], 0, "stuck-1"),
    (["one.jsonl", "--format", "events", "--preset", "pydantic-ai-harness"], 0, "stuck-1"),
    (["one.jsonl", "--config", "own.toml"], 0, "stuck-1"),
    (["two.jsonl"], 2, "2 runs looped"),
    (["none.jsonl"], 0, "fine"),
    (["none.jsonl", "--loop", "1"], 2, "its loops: none"),
    (["calm.jsonl"], 2, "none of 2 runs looped; name one to see what came closest in it"),
    (["calm.jsonl", "near"], 0, "near"),
    (["calm.jsonl", "nowhere"], 2, "#2  near  no loop"),
    (["no-run.jsonl", "--format", "events"], 3, "no-run.jsonl: there is no run in it"),
    (["two.jsonl", "stuck"], 2, "2 runs begin with"),
    (["two.jsonl", "nowhere"], 2, "there is no run"),
    (["two.jsonl", "#4"], 2, "there is no run"),
    (["two.jsonl", "#0"], 2, "there is no run"),
    (["one.jsonl", "--loop", "9"], 2, "no such loop; its loops: 1 (repeated_result)"),
    (["one.jsonl", "--pattern", "cycle"], 2, "no such loop"),
    (["one.jsonl", "fine", "--loop", "1"], 2, "its loops: none"),
    (["one.jsonl", "--preset", "nowhere"], 2, "nowhere"),
    (["one.jsonl", "--format", "nowhere"], 2, "nowhere"),
    (["nowhere.jsonl"], 2, "nowhere.jsonl"),
    (["notes.txt"], 3, "notes.txt"),
]


@pytest.mark.parametrize(("arguments", "status", "told"), STATUS, ids=[" ".join(arguments) for arguments, _, _ in STATUS])
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["terminal", "json"])
def test_exit_status(logs, unstuck, arguments, status, told, form):
    """0 explained, 2 usage with the runs or loops that there are, 3 nothing readable."""
    found, out, err = unstuck(*arguments, *form)
    assert (found, told in (out if status == 0 else err)) == (status, True)


def test_the_looping_runs_are_listed(logs, unstuck):
    """Without a run, several looping ones are listed with number, id, level and pattern."""
    _, out, err = unstuck("two.jsonl")
    assert out == ""
    assert "#1  stuck-1  stop  repeated_result" in err
    assert "#3  stuck-2  nudge  repeated_result" in err


def test_the_list_has_an_end(logs, unstuck):
    """Only the first of many looping runs are listed."""
    runs = [event._replace(run=f"s{number}") for number in range(25) for event in ALSO]
    (logs / "many.jsonl").write_text(text_of(runs), "utf-8")
    assert "and 5 more" in unstuck("many.jsonl")[2]


def test_a_run_that_did_not_loop_is_explained(logs, unstuck):
    """It says so, and which counts came closest to which first rung; the only run of a file need not be named."""
    status, out, _ = unstuck("calm.jsonl", "near")
    assert (status, [line.rstrip() for line in out.splitlines()]) == (
        0,
        [
            "Run near (calm.jsonl, events): 2 calls, 2 responses",
            "Nothing looped.",
            "What came closest, below the first rung:",
            "Pattern          Tools   Call   Count    First rung",
            "repeated_result  search  #1-#2  2 calls  3",
        ],
    )
    assert "Nothing came close: no pattern counted a second time." in unstuck("none.jsonl")[1]
    answer = json.loads(unstuck("calm.jsonl", "near", "--json")[1])
    assert (answer["loops"], answer["closest"]) == (
        [],
        [
            {
                "pattern": "repeated_result",
                "agent": "main",
                "tools": ["search"],
                "count": 2,
                "unit": "calls",
                "rung": 3,
                "first_call": 1,
                "call": 2,
                "message": 2,
            }
        ],
    )


def test_runs_that_interleave_are_told_apart(logs, unstuck):
    """The events of one run are replayed alone, whatever stands between them."""
    mixed = [event for pair in zip(STUCK[:13], ALSO, strict=True) for event in pair]
    (logs / "mixed.jsonl").write_text(text_of(mixed), "utf-8")
    _, out, _ = unstuck("mixed.jsonl", "stuck-2", "--json")
    assert [entry["count"] for entry in json.loads(out)["loops"][0]["entries"]] == [1, 2, 3, 4]


def test_standard_input_is_read(logs, unstuck, monkeypatch):
    """A dash stands for standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text_of(STUCK).encode())))
    assert unstuck("-")[0] == 0


def test_broken_lines_are_named_once(logs, unstuck):
    """The file is read twice, a broken line is named once."""
    assert unstuck("broken.jsonl")[2].count("broken.jsonl") == 1


def test_many_broken_lines_are_not_all_named(logs, unstuck):
    """Read in a wrong format a file may have nothing else: a hundred are named."""
    (logs / "broken.jsonl").write_text(text_of(STUCK) + "{no json\n" * 250, "utf-8")
    err = unstuck("broken.jsonl")[2].splitlines()
    assert (len(err), err[-1]) == (101, "broken.jsonl: further broken lines are not named")


def test_the_file_that_changed_the_ladder_is_named(logs, unstuck):
    """A ladder of one's own says which file it is from: the one on the command line, else that of the folder."""
    assert "nudge 2, block 5, stop 8 (own.toml)" in unstuck("one.jsonl", "--config", "own.toml")[1]
    (logs / "own.toml").rename(logs / "unstuck.toml")
    assert "(unstuck.toml)" in unstuck("one.jsonl")[1]


def test_without_content_the_answer_quotes_nothing(logs, unstuck):
    """`--no-content` leaves out arguments and results, in both forms."""
    for form in ([], ["--json"]):
        assert "secret" in unstuck("one.jsonl", *form)[1]
        assert "secret" not in unstuck("one.jsonl", "--no-content", *form)[1]


def test_the_page_explains_every_field(logs, unstuck):
    """Each field of the JSON answer and each reason has its place on the page."""
    page = (ROOT / "docs" / "explain.md").read_text("utf-8")
    (logs / "reset.jsonl").write_text(text_of([*STUCK, User("stuck-1", "Well?")]), "utf-8")
    answer = json.loads(unstuck("reset.jsonl", "--json")[1])
    [loop] = answer["loops"]
    entries = {entry["kind"]: entry for entry in loop["entries"]}
    assert set(entries) == {"exchange", "reset"}
    [near] = json.loads(unstuck("calm.jsonl", "near", "--json")[1])["closest"]
    parts = [answer, near, loop, *loop["rungs"], *entries.values(), loop["next"], {"reason": 1, "calls": 1}]
    fields = {field for part in parts for field in part}
    assert [name for name in sorted(fields | set(WHY)) if f"`{name}`" not in page] == []


def test_the_json_answer(logs, unstuck):
    """The shape of the answer, with the values of a small run."""
    _, out, err = unstuck("two.jsonl", "stuck-2", "--json")
    answer = json.loads(out)
    [loop] = answer.pop("loops")
    assert err == ""
    assert answer == {
        "run": "stuck-2",
        "source": "two.jsonl",
        "format": "events",
        "calls": 4,
        "messages": 4,
        "rules": "default",
        "closest": [],
    }
    entries = loop.pop("entries")
    assert loop == {
        "loop": 1,
        "pattern": "repeated_result",
        "agent": "main",
        "tools": ["search"],
        "decision": "nudge",
        "unit": "calls",
        "period": 1,
        "rule": None,
        "ladder": {"nudge": 3, "block": 5, "stop": 8},
        "ladder_from": "preset default",
        "rungs": [
            {"decision": "nudge", "would": None, "call": 3, "message": 3, "count": 3, "carried": 0, "before_call": False}
        ],
        "left_out": [],
        "between": 0,
        "next": {"decision": "block", "count": 5, "more": 1, "before_call": True, "carried": 0, "why": None},
        "elsewhere": [],
    }
    assert entries[2] == {
        "kind": "exchange",
        "call": 3,
        "message": 3,
        "agent": "main",
        "tool": "search",
        "args": '{"q": "x"}',
        "outcome": "ok",
        "result": "many lines about it",
        "masked": [],
        "ignored": [],
        "count": 3,
        "why": None,
        "earlier": 2,
        "decisions": ["nudge"],
    }
