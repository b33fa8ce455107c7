"""What a person reads: the terminal report, and names and figures in it."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from unstuck.findings import Finding, Level
from unstuck.reporters import Totals, clean, figure, jsonl, money, plural, shortened, terminal
from unstuck.scan import Loop, Repeated, RunReport


def finding(level, call=5, **fields):
    return Finding(1, "repeated_result", call, call, 2, call - 1, ("Read",), "main", level, ("ab12",))._replace(**fields)


def run(name="4747c0de-1111-4222-8333-444455556666", **fields):
    loop = Loop(1, "repeated_result", ("Read",), "main", Level.STOP, 2, 48, 47)
    report = RunReport(name, "logs/claude-code-47-reads.jsonl", "claude_code", 48, 49, (finding(Level.STOP),), (loop,))
    return report._replace(repeated=Repeated(46, 1_700_000, 0.674), tokens=1_780_000, usd=0.71)._replace(**fields)


PAIR = (
    Loop(
        1, "cycle", ("exec_command", "read_file", "apply_patch"), "main", Level.BLOCK, 3, 40, 12, "laps", ("repeated_result",)
    ),
    Loop(2, "repeated_text", (), "main", Level.NUDGE, None, None, 5, "responses"),
)
REPORTS = [run(), run("support-1", source="chat.json", loops=PAIR, repeated=Repeated(18, 13_500, None))]


def shown(width, *reports, hidden=0, **options):
    console = Console(file=io.StringIO(), width=width, **options)
    totals = Totals(files=3)
    for report in [*reports, run("calm", findings=(), loops=(), repeated=Repeated(0, 0, 0.0), calls=7)]:
        totals = totals.with_run(report)
    terminal.report(console, totals, reports, hidden)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_the_report_at_80_columns():
    """The file, then pattern above tools, calls above the count, tokens above money; nothing is cut off."""
    assert shown(80, *REPORTS) == [
        "3 files, 3 runs, 103 calls, 5.34M tokens, $2.13",
        "2 of 3 runs looped; repeats took 64 calls, 1.71M tokens and $0.67.",
        "",
        "Run                   Loop                   Calls  Decision  Repeats  Spent",
        "logs/claude-code-47-reads.jsonl",
        "4747c0de-...55556666  repeated_result         2-48  stop           46  1.70M",
        "                      Read                47 calls                     $0.67",
        "chat.json",
        "support-1             cycle +1                3-40  block          18  13.5k",
        "                      exec_command +2      12 laps",
        "                      repeated_text                 nudge",
        "                      (text)           5 responses",
        "",
        "unstuck explain FILE RUN says why.",
    ]


def test_the_report_at_120_columns():
    """Every figure has a column of its own; what repeats took is that of the whole run and stands beside its first loop."""
    assert shown(120, *REPORTS)[3:] == [
        "Run                       Pattern          Tools            Calls        Count  Decision  Repeats  Tokens  Money",
        "logs/claude-code-47-reads.jsonl",
        "4747c0de-11...4455556666  repeated_result  Read              2-48     47 calls  stop           46   1.70M  $0.67",
        "chat.json",
        "support-1                 cycle +1         exec_command +2   3-40      12 laps  block          18   13.5k",
        "                          repeated_text    (text)                  5 responses  nudge",
        "",
        "unstuck explain FILE RUN says why.",
    ]
    assert "4747c0de-1111-4222-8333-444455556666" in shown(130, *REPORTS)[5]


@pytest.mark.parametrize("width", range(60, 160, 3))
def test_every_width_shows_every_figure(width):
    """From 66 columns on the layout that fits is taken, so that no figure and no word is cut off."""
    lines = shown(width, *REPORTS, run("x" * 40, source="other.jsonl", repeated=Repeated(12_345, 1_700_000, 12_345.0)))
    text = "\n".join(lines)
    assert max(map(len, lines[3:])) <= width
    if width >= 66:
        assert "\u2026" not in text
        assert [
            word for word in ("Decision", "Repeats", "47 calls", "5 responses", "12345", "$12,345") if word not in text
        ] == []


def test_the_runs_of_a_file_stand_below_its_name():
    """Each file is named once and in full, however long, the file of the costliest run first; a pipe is called by its name."""
    long = f"/home/ada/{'deep/' * 60}s.jsonl"
    reports = [run("r1", source=long), run("r2", source="-"), run("r3", source=long)]
    lines = shown(80, *reports)[4:]
    assert [line.split()[0] for line in lines if line and line[0] != " "] == [long, "r1", "r3", "standard", "r2", "unstuck"]
    assert "standard input" in lines


ALIKE = Loop(1, "repeated_result", ("todo",), "main", Level.BLOCK, 1, 16, 16)
TWICE = [
    ("the same calls", ALIKE._replace(pattern="repeated_failure", level=Level.STOP), ["repeated_failure +1"]),
    ("other calls", ALIKE._replace(pattern="repeated_failure", last_call=17), ["repeated_result", "repeated_failure"]),
    ("another agent", ALIKE._replace(pattern="repeated_failure", agent="two"), ["repeated_result", "repeated_failure"]),
    ("another tool", ALIKE._replace(pattern="repeated_failure", tools=("a",)), ["repeated_result", "repeated_failure"]),
]


@pytest.mark.parametrize(("other", "patterns"), [row[1:] for row in TWICE], ids=[row[0] for row in TWICE])
def test_two_loops_of_the_same_calls_are_one_row(other, patterns):
    """Calls that both repeat their result and fail in one way do not look like twice as many; the stronger pattern stands there."""
    other = other._replace(number=2)
    rows = [line for line in shown(120, run("r", loops=(ALIKE, other))) if "todo" in line or other.tools[0] + " " in line]
    assert sorted(line.removeprefix("r ").split("  todo")[0].split("  a ")[0].strip() for line in rows) == sorted(patterns)


def test_a_row_of_two_loops_is_known_where_both_are():
    """One that is new is not hidden behind one that is known."""
    loops = (ALIKE, ALIKE._replace(number=2, pattern="repeated_failure"))
    for known, is_marked in ((frozenset([1]), False), (frozenset([1, 2]), True)):
        console = Console(file=io.StringIO(), width=130)
        terminal.report(console, Totals(files=1), [run("r", loops=loops)], known={"r": known})
        assert ("(known)" in console.file.getvalue()) == is_marked


def test_shadow_mode_shows_what_would_have_happened():
    """The level that a loop would have reached stands there, the strongest first, and a line says that nothing is carried out."""
    loops = tuple(loop._replace(level=Level.OBSERVE, would=loop.level) for loop in reversed(PAIR))
    lines = shown(130, run(loops=loops))
    assert lines[2] == "Shadow mode: decisions are only reported, none is carried out."
    assert ["would block" in lines[6], "would nudge" in lines[7]] == [True, True]
    assert not any("observe" in line or "Shadow" in line for line in shown(130, *REPORTS) + lines[3:])


def test_loops_that_a_baseline_knows_are_marked():
    """A loop that is known says so beside its decision; another of the same run does not."""
    console = Console(file=io.StringIO(), width=130)
    terminal.report(console, Totals(files=1).with_run(REPORTS[1]), REPORTS[1:], known={"support-1": frozenset([1])})
    text = console.file.getvalue()
    assert ("block (known)" in text, "nudge (known)" in text) == (True, False)


def test_without_tokens_there_is_no_column_for_them():
    """A trace that tells no tokens gets a table without."""
    lines = shown(80, run(repeated=Repeated(46, None, None), tokens=None, usd=None))
    assert lines[3] == "Run                   Loop                Calls  Decision  Repeats"
    assert "tokens" not in lines[1]


def test_no_loops_no_table():
    """Where nothing looped, one line says so."""
    assert shown(80)[1:] == ["No run looped."]


def test_many_loops_of_a_run_are_counted():
    """Four loops of a run are shown, the strongest first; the others are counted."""
    loops = tuple(Loop(n, "cycle", ("t",), "main", Level(1 + n % 4), n, n + 9, n) for n in range(1, 8))
    lines = shown(130, run("r", loops=loops))
    assert [line.split()[-4:-1] for line in lines[5:6]] == [["stop", "46", "1.70M"]]
    assert lines[-3].strip() == "and 3 more loops"


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width):
    """Long names are shortened in their middle, whatever they are; the name of a file alone is of use as a whole only."""
    long = "x" * 300
    loops = (Loop(1, "repeated_result", (long, long), "main", Level.STOP, 100_000, 1_000_000, 900_000),)
    lines = shown(width, run(long, source=long, loops=loops), hidden=3)
    lines.remove(long)
    assert max(map(len, lines)) <= width


def test_colours_are_for_terminals_only():
    """A stop is red on a terminal; in a pipe there is no escape at all."""
    assert any("\x1b[1;31mstop" in line for line in shown(80, run(), force_terminal=True, color_system="standard"))
    assert not any("\x1b" in line for line in shown(80, run()))


NASTY = [
    ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
    ("a\rb\nc\td", "a\\rb\\nc\\td"),
    ("\u202eevil", "\\u202eevil"),
    ("zero\u200bwidth", "zero\\u200bwidth"),
    ("\x9b2J", "\\x9b2J"),
    ("\ud800", "\\ud800"),
    ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
    ("日本語", "日本語"),
]


@pytest.mark.parametrize(("name", "shows"), NASTY, ids=[shows for _, shows in NASTY])
def test_names_cannot_steer_the_terminal(name, shows):
    """Control, direction and invisible characters in names are shown as escapes; markup is text."""
    assert clean(name) == shows
    lines = shown(120, run(name, loops=(Loop(1, "cycle", (name,), "main", Level.STOP, 1, 2, 1),)))
    assert "\x1b" not in "".join(lines)
    assert shows in lines[5]


FIGURES = [
    (figure(0), "0"),
    (figure(999), "999"),
    (figure(1_000), "1.00k"),
    (figure(13_512), "13.5k"),
    (figure(145_600), "146k"),
    (figure(2_190_000), "2.19M"),
    (figure(3_000_000_000), "3.00G"),
    (money(0), "$0.00"),
    (money(0.0042), "$0.0042"),
    (money(3.914), "$3.91"),
    (money(1204.4), "$1,204"),
    (plural(1, "run"), "1 run"),
    (plural(1_200, "run"), "1,200 runs"),
    (shortened("abcdefghij", 9), "abc...hij"),
    (shortened("abc", 3), "abc"),
    (shortened("abcdef", 3), "abc"),
]


@pytest.mark.parametrize(("found", "expected"), FIGURES, ids=[expected for _, expected in FIGURES])
def test_figures(found, expected):
    """Figures are short and keep three digits."""
    assert found == expected


def test_the_json_answer_is_what_the_contract_says():
    """Fields, names and order as the documentation shows them; null where something never happened."""
    nudge, stop = finding(Level.NUDGE, call=4), finding(Level.STOP, call=9)
    assert json.loads(jsonl.line(run("r", source="a.jsonl", findings=(nudge, stop)))) == {
        "run": "r",
        "source": "a.jsonl",
        "format": "claude_code",
        "calls": 48,
        "messages": 49,
        "findings": [
            {
                "loop": 1,
                "pattern": "repeated_result",
                "call": call,
                "message": call,
                "first_call": 2,
                "count": call - 1,
                "tools": ["Read"],
                "agent": "main",
                "decision": decision,
                "fingerprints": ["ab12"],
            }
            for call, decision in ((4, "nudge"), (9, "stop"))
        ],
        "first": {"nudge": {"call": 4, "message": 4}, "block": None, "stop": {"call": 9, "message": 9}},
        "repeated": {"calls": 46, "tokens": 1_700_000, "usd": 0.674},
    }


def test_names_of_any_kind_are_ascii_in_json():
    """The answer can be written to any console and file: lone surrogates too."""
    line = jsonl.line(run("\ud800 日本\x1b"))
    assert line.isascii()
    assert json.loads(line)["run"] == "\ud800 日本\x1b"


def test_shown_content_is_shortened():
    """A result of a megabyte does not make an answer of a megabyte."""
    report = run(contents=({"tool": "Read", "args": {"path": "a"}, "result": "y" * 1_000_000},))
    content = json.loads(jsonl.line(report))["findings"][0]["content"]
    assert content["args"] == '{"path": "a"}'
    assert content["result"] == "y" * 2000 + "… (1000000 characters)"


def test_content_that_is_nested_too_deeply_is_not_shown():
    """What cannot be written as JSON is named by its kind."""
    deep = []
    for _ in range(100_000):
        deep = [deep]
    content = json.loads(jsonl.line(run(contents=({"args": deep},))))["findings"][0]["content"]
    assert content == {"args": "(list that cannot be shown)"}
