"""Known loops: what a baseline holds back from a check, what is new, and what of that a person is told."""

from __future__ import annotations

import pytest

from tests.support.event_lines import text
from unstuck.testing import run_of

STUCK = run_of([("read_file", {"path": "secret-path.txt"}, "secret-result")] * 12, run="stuck")


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """A folder with a looping run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.jsonl").write_text(text(STUCK), "utf-8")
    return folder


def test_a_baseline_knows_the_loops_it_was_written_from(logs, unstuck, tmp_path):
    """What was written as known does not fail, in a run of another name too; a second run with the loop does."""
    known = tmp_path / "known.json"
    assert unstuck("scan", logs, "--fail-on", "stop", "--write-baseline", known)[0] == 0
    assert "secret" not in known.read_text("utf-8")
    check = ("--fail-on", "stop", "--baseline", known)
    assert unstuck("scan", logs, *check)[0] == 0
    again = [event._replace(run="another-run-of-tonight") for event in STUCK]
    (logs / "a.jsonl").write_text(text(again), "utf-8")
    assert unstuck("scan", logs, *check)[0] == 0
    (logs / "c.jsonl").write_text(text(STUCK), "utf-8")
    status, _, err = unstuck("scan", logs, *check)
    assert (status, err) == (1, "1 run reached stop by findings that are new\n")


def test_a_known_loop_that_goes_further_fails(logs, unstuck, tmp_path):
    """A loop that was nudged when the baseline was written and is stopped now is worse than known."""
    known = tmp_path / "known.json"
    (logs / "a.jsonl").write_text(text(STUCK[:13]), "utf-8")
    unstuck("scan", logs, "--write-baseline", known)
    assert unstuck("scan", logs, "--fail-on", "nudge", "--baseline", known)[0] == 0
    (logs / "a.jsonl").write_text(text(STUCK), "utf-8")
    assert unstuck("scan", logs, "--fail-on", "nudge", "--baseline", known)[0] == 1


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["terminal", "json"])
def test_what_a_baseline_held_back_is_told(logs, unstuck, tmp_path, form):
    """How many loops were written down, how many findings are known and how many new; known loops are marked in the table."""
    known = tmp_path / "known.json"
    _, _, err = unstuck("scan", logs, "--write-baseline", known)
    assert f"{known}: 1 known loop written" in err.splitlines()
    (logs / "c.jsonl").write_text(text([event._replace(run="again") for event in STUCK]), "utf-8")
    for files, said in (
        ([logs / "a.jsonl"], f"{known} held back 3 findings; none is new."),
        ([logs / "a.jsonl", logs / "c.jsonl"], f"{known} held back 3 findings; 3 are new, in 1 run."),
    ):
        _, out, err = unstuck("scan", *files, "--baseline", known, *form)
        assert said in (err if form else out).splitlines()
        assert form or "stop (known)" in out
    assert "held back" not in "".join(unstuck("scan", logs, *form)[1:])


def test_a_baseline_is_the_same_in_shadow_mode(logs, unstuck, tmp_path, monkeypatch):
    """What was written down while decisions were only reported is known when they are carried out."""
    monkeypatch.setenv("UNSTUCK_SHADOW", "true")
    unstuck("scan", logs, "--write-baseline", tmp_path / "known.json")
    monkeypatch.delenv("UNSTUCK_SHADOW")
    assert unstuck("scan", logs, "--baseline", tmp_path / "known.json", "--fail-on", "nudge")[0] == 0


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"version": 2, "known": []}', '{"version": 1, "known": [{"pattern": 1}]}']
)
def test_a_broken_baseline_is_refused(logs, unstuck, tmp_path, content):
    """It is usage, not a failed check: exit status 2 and a sentence that names the file."""
    (tmp_path / "known.json").write_text(content, "utf-8")
    status, _, err = unstuck("scan", logs, "--baseline", tmp_path / "known.json")
    assert (status, "known.json" in err) == (2, True)
