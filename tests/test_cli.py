"""The command line: what a person types, reads and gets as exit status."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.support.event_lines import text
from unstuck.cli import main
from unstuck.events import Message, Usage
from unstuck.hooks import AGENTS
from unstuck.presets import PRESETS
from unstuck.readers import READERS
from unstuck.schemas import schema
from unstuck.testing import run_of

ROOT = Path(__file__).resolve().parent.parent
SESSIONS = ROOT / "examples" / "sessions"
CASES = ROOT.parent / "shared" / "cases" / "cases.events.jsonl"

STUCK = run_of([("read_file", {"path": "secret-path.txt"}, "secret-result")] * 12, run="stuck")
FINE = run_of([("read_file", {"path": f"{number}.txt"}, f"text {number}") for number in range(4)], run="fine")


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """A folder with a looping run, a good one, and a file that is no log; the current folder and the home are empty."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    for name in ("HOME", "USERPROFILE", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("COLUMNS", "80")
    folder = tmp_path / "logs"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.jsonl").write_text(text(STUCK), "utf-8")
    (folder / "deep" / "b.jsonl.gz").write_bytes(gzip.compress(text(FINE).encode()))
    (folder / "notes.txt").write_text("nothing", "utf-8")
    return folder


STATUS = [
    (["a.jsonl"], 0),
    (["deep"], 0),
    (["."], 0),
    (["a.jsonl", "--fail-on", "stop"], 1),
    (["a.jsonl", "--fail-on", "nudge"], 1),
    (["deep", "--fail-on", "observe"], 0),
    (["a.jsonl", "notes.txt"], 0),
    (["notes.txt"], 3),
    (["a.jsonl", "notes.txt", "--strict"], 3),
    (["nowhere.jsonl"], 2),
    (["a.jsonl", "--no-such-option"], 2),
    (["a.jsonl", "--fail-on", "panic"], 2),
    (["a.jsonl", "--since", "tomorrow"], 2),
    (["a.jsonl", "--top", "0"], 2),
    (["a.jsonl", "--preset", "none-such"], 2),
    (["a.jsonl", "--format", "none-such"], 2),
    (["a.jsonl", "--config", "none-such"], 2),
    (["a.jsonl", "--format", "events"], 0),
    (["a.jsonl", "--write-baseline", "no/such/folder/known.json"], 2),
    (["a.jsonl", "--since", "1h"], 0),
]


@pytest.mark.parametrize(("arguments", "status"), STATUS, ids=[" ".join(arguments) for arguments, _ in STATUS])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_exit_status(logs, unstuck, monkeypatch, arguments, status, form):
    """0 read fine, 1 a run reached --fail-on, 2 usage, 3 nothing readable; the same with --json."""
    monkeypatch.chdir(logs)
    assert unstuck("scan", *arguments, *form)[0] == status


def test_json_is_one_object_a_run(logs, unstuck):
    """Each line follows the published schema, in the order of the files, and quotes nothing of the run."""
    status, out, err = unstuck("scan", logs, "--json")
    answers = [json.loads(line) for line in out.splitlines()]
    for answer in answers:
        jsonschema.validate(answer, json.loads(schema("scan")))
    assert [(answer["run"], answer["calls"]) for answer in answers] == [("stuck", 12), ("fine", 4)]
    assert answers[0]["first"]["stop"] is not None
    assert answers[0]["repeated"] == {"calls": 11, "tokens": None, "usd": None}
    assert "secret" not in out
    assert (status, err) == (0, "1 file in no known format passed over\n")


def test_content_is_shown_on_request_only(logs, unstuck):
    """With --content the arguments and results behind a finding are in the answer, which still follows the schema."""
    _, out, _ = unstuck("scan", logs / "a.jsonl", "--json", "--content")
    answer = json.loads(out)
    jsonschema.validate(answer, json.loads(schema("scan")))
    assert answer["findings"][0]["content"]["tool"] == "read_file"
    assert "secret-path.txt" in answer["findings"][0]["content"]["args"]


def test_content_without_json_is_refused(logs, unstuck):
    """An option that would have no effect is usage, and the way out is named."""
    status, _, err = unstuck("scan", logs, "--content")
    assert (status, "add --json" in err) == (2, True)


WRONG = [
    {"extra": 1},
    {"run": ""},
    {"calls": -1},
    {"repeated": {"calls": 0, "tokens": None}},
    {"findings": [{"loop": 1}]},
    {"first": {"nudge": None, "block": None}},
]


@pytest.mark.parametrize("change", WRONG, ids=str)
def test_the_schema_refuses_other_answers(logs, unstuck, change):
    """The schema is strict: another field, a missing one or a wrong value is no answer."""
    _, out, _ = unstuck("scan", logs / "a.jsonl", "--json")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(out) | change, json.loads(schema("scan")))


def test_the_schema_is_printed(unstuck):
    """`unstuck schema` prints the schema, which is a valid one."""
    status, out, _ = unstuck("schema")
    jsonschema.Draft202012Validator.check_schema(json.loads(out))
    assert status == 0


@pytest.mark.skipif(not CASES.exists(), reason="no ../shared/cases")
def test_every_case_has_one_answer_by_the_schema(logs, unstuck):
    """Each of the 66 cases gets exactly one line, and each line follows the schema."""
    _, out, _ = unstuck("scan", CASES, "--json")
    answers = [json.loads(line) for line in out.splitlines()]
    validator = jsonschema.Draft202012Validator(json.loads(schema("scan")))
    assert [error.message for answer in answers for error in validator.iter_errors(answer)] == []
    assert len({answer["run"] for answer in answers}) == len(answers) == 66


def test_shadow_mode_shows_what_would_have_happened(logs, unstuck, monkeypatch):
    """The answer names the decision that would have fallen, and it is said that --fail-on cannot see that one."""
    plain = json.loads(unstuck("scan", logs / "a.jsonl", "--json")[1])
    monkeypatch.setenv("UNSTUCK_SHADOW", "true")
    _, out, err = unstuck("scan", logs / "a.jsonl", "--json")
    answer = json.loads(out)
    jsonschema.validate(answer, json.loads(schema("scan")))
    assert err == ""
    assert {finding["decision"] for finding in answer["findings"]} == {"observe"}
    assert [finding["would"] for finding in answer["findings"]] == [finding["decision"] for finding in plain["findings"]]
    assert not any("would" in finding for finding in plain["findings"])
    assert "would stop" in unstuck("scan", logs / "a.jsonl")[1]
    status, _, err = unstuck("scan", logs / "a.jsonl", "--fail-on", "stop")
    assert (status, err) == (0, "shadow mode: no run reaches stop; --fail-on observe fails where a run looped\n")
    assert unstuck("scan", logs / "a.jsonl", "--fail-on", "observe")[::2] == (1, "1 run reached observe\n")


def test_broken_lines_are_named_and_do_not_end_a_scan(logs, unstuck):
    """File, line and reason stand on standard error; with --strict the first one ends the scan with 3."""
    path = logs / "a.jsonl"
    path.write_text("{oops\n" + text(STUCK) + "[1]\n", "utf-8")
    status, out, err = unstuck("scan", path, "--json")
    assert (status, json.loads(out)["calls"]) == (0, 12)
    assert err == (
        f"{path}:1: no JSON: Expecting property name enclosed in double quotes at column 2\n"
        f"{path}:{len(STUCK) + 2}: not a record of this format: Expected `object`, got `array`\n"
    )
    status, out, err = unstuck("scan", path, "--json", "--strict")
    assert (status, out, err.count("\n")) == (3, "", 1)


def test_many_broken_lines_are_counted(logs, unstuck):
    """A hundred are named for one file, the others counted."""
    path = logs / "a.jsonl"
    path.write_text(text(STUCK) + "[1]\n" * 250, "utf-8")
    _, _, err = unstuck("scan", path)
    assert err.count("\n") == 101
    assert err.splitlines()[-1] == f"{path}: 150 more broken lines"


def test_a_line_over_the_limit_is_named(logs, unstuck):
    """--max-line-bytes bounds what is loaded; what is longer is refused by name."""
    path = logs / "a.jsonl"
    path.write_text(text(STUCK) + '{"type": "user", "text": "' + "x" * 5000 + '", "run": "r"}\n', "utf-8")
    _, _, err = unstuck("scan", path, "--max-line-bytes", "2000")
    assert err == f"{path}:{len(STUCK) + 1}: longer than 2000 bytes; raise --max-line-bytes to read it\n"


def test_standard_input_is_read(logs, unstuck, monkeypatch):
    """`-` is standard input, compressed or not."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(text(STUCK).encode()))))
    status, out, _ = unstuck("scan", "-", "--json")
    assert (status, json.loads(out)["source"]) == (0, "-")


def test_a_file_named_twice_is_read_once(logs, unstuck):
    """A file inside a folder that is named too is one file."""
    _, out, _ = unstuck("scan", logs, logs / "a.jsonl", logs, "--json")
    assert [json.loads(line)["run"] for line in out.splitlines()] == ["stuck", "fine"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_pipe_that_is_named_is_read(logs):
    """What a shell puts in place of `<(command)` is a file like others."""
    reading, writing = os.pipe()
    os.write(writing, text(STUCK).encode())
    os.close(writing)
    done = spawned("scan", f"/dev/fd/{reading}", "--json", pass_fds=[reading])
    os.close(reading)
    assert (json.loads(done.stdout)["run"], done.stderr) == ("stuck", b"")


def test_since_leaves_out_older_runs(logs, unstuck):
    """A run that ended before the moment is no answer, and neither is a file that was last written before it."""
    new = [event._replace(time=1.9e9 + index) for index, event in enumerate(FINE) if "time" in event._fields]
    old = [event._replace(time=1.7e9, run="old") for event in new]
    (logs / "a.jsonl").write_text(text([*old, *new]), "utf-8")
    _, out, _ = unstuck("scan", logs / "a.jsonl", "--json", "--since", "2026-01-01")
    assert [json.loads(line)["run"] for line in out.splitlines()] == ["fine"]
    os.utime(logs / "a.jsonl", (1.7e9, 1.7e9))
    status, out, err = unstuck("scan", logs / "a.jsonl", "--json", "--since", "2026-01-01")
    assert (status, out) == (3, "")
    assert "1 file older than --since passed over" in err


def test_top_shows_the_costliest(logs, unstuck):
    """--top N keeps the looping runs that spent most on repeats; --json keeps them in the order they began."""
    runs = []
    for name, tokens in (("cheap", 10), ("dear", 1000), ("middle", 100)):
        usage = Usage(tokens, 0)
        runs += [
            event._replace(run=name, usage=usage) if isinstance(event, Message) else event._replace(run=name) for event in STUCK
        ]
    (logs / "a.jsonl").write_text(text(runs), "utf-8")
    _, out, _ = unstuck("scan", logs / "a.jsonl", "--json", "--top", "2")
    assert [json.loads(line)["run"] for line in out.splitlines()] == ["dear", "middle"]
    _, out, _ = unstuck("scan", logs / "a.jsonl", "--top", "2")
    assert out.index("dear") < out.index("middle")
    assert "cheap" not in out
    assert "and 1 more looping run; --top 3 shows them" in out


def test_without_a_path_the_known_places_are_looked_at(logs, unstuck, monkeypatch, tmp_path):
    """The sessions of coding agents of the last 30 days are read, and it is said where they were found or looked for."""
    claude = tmp_path / "claude"
    (claude / "projects" / "p").mkdir(parents=True)
    session = (SESSIONS / "claude-code-47-reads.jsonl").read_bytes()
    now = session.replace(b"2026-11-02T", b"2999-11-02T")
    (claude / "projects" / "p" / "s.jsonl").write_bytes(now)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(claude))
    monkeypatch.delenv("CODEX_HOME")
    status, out, err = unstuck("scan", "--json")
    assert (status, json.loads(out)["format"]) == (0, "claude_code")
    assert err.splitlines()[0] == f"Claude Code: 1 file in {claude / 'projects'}"
    assert err.splitlines()[1].startswith("Codex: nothing in ")
    assert "looking at the last 30 days; --since changes that" in err.splitlines()


def test_without_a_path_and_without_sessions(logs, unstuck):
    """It is said where it looked; nothing readable is 3."""
    status, _, err = unstuck("scan")
    assert status == 3
    assert "CLAUDE_CONFIG_DIR moves it" in err
    assert "name a file or folder" in err


COMMANDS = ["", "scan", "explain", "hook", "hook install", "hook uninstall", "hook status", "log", "watch", "schema"]


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_shows_an_example(logs, unstuck, command, flag):
    """Help says how the command is typed, and names what stands for a word in capitals."""
    status, out, _ = unstuck(*command.split(), flag)
    assert status == 0
    assert "Example" in out
    assert max(map(len, out.splitlines())) <= 80
    meant = {word.strip("[].") for word in out.splitlines()[0].split()[2:] if word.strip("[].").isupper()}
    assert [word for word in meant - {"OPTIONS", "COMMAND", "ARGS"} if f"{word} is" not in " ".join(out.split())] == []


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("scan", [*PRESETS, *READERS]),
        ("explain", PRESETS),
        *((f"hook {one}", AGENTS) for one in ("install", "uninstall", "status")),
    ],
)
def test_help_names_what_can_be_chosen(logs, unstuck, command, names):
    """Every rule set, format and coding agent that there is stands in the help of the commands that take its name."""
    out = " ".join(unstuck(*command.split(), "--help")[1].replace("-\n", "-").split())
    assert [name for name in names if name not in out] == []


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_what_coding_agents_call_has_help_too(flag, capsys):
    """It goes to standard output and reads no event."""
    assert main(["hook", "run", flag]) == 0
    out, err = capsys.readouterr()
    assert ("Example: unstuck hook run claude_code" in out, err) == (True, "")


def test_the_version_is_told(unstuck):
    """`--version` prints the version of the package."""
    import unstuck as package

    assert unstuck("--version") == (0, f"unstuck {package.__version__}\n", "")


def spawned(*arguments, **options):
    command = [sys.executable, "-m", "unstuck", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, timeout=60, **options)


def test_python_m_unstuck_works(logs):
    """The package runs as a module; piped output has neither colours nor escapes."""
    done = spawned("scan", logs / "a.jsonl", env={**os.environ, "FORCE_COLOR": ""})
    assert done.returncode == 0
    assert b"stuck" in done.stdout
    assert b"\x1b" not in done.stdout


def test_output_that_cannot_be_encoded_does_not_crash(logs):
    """On a console without the letters of a name, they are escaped."""
    (logs / "a.jsonl").write_text(text([event._replace(run="läuft-\u65e5\u672c") for event in STUCK]), "utf-8")
    done = spawned("scan", logs / "a.jsonl", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert rb"l\xe4uft" in done.stdout


def test_the_entry_is_cheap_to_import():
    """Importing the entry loads neither click nor rich nor msgspec: hooks will come in through it."""
    code = "import unstuck.cli, sys; print(sorted({'click', 'rich', 'msgspec'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


def test_json_needs_no_rich(logs):
    """The machine's answer does not pay for the person's."""
    path = str(logs / "a.jsonl")
    code = f"from unstuck.cli import main; import sys; main(['scan', '--json', {path!r}]); print('rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "False"
