"""`unstuck log`: what the hooks did, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unstuck.cli import main
from unstuck.hooks import log
from unstuck.hooks.run import answer

DATA = Path(__file__).resolve().parent.parent / "data" / "hooks"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The hooks' folder after one recorded session of Claude Code and one failure."""
    monkeypatch.setenv("UNSTUCK_HOME", str(tmp_path))
    for number, line in enumerate((DATA / "claude_code.jsonl").read_text("utf-8").splitlines()):
        event = json.dumps(json.loads(line)["stdin"]).encode()
        for entry in answer("claude_code", event, {"UNSTUCK_HOME": str(tmp_path)}, 1_777_881_600.0 + number).entries:
            log.append(str(tmp_path), entry)
    log.append(str(tmp_path), {"time": 1_777_881_999.0, "program": "codex", "error": "state.db: database is locked"})
    return tmp_path


def test_each_session_is_told_with_what_was_done(home, capsys):
    """Time, action, which call, which loop; a hook that failed is told too, and that the call went through."""
    assert main(["log"]) == 0
    shown = capsys.readouterr().out
    lines = [line.split("  ") for line in shown.splitlines()]
    assert ["s-1", "Claude Code", "13 calls", "/p"] in lines
    actions = [line.split()[2] for line in shown.splitlines() if line.startswith("  20")]
    assert actions == ["let", "nudged", "denied", "denied", "denied", "ended", "ended", "ended"]
    assert "let through  state.db: database is locked" in shown


def test_in_shadow_mode_the_log_says_what_would_have_happened(tmp_path, monkeypatch, capsys):
    """Nothing was told, refused or ended, and it stands there how far it would have come."""
    monkeypatch.setenv("UNSTUCK_HOME", str(tmp_path))
    environ = {"UNSTUCK_HOME": str(tmp_path), "UNSTUCK_SHADOW": "true"}
    for number, line in enumerate((DATA / "claude_code.jsonl").read_text("utf-8").splitlines()):
        done = answer("claude_code", json.dumps(json.loads(line)["stdin"]).encode(), environ, 1_777_881_600.0 + number)
        assert done.output == ""
        for entry in done.entries:
            log.append(str(tmp_path), entry)
    assert main(["log"]) == 0
    actions = [line.split()[2:4] for line in capsys.readouterr().out.splitlines() if line.startswith("  20")]
    assert actions == [["would", "nudge"], ["would", "block"]]


def test_programs_get_one_object_a_session(home, capsys):
    """The same, without anything of arguments and results."""
    assert main(["log", "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    session = next(one for one in told if one["session"] == "s-1")
    assert (session["program"], session["calls"], session["project"]) == ("claude_code", 13, "/p")
    first = session["entries"][0]
    assert (first["action"], first["pattern"], first["count"], first["tools"]) == ("nudged", "repeated_result", 3, ["Bash"])
    assert "pytest" not in json.dumps(told)


def test_one_session_can_be_named_by_the_beginning_of_its_id(home, capsys):
    """Others are left out."""
    assert main(["log", "s-", "--json"]) == 0
    assert [json.loads(line)["session"] for line in capsys.readouterr().out.splitlines()] == ["s-1"]


def test_older_sessions_can_be_left_out(home, capsys):
    """`--since` looks at when a session was last heard of."""
    assert main(["log", "--since", "2999-01-01", "--json"]) == 0
    assert capsys.readouterr().out == ""


def test_sessions_without_anything_to_tell_are_shown_on_request(home, capsys):
    """The last line counts them and says how they are listed."""
    event = {"session_id": "calm", "hook_event_name": "UserPromptSubmit", "prompt": "Hello", "cwd": "/p"}
    answer("claude_code", json.dumps(event).encode(), {"UNSTUCK_HOME": str(home)}, 1_777_882_000.0)
    main(["log"])
    said = capsys.readouterr().out
    assert ("calm" in said, said.splitlines()[-1]) == (False, "3 sessions, 2 with something to tell; --all lists the others")
    main(["log", "--all"])
    said = capsys.readouterr().out
    assert ("calm" in said, said.splitlines()[-1]) == (True, "3 sessions, 2 with something to tell")


ALL = "`unstuck log --all` lists what was: 2 sessions"
NOTHING = [
    (["zzz"], 2, f"no session with an id that begins with 'zzz' was heard of; {ALL}"),
    (["zzz", "--all"], 2, f"no session with an id that begins with 'zzz' was heard of; {ALL}"),
    (
        ["s-1", "--since", "2999-01-01"],
        2,
        f"no session with an id that begins with 's-1' was heard of since 2999-01-01 00:00; {ALL}",
    ),
    (["--since", "2999-01-01"], 0, f"no session was heard of since 2999-01-01 00:00; {ALL}"),
]


@pytest.mark.parametrize(("arguments", "status", "told"), NOTHING, ids=[" ".join(arguments) for arguments, _, _ in NOTHING])
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["terminal", "json"])
def test_why_there_is_nothing_to_show_is_told(home, capsys, arguments, status, told, form):
    """An unknown id is usage and is named; it does not say that no session was heard of where some were."""
    assert main(["log", *arguments, *form]) == status
    assert capsys.readouterr() == ("", f"{told}\n")


def test_without_any_session_the_folder_is_named(tmp_path, monkeypatch, capsys):
    """Before the first event it says where it looked, and how to see whether the hooks are installed."""
    monkeypatch.setenv("UNSTUCK_HOME", str(tmp_path))
    assert main(["log"]) == 0
    assert capsys.readouterr().err == (
        f"no session was heard of yet ({tmp_path}); `unstuck hook status` says whether the hooks are installed\n"
    )


def test_a_broken_log_is_told_as_far_as_it_goes(home, capsys):
    """Lines that are cut off or foreign are passed over."""
    with (home / log.FILE).open("a", encoding="utf-8") as file:
        file.write('[1]\n{"time": "x"}\n{"time": 1, "program"')
    assert main(["log", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_a_broken_state_does_not_hide_the_log(home, capsys):
    """The reason goes to standard error, the entries are shown."""
    (home / "state.db").write_bytes(b"broken " * 1000)
    assert main(["log", "--json"]) == 0
    said = capsys.readouterr()
    assert "state.db" in said.err
    assert "s-1" in said.out


def test_a_log_that_is_full_is_put_beside(tmp_path, monkeypatch):
    """It never takes more than twice its bound, and nothing is told out of order."""
    monkeypatch.setattr(log, "MOST_BYTES", 1_000)
    for number in range(100):
        log.append(str(tmp_path), {"time": number, "program": "codex"})
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 2_200
    times = [entry["time"] for entry in log.entries(str(tmp_path))]
    assert times == sorted(times)
    assert times[-1] == 99
