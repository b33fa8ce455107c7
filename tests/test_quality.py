"""The bench that compares rule sets counts as the scorers beside the cases do."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
CASES = SHARED / "cases" / "cases.events.jsonl"
CORPUS = SHARED / "corpus"
DEFAULT, NAIVE = "unstuck, default", "same call 3 in a row"

EVENTS = [
    {"type": "run_start", "run": "loop"},
    *(
        event
        for number in range(1, 7)
        for event in (
            {"type": "message", "run": "loop", "message": number, "calls": 1},
            {"type": "call", "run": "loop", "id": "c", "tool": "read_file", "args": {"path": "a"}, "message": number},
            {"type": "result", "run": "loop", "id": "c", "content": "the same"},
        )
    ),
    {"type": "run_start", "run": "work"},
    *(
        event
        for number in range(1, 7)
        for event in (
            {"type": "message", "run": "work", "message": number, "calls": 1},
            {"type": "call", "run": "work", "id": "c", "tool": "poll_job", "args": {"id": 7}, "message": number},
            {"type": "result", "run": "work", "id": "c", "content": f"{number * 10} % done, {100 - number} rows left"},
        )
    ),
]


@pytest.fixture(scope="module")
def quality():
    """The bench as a module; its neighbours are imported as it does where it runs as a program."""
    before = set(sys.modules)
    sys.path.insert(0, str(ROOT / "bench"))
    yield importlib.import_module("quality")
    sys.path.remove(str(ROOT / "bench"))
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(ROOT / "bench")):
            del sys.modules[name]


@pytest.fixture
def board(quality):
    """Scores of our presets and of the rules by hand on an event file, by rule set."""

    def scored(path):
        data = quality.load([path])
        return {rules.name: quality.score(rules, data) for rules in (*quality.ours("now"), *quality.REFERENCE)}

    return scored


def scorer(name, events, truth):
    """What a scorer prints for the default preset."""
    scan = subprocess.run(
        [sys.executable, "-m", "unstuck", "scan", "--json", str(events)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    command = [sys.executable, str(SHARED / "score" / name), str(truth)]
    return subprocess.run(command, input=scan.stdout, capture_output=True, text=True, check=True).stdout


def written(folder, **verdict):
    """Events with verdicts about a loop and about honest work, or with labels."""
    path = folder / "my.events.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in EVENTS), "utf-8")
    loop = {"run": "loop", "verdict": "loop", "unit": "call", "earliest": 3, "by": 4, "stop_by": 5} | verdict
    (folder / "my.expected.jsonl").write_text(
        f"{json.dumps(loop)}\n{json.dumps({'run': 'work', 'verdict': 'not_loop'})}\n", "utf-8"
    )
    return path


def test_a_nudge_in_its_range_is_in_time_and_honest_work_counts_against_who_disturbs_it(tmp_path, board):
    """The default preset notices the loop and leaves the poll alone; a rule about calls alone stops both."""
    scores = board(written(tmp_path))
    ours, naive = scores[DEFAULT].cases.counts, scores[NAIVE].cases.counts
    assert (ours["in_time"], ours["stopped_in_time"], ours["disturbed"]) == (1, 1, 0)
    assert (naive["in_time"], naive["false_stop"], naive["disturbed"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("verdict", "count"),
    [({"earliest": 4, "by": 6}, "early"), ({"earliest": 1, "by": 2}, "late"), ({"unit": "stream"}, "in_time")],
)
def test_a_nudge_outside_its_range_is_early_or_late(tmp_path, board, verdict, count):
    """Positions are compared with the range of the verdict, in its unit."""
    assert board(written(tmp_path, **verdict))[DEFAULT].cases.counts[count] == 1


def test_a_guard_that_is_not_installed_is_listed(quality, monkeypatch):
    """Every guard has its row, and where it is missing the row says so."""
    monkeypatch.setitem(sys.modules, "loop_guardrail", None)
    found = {rules.name: rules for rules in quality.peers()}
    assert list(found) == [name for name, *_ in sys.modules["peers"].PEERS]
    assert found["loop-guardrail"].judge is None
    assert found["loop-guardrail"].version.startswith("not installed")


def test_files_without_verdicts_and_labels_are_refused(tmp_path):
    """Events alone cannot be scored, and the message says what is missing."""
    path = written(tmp_path)
    (tmp_path / "my.expected.jsonl").unlink()
    done = subprocess.run(
        [sys.executable, "bench/quality.py", str(path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "no verdicts and no labels beside it" in done.stderr


@pytest.mark.skipif(not CASES.exists(), reason="the cases are not part of the repository")
def test_verdicts_are_counted_as_the_scorer_does(board):
    """For the default preset both come to the same numbers."""
    theirs = scorer("score_cases.py", CASES, CASES.with_name("cases.expected.jsonl"))
    ours = board(CASES)[DEFAULT].cases.line
    assert re.findall(r"\d+", ours) == re.findall(r"\d+", theirs.split("| no answer")[0])


@pytest.mark.skipif(not CORPUS.exists(), reason="the recorded runs are not part of the repository")
@pytest.mark.parametrize("source", ["sola_st_repair", "tau_bench_airline"])
def test_labels_are_counted_as_the_scorer_does(board, source):
    """For the default preset both come to the same numbers."""
    pytest.importorskip("zstandard", reason="the files are packed")
    events = CORPUS / f"{source}.events.jsonl.zst"
    theirs = scorer("score_corpus.py", events, CORPUS / f"{source}.labels.jsonl")
    (label,) = board(events)[DEFAULT].labels
    good = re.search(r"successful: flagged (\d+)/(\d+)=\S+ stopped (\d+)/", theirs)
    assert (*label.good_flagged, label.good_stopped.hits) == tuple(int(number) for number in good.groups())
    people = re.search(r"flagged: recall (\d+)/(\d+)=\S+ precision \S+ FPR (\d+)/(\d+)", theirs)
    if people:
        assert (*label.recall, *label.false_positives) == tuple(int(number) for number in people.groups())
