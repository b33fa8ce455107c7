"""What a person names on the command line: folders, pipes, patterns, and what cannot be looked into."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.support.event_lines import text
from unstuck.cli import INTERRUPTED, app
from unstuck.cli.inputs import Input, files, inputs
from unstuck.readers import READERS
from unstuck.testing import run_of

STUCK = run_of([("read_file", {"path": "a.txt"}, "same")] * 12, run="stuck")


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """The current folder: two files of one run each, with the same id."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(text(STUCK), "utf-8")
    return tmp_path


def test_a_folder_without_files_is_named(logs, unstuck):
    """That nothing is readable does not have to be guessed from an empty folder."""
    (logs / "none" / "below").mkdir(parents=True)
    assert unstuck("scan", "none") == (3, "", "none: there is no file in it\nnothing readable\n")


@pytest.mark.parametrize("named", [["notes.txt"], ["strange"]], ids=["a file", "a folder"])
def test_where_no_format_is_known_those_that_are_are_named(logs, unstuck, named):
    """Whoever brings something else learns what could be read; where something was read, it is not said."""
    (logs / "notes.txt").write_text("words", "utf-8")
    (logs / "strange").mkdir()
    (logs / "strange" / "b.json").write_text('{"colour": "blue"}', "utf-8")
    status, out, err = unstuck("scan", *named)
    assert (status, out) == (3, "")
    assert err.splitlines()[-2:] == [f"formats that are read: {', '.join(READERS)}", "nothing readable"]
    assert "formats" not in unstuck("scan", *named, "a.jsonl")[2]


def test_a_file_without_a_run_is_named(logs, unstuck):
    """Nothing is said about loops where there was no run, such as in a file that is read in a wrong format."""
    (logs / "notes.jsonl").write_text('{"type": "note"}\n', "utf-8")
    status, out, err = unstuck("scan", "notes.jsonl", "--format", "events")
    assert (status, out, err) == (
        0,
        "1 file, 0 runs, 0 calls\nThere is no run to judge.\n",
        "notes.jsonl: there is no run in it\n",
    )


def shut(path: Path, monkeypatch) -> None:
    """The system refuses to list *path* (as root, which may look into every folder, a test has to say so itself)."""
    real = os.scandir

    def scandir(folder):
        if Path(folder) == path:
            raise PermissionError(13, "Permission denied", str(folder))
        return real(folder)

    monkeypatch.setattr(os, "scandir", scandir)


def test_a_folder_that_cannot_be_looked_into_is_named(logs, unstuck, monkeypatch):
    """What is below it is missing from the report, and that is said; the rest is read."""
    (logs / "closed").mkdir()
    shut(logs / "closed", monkeypatch)
    status, out, err = unstuck("scan", logs, "--json")
    assert (status, len(out.splitlines()), err) == (0, 2, f"{logs / 'closed'}: Permission denied\n")
    assert unstuck("scan", logs / "closed")[::2] == (3, f"{logs / 'closed'}: Permission denied\nnothing readable\n")


def test_files_that_cannot_be_looked_at_are_named(logs, monkeypatch):
    """In a folder that lists its files and refuses them, each is told; a link that leads nowhere is no file."""
    if os.name != "nt":  # Windows asks for a right of its own
        (logs / "gone.jsonl").symlink_to("nowhere")
    real = Path.stat

    def stat(path, **options):
        if path.name == "b.jsonl":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, **options)

    monkeypatch.setattr(Path, "stat", stat)
    said = []
    assert list(inputs([str(logs)], said.append)) == [Input(logs / "a.jsonl", named=False)]
    assert said == [f"{logs / 'b.jsonl'}: Permission denied"]
    assert files(logs) == [logs / "a.jsonl"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_pipe_that_is_named_is_explained(logs, unstuck):
    """What a shell puts in place of `<(command)` can be read once only, and explaining takes two readings."""
    reading, writing = os.pipe()
    os.write(writing, text(STUCK).encode())
    os.close(writing)
    status, out, err = unstuck("explain", f"/dev/fd/{reading}")
    os.close(reading)
    assert (status, "repeated_result of read_file, stop" in out, err) == (0, True, "")


def test_a_run_is_found_by_the_name_that_a_scan_gives_it(logs, unstuck):
    """Where two files have a run of the same id, the scan calls the second after its file; explain knows it by that name."""
    names = [json.loads(line)["run"] for line in unstuck("scan", ".", "--json")[1].splitlines()]
    assert names == ["stuck", "b.jsonl#1"]
    assert unstuck("explain", "b.jsonl", names[1])[0] == 0
    assert unstuck("explain", "b.jsonl", "a.jsonl#1")[0] == 2


ARGUMENTS = [
    ("win32", ["scan", "*.jsonl", "--top", "1"], ["scan", "a.jsonl", "b.jsonl", "--top", "1"]),
    ("win32", ["scan", "?.json"], ["scan", "?.json"]),
    ("win32", ["scan", "--config=*.jsonl"], ["scan", "--config=*.jsonl"]),
    ("linux", ["scan", "*.jsonl"], ["scan", "*.jsonl"]),
]


@pytest.mark.parametrize(("platform", "given", "meant"), ARGUMENTS)
def test_patterns_stand_for_files_where_the_shell_leaves_them(logs, platform, given, meant):
    """On Windows a pattern becomes the files that it matches; one that matches none stays, so that it can be named."""
    assert app.expanded(given, platform) == meant


@pytest.mark.parametrize(("arguments", "said"), [("scan a.jsonl", "aborted\n"), ("hook run codex", "")])
def test_an_interruption_while_modules_load_is_quiet(logs, unstuck, monkeypatch, arguments, said):
    """Ctrl-C at the very beginning ends it with the status of an interruption, not with a traceback."""

    class Interrupted:
        def find_spec(self, name, path=None, target=None):
            if name in ("unstuck.cli.app", "unstuck.hooks.run"):
                raise KeyboardInterrupt

    for name in ("unstuck.cli.app", "unstuck.hooks.run"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    assert unstuck(*arguments.split()) == (INTERRUPTED, "", said)
