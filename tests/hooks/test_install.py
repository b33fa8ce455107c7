"""Entering the hooks into settings files and taking them out again: a person's file stays a person's file."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unstuck.cli import main
from unstuck.hooks import AGENTS, jsonc, module_of
from unstuck.hooks.install import BACKUP, Place, apply, installing, quoted, standing, uninstalling
from unstuck.hooks.settings import RefusedError, commands, entered, without

OTHER = '{"type": "command", "command": "say done"}'
FILES = {
    "an empty object": "{}",
    "an empty object with a line end": "{}\n",
    "an object over two lines": "{\n}\n",
    "an object with a space": "{ }\n",
    "an empty file": "",
    "blank lines": "\n\n",
    "settings": '{\n  "model": "opus",\n  "env": {"A": "1"}\n}\n',
    "no line end": '{\n  "model": "opus"\n}',
    "one line": '{"model": "opus", "list": [1, 2]}',
    "tabs": '{\n\t"model": "opus",\n\t"list": [\n\t\t1\n\t]\n}\n',
    "four spaces": '{\n    "model": "opus"\n}\n',
    "Windows line ends": '{\r\n  "model": "opus"\r\n}\r\n',
    "byte-order mark": '\ufeff{\n  "model": "opus"\n}\n',
    "byte-order mark alone": "\ufeff",
    "comments": '// mine\n{\n  /* the model, "quoted" } */\n  "model": "opus" // {best}\n  // end\n}\n// bye\n',
    "trailing commas": '{\n  "model": "opus",\n  "list": [1, 2,],\n}\n',
    "empty hooks": '{\n  "hooks": {}\n}\n',
    "a comment in empty hooks": '{\n  "hooks": {\n    // none yet\n  }\n}\n',
    "hooks of others": f'{{\n  "hooks": {{\n    "Stop": [\n      {{"hooks": [{OTHER}]}}\n    ],\n    "PreToolUse": []\n  }}\n}}\n',
    "hooks of others on the same events": json.dumps(
        {"hooks": {name: [{"matcher": "Bash", "hooks": [json.loads(OTHER)]}] for name in ("PreToolUse", "BeforeTool", "Stop")}},
        indent=2,
    ),
    "hooks in the middle": f'{{\n  "a": 1,\n  "hooks": {{"Stop": [{{"hooks": [{OTHER}]}}]}},\n  "b": 2\n}}\n',
    "other writing": '{\n  "naïve": "日本語 \\u00e9 😀",\n  "esc": "a\\"b\\\\"\n}\n',
}
BROKEN = {
    "cut off": '{\n  "model": "opus",\n',
    "no JSON": "model = opus\n",
    "a list": "[1, 2]\n",
    "hooks twice": '{"hooks": 3, "hooks": {"Stop": []}}',
    "an event twice": '{"hooks": {"Stop": [], "Stop": []}}',
    "hooks that are a list": '{"hooks": []}',
    "an event that is no list": '{"hooks": {"Stop": {}}}',
    "two values": "{} {}",
    "a comma too many": '{"a": 1,, "b": 2}',
    "nested without end": "[" * 100_000,
}


@pytest.fixture
def place(tmp_path):
    """Settings of an agent in a home of its own."""

    def make(agent: str, content: bytes | None = None) -> Place:
        variable, _, file = module_of(agent).HOME
        made = Place(agent, None, {variable: str(tmp_path), "PATH": ""})
        assert made.path == tmp_path / file
        if content is not None:
            made.path.parent.mkdir(exist_ok=True)
            made.path.write_bytes(content)
        return made

    return make


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_what_was_installed_is_taken_out_without_a_trace(place, tmp_path, agent, text):
    """Installing twice changes the file once; uninstalling leaves every byte and every file as it was."""
    where = place(agent, text.encode("utf-8"))
    before = tree(tmp_path)
    assert standing(where) == "not installed"
    change = installing(where)
    apply(change)
    assert standing(where) == "installed"
    assert installing(where).is_none
    assert tree(tmp_path)[f"{where.path.relative_to(tmp_path).as_posix()}{BACKUP}"] == text.encode("utf-8")
    apply(uninstalling(where))
    assert tree(tmp_path) == before
    assert uninstalling(where).is_none


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_installing_adds_the_hooks_and_nothing_else(agent, text):
    """What stood there stands there still, in its order and on its lines; the new file means the old one and our hooks."""
    after = entered(text, agent, module_of(agent), "unstuck hook run " + agent)
    assert commands(after, agent) == {event: ["unstuck hook run " + agent] for event in module_of(agent).EVENTS}
    if not text.strip("\ufeff \n"):
        return
    old, new = jsonc.parse(text).value, jsonc.parse(after).value
    assert list(new)[: len(old)] == list(old)
    assert {name: value for name, value in new.items() if name != "hooks"} == {
        name: value for name, value in old.items() if name != "hooks"
    }
    for event, groups in old.get("hooks", {}).items():
        assert new["hooks"][event][: len(groups)] == groups
    comments = [line[line.index("//") :] for line in text.splitlines() if "//" in line]
    assert [comment for comment in comments if comment not in [line[line.find("//") :] for line in after.splitlines()]] == []
    assert ('"opus", // {best}' in after) == ('"opus" // {best}' in text)
    assert after.count("\r\n") == (after.count("\n") if "\r\n" in text else 0)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_a_file_that_changed_in_between_keeps_its_changes(place, agent, text):
    """Where a person has edited the file since, only what is ours goes."""
    where = place(agent, text.encode("utf-8"))
    apply(installing(where))
    changed = where.path.read_bytes().decode("utf-8")
    node = jsonc.parse(changed)
    where.path.write_bytes(jsonc.insert(changed, node, {"x": [1]}, "added since").encode("utf-8"))
    apply(uninstalling(where))
    after = jsonc.parse(where.path.read_bytes().decode("utf-8")).value
    old = {} if not text.strip("\ufeff \n") else jsonc.parse(text).value
    hooks = {event: groups for event, groups in old.pop("hooks", {}).items() if groups}
    assert {event: groups for event, groups in after.pop("hooks", {}).items() if groups} == hooks
    assert after == {**old, "added since": {"x": [1]}}
    assert [line for line in text.splitlines() if "//" in line and line.strip() not in where.path.read_text("utf-8")] == []


@pytest.mark.parametrize("agent", AGENTS)
def test_a_missing_file_is_made_and_removed(place, tmp_path, agent):
    """A folder that is missing too is made, and is left empty."""
    where = place(agent)
    where = where._replace(environ={module_of(agent).HOME[0]: str(tmp_path / "no" / "such")})
    apply(installing(where))
    assert standing(where) == "installed"
    assert list(json.loads(where.path.read_text("utf-8"))) == ["hooks"]
    apply(uninstalling(where))
    assert list(where.path.parent.iterdir()) == []


@pytest.mark.parametrize("project", [False, True], ids=["home", "project"])
@pytest.mark.parametrize("agent", AGENTS)
def test_an_empty_folder_that_was_there_stays(tmp_path, agent, project):
    """Uninstalling removes the settings file that installing made, and no folder: who made that is not known by then."""
    base = tmp_path / "base"
    where = Place(agent, base if project else None, {module_of(agent).HOME[0]: str(base), "PATH": ""})
    where.path.parent.mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    apply(installing(where))
    apply(uninstalling(where))
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_and_not_touched(place, tmp_path, agent, text):
    """The message names the file, the place and the way out."""
    where = place(agent, text.encode("utf-8"))
    before = tree(tmp_path)
    for plan in (installing, uninstalling, standing):
        with pytest.raises(RefusedError) as caught:
            plan(where)
        assert str(where.path) in str(caught.value)
    assert tree(tmp_path) == before


def test_a_file_in_another_encoding_is_refused(place):
    """UTF-16 is what Windows editors may make of it."""
    with pytest.raises(RefusedError, match="not UTF-8"):
        installing(place("claude_code", '{"a": 1}'.encode("utf-16")))


def test_the_message_about_broken_json_names_the_place(place):
    """Line and column, as an editor counts them."""
    with pytest.raises(RefusedError, match=r"line 3, column 1: a comma is missing"):
        installing(place("claude_code", b'{\n  "a": 1\n"b": 2}'))


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_a_read_only_file_is_refused(place, tmp_path):
    """Whoever made it read-only meant it, also towards root."""
    where = place("claude_code", b"{}")
    where.path.chmod(0o444)
    with pytest.raises(RefusedError, match="read-only"):
        installing(where)
    assert list(tree(tmp_path)) == ["settings.json"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_the_mode_of_a_file_stays(place):
    """A private file stays private, its backup too."""
    where = place("claude_code", b'{"env": {"KEY": "secret"}}')
    where.path.chmod(0o600)
    apply(installing(where))
    assert {stat.S_IMODE(path.stat().st_mode) for path in where.path.parent.iterdir()} == {0o600}


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_stays_a_link(place, tmp_path):
    """Settings that lie in a folder of dotfiles are edited there."""
    target = tmp_path / "dotfiles" / "claude.json"
    target.parent.mkdir()
    target.write_text('{"a": 1}', "utf-8")
    where = place("claude_code")
    where.path.symlink_to(target)
    apply(installing(where))
    assert where.path.is_symlink()
    assert standing(where) == "installed"
    assert "hook run claude_code" in target.read_text("utf-8")
    apply(uninstalling(where))
    assert where.path.is_symlink()
    assert target.read_text("utf-8") == '{"a": 1}'


def test_an_older_installation_is_told_and_renewed(place, monkeypatch):
    """Another interpreter: outdated; installing puts the new command in the old one's place; uninstalling still restores."""
    where = place("claude_code", FILES["comments"].encode("utf-8"))
    monkeypatch.setattr(sys, "executable", "/old/bin/python")
    apply(installing(where))
    monkeypatch.undo()
    assert standing(where) == "outdated"
    apply(installing(where))
    assert standing(where) == "installed"
    assert "/old/bin/python" not in where.path.read_text("utf-8")
    apply(uninstalling(where))
    assert where.path.read_text("utf-8") == FILES["comments"]


def test_an_installation_in_part_is_told_and_completed(place):
    """An event that a person took out is entered again."""
    where = place("claude_code", b"{}")
    apply(installing(where))
    settings = json.loads(where.path.read_text("utf-8"))
    del settings["hooks"]["PreToolUse"]
    where.path.write_text(json.dumps(settings), "utf-8")
    assert standing(where) == "partly"
    apply(installing(where))
    assert standing(where) == "installed"


def test_a_hook_of_others_in_our_group_stays():
    """A person may have put a hook of theirs beside ours."""
    module = module_of("claude_code")
    text = entered("{}", "claude_code", module, "unstuck hook run claude_code")
    settings = json.loads(text)
    settings["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
    after = json.loads(without(json.dumps(settings), "claude_code"))
    assert after == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}


@pytest.mark.parametrize(
    ("command", "platform", "shell", "line"),
    [
        (["/usr/bin/python3", "-m", "x"], "linux", "bash", "/usr/bin/python3 -m x"),
        (["/a b/python", "-m", "x"], "darwin", "powershell", "'/a b/python' -m x"),
        ([r"C:\Python\python.exe", "-m", "x"], "win32", "bash", "C:/Python/python.exe -m x"),
        ([r"C:\My Python\python.exe", "-m", "x"], "win32", "bash", "'C:/My Python/python.exe' -m x"),
        ([r"C:\My Python\python.exe", "-m", "x"], "win32", "cmd", r'"C:\My Python\python.exe" -m x'),
        ([r"C:\Python\python.exe", "-m", "x"], "win32", "powershell", r"C:\Python\python.exe -m x"),
        ([r"C:\My Python\python.exe", "-m", "x"], "win32", "powershell", r"& 'C:\My Python\python.exe' -m x"),
        ([r"C:\O'Neil (x)\python.exe", "-m", "x"], "win32", "powershell", r"& 'C:\O''Neil (x)\python.exe' -m x"),
    ],
)
def test_the_command_is_quoted_for_the_shell_that_runs_it(command, platform, shell, line):
    """Each coding agent runs hooks by the shell of its system."""
    assert quoted(command, shell, platform) == line


TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(TEXT, part, max_size=3),
)
HOOKS = st.dictionaries(
    st.sampled_from(["Stop", "PreToolUse", "BeforeTool", "Other"]),
    st.lists(
        st.fixed_dictionaries({"hooks": st.lists(st.fixed_dictionaries({"command": TEXT}), min_size=1, max_size=2)}), max_size=2
    ),
)


@given(
    st.dictionaries(TEXT.filter(lambda name: name != "hooks"), VALUES, max_size=4),
    st.none() | HOOKS,
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.sampled_from(list(AGENTS)),
)
def test_any_settings_keep_their_meaning(settings, hooks, indent, agent):
    """Whatever stands in the file: with the hooks in it means the same and the hooks, without them the same again."""
    if hooks is not None:
        settings = {**settings, "hooks": hooks}
    text = json.dumps(settings, indent=indent, ensure_ascii=False)
    after = entered(text, agent, module_of(agent), "unstuck hook run " + agent)
    new = json.loads(after)
    ours = {event: new["hooks"][event].pop() for event in module_of(agent).EVENTS}
    assert all(group["hooks"][0]["command"] == "unstuck hook run " + agent for group in ours.values())
    rest = {event: groups for event, groups in new.pop("hooks").items() if groups}
    assert rest == {event: groups for event, groups in (hooks or {}).items() if groups}
    assert new == {name: value for name, value in settings.items() if name != "hooks"}
    again = json.loads(without(after, agent))
    left = {event: groups for event, groups in again.pop("hooks", {}).items() if groups}
    assert (left, again) == (rest, new)


def test_the_command_line_installs_for_the_agents_it_finds(tmp_path, monkeypatch, capsys):
    """Without a name those whose folder or program is there; `--dry-run` shows a diff and changes nothing."""
    for agent in AGENTS:
        monkeypatch.setenv(module_of(agent).HOME[0], str(tmp_path / agent))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["hook", "install"]) == 2
    assert "no coding agent found" in capsys.readouterr().err
    (tmp_path / "claude_code").mkdir()
    assert main(["hook", "install", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"--- {os.devnull}\n+++ ")
    assert "hook run claude_code" in shown
    assert tree(tmp_path) == {}
    assert main(["hook", "install"]) == 0
    assert main(["hook", "status"]) == 0
    told = capsys.readouterr().out
    assert "Claude Code: installed" in told
    assert "Codex: not found on this computer" in told
    assert main(["hook", "uninstall"]) == 0
    assert tree(tmp_path) == {}


def test_what_was_done_is_told(tmp_path, monkeypatch, capsys):
    """Entering and taking out are told apart, and so is that there was nothing to do, with `--dry-run` too."""
    monkeypatch.chdir(tmp_path)
    place = f"({tmp_path / '.codex' / 'hooks.json'})"

    def told(*arguments):
        assert main(["hook", *arguments, "codex", "--project"]) == 0
        return capsys.readouterr().out.splitlines()[0]

    assert told("uninstall", "--dry-run") == told("uninstall") == f"Codex: no hooks in there {place}"
    assert told("install") == f"Codex: hooks entered {place}"
    assert told("install", "--dry-run") == told("install") == f"Codex: the hooks are in there already {place}"
    assert told("uninstall") == f"Codex: hooks taken out, and the file, which held nothing else {place}"
    (tmp_path / ".codex" / "hooks.json").write_text('{"a": 1}', "utf-8")
    assert told("install") == f"Codex: hooks entered {place}"
    assert told("uninstall") == f"Codex: hooks taken out {place}"


def test_an_agent_behind_project_is_not_taken_for_a_folder(tmp_path, monkeypatch, capsys):
    """`--project codex` says how it is meant to be written; where there is such a folder, that is meant."""
    monkeypatch.chdir(tmp_path)
    assert main(["hook", "status", "--project", "codex"]) == 2
    assert "write it before --project" in capsys.readouterr().err
    (tmp_path / "codex").mkdir()
    assert main(["hook", "status", "--project", "codex"]) == 0


def test_a_project_has_settings_of_its_own(tmp_path, monkeypatch, capsys):
    """`--project` edits the project's file; where an agent has one that is not shared, that one."""
    assert main(["hook", "install", "claude_code", "codex", "--project", str(tmp_path)]) == 0
    assert set(tree(tmp_path)) == {".claude/settings.local.json", ".codex/hooks.json"}
    assert "trust" in capsys.readouterr().out
    assert main(["hook", "uninstall", "claude_code", "codex", "--project", str(tmp_path)]) == 0
    assert tree(tmp_path) == {}


def test_one_refused_file_does_not_keep_the_others(tmp_path, monkeypatch, capsys):
    """The exit status is 2, the message on standard error, and the other agents get their hooks."""
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.local.json").write_text("{broken", "utf-8")
    assert main(["hook", "install", "claude_code", "gemini_cli", "--project", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert "nothing was changed" in said.err
    assert "Gemini CLI: hooks entered" in said.out
    assert (tmp_path / ".claude" / "settings.local.json").read_text("utf-8") == "{broken"
