"""Options from files, from the environment and from other packages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.core.settings import level_at, refused
from unstuck.config import Options, environment_settings, toml_settings
from unstuck.detectors.detector import Detector
from unstuck.errors import SettingsError
from unstuck.events import Event
from unstuck.findings import Level
from unstuck.ladder import Ladder
from unstuck.presets import preset
from unstuck.testing import call, message, result

FILES = {
    "pyproject.toml": '[tool.unstuck]\nceiling = 21\nwindow = 21\napproved_repeats = 21\nexempt = ["p"]\n'
    "[tool.unstuck.kinds]\na = 'read'\nb = 'read'\n[tool.unstuck.detectors]\ncycle = 'off'\nrepeated_call = { nudge = 5 }\n",
    "unstuck.toml": 'ceiling = 22\nwindow = 22\nexempt = ["u"]\n[kinds]\nb = "write"\n[detectors]\nrepeated_call = "off"\n',
}


def write(folder: Path, **names: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in names.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")


def test_python_over_environment_over_unstuck_toml_over_pyproject(tmp_path: Path):
    """The first that names an option wins; tables are merged entry by entry, everything else is replaced."""
    write(tmp_path, pyproject_toml=FILES["pyproject.toml"], unstuck_toml=FILES["unstuck.toml"])
    environ = {"UNSTUCK_CEILING": "23", "UNSTUCK_EXEMPT": "e, f_*,"}
    rules = Options.load(tmp_path, environ).rules()
    assert (rules.policy.ceiling, rules.reading.window, rules.reading.approved_repeats) == (23, 22, 21)
    assert rules.reading.exempt == {"e", "f_*"}
    assert dict(rules.reading.kinds.table) == {"a": "read", "b": "write"}
    assert {"cycle", "repeated_call"}.isdisjoint(detector.pattern for detector in rules.detectors)
    rules = Options.load(tmp_path, environ, ceiling=24, kinds={"c": "wait"}, detectors={"cycle": {"stop": 9}}).rules()
    assert rules.policy.ceiling == 24
    assert dict(rules.reading.kinds.table) == {"a": "read", "b": "write", "c": "wait"}
    assert {detector.pattern: detector.ladder for detector in rules.detectors}["cycle"] == Ladder(3, 4, 9)


def test_of_each_file_the_nearest_counts(tmp_path: Path):
    """They are looked for from the folder upwards, each on its own; a nearer one hides the farther one altogether."""
    write(tmp_path, pyproject_toml="[tool.unstuck]\nwindow = 21\nceiling = 21\n", unstuck_toml="approved_repeats = 31\n")
    inner = tmp_path / "a" / "b"
    write(tmp_path / "a", pyproject_toml="[tool.unstuck]\nwindow = 22\n")
    inner.mkdir()
    rules = Options.load(inner).rules()
    assert (rules.reading.window, rules.policy.ceiling, rules.reading.approved_repeats) == (22, 100, 31)
    assert Options.load(tmp_path).rules().policy.ceiling == 21


def test_without_files_and_variables_the_preset_holds(tmp_path: Path):
    """And the process's own environment is looked at only where it is given."""
    assert Options.load(tmp_path, {"PATH": "/bin"}).rules() == preset("default")
    assert Options().rules() == preset("default")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("ceiling = ", "{path}"),
        ("[detectors\n", "{path}"),
        ("a = 1\na = 2\n", "{path}"),
        ("\x00", "{path}"),
        ("celing = 50", "celing"),
        ("wording = 'x'", "wording"),
        ("approved-repeats = 3\napproved_repeats = 4\n", "approved_repeats"),
        ("ceiling = 'off'", "ceiling"),
        ("shadow = 'off'", "shadow"),
        ("strongest = 'off'", "strongest"),
        ("preset = 'off'", "preset"),
        ("window = 'off'", "window"),
        ("exempt = 'off'", "exempt"),
        ("detectors = 'off'", "detectors"),
        ("kinds = { a = 'off' }", "kinds.a"),
        ("ceiling = 50.0", "ceiling"),
        ("ceiling = true", "ceiling"),
        ("ceiling = '50'", "ceiling"),
        ("[detectors]\ncycle = false", "detectors.cycle"),
        ("[detectors]\ncycle = 0", "detectors.cycle"),
        ("[detectors]\ncycle = { nudge = false }", "detectors.cycle.nudge"),
        ("[detectors]\ncycle = { nudge = 0 }", "detectors.cycle.nudge"),
        ("[detectors]\ncycle = { nudge = 9 }", "detectors.cycle.block"),
        ("[detectors]\nno_such = 'off'", "detectors.no_such"),
        ("[detectors]\nno_such = { nudge = 3 }", "detectors.no_such"),
    ],
    ids=repr,
)
def test_a_file_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, field: str):
    """Broken TOML by the file's name, a wrong option by its own; both in `unstuck.toml` and in `pyproject.toml`."""
    write(tmp_path, unstuck_toml=text)
    path = tmp_path / "unstuck.toml"
    refused(lambda: Options.load(tmp_path), field.format(path=path))
    refused(lambda: Options.from_toml(path), field.format(path=path))


WORDED = [
    (
        "ceiling = 'off'",
        "ceiling='off': a whole number is needed (from {path}); give a whole number",
    ),
    (
        "[detectors]\ncycle = { nudge = 9 }",
        (
            "detectors.cycle.block=4: nudge comes at 9 and this rung would come no later (from {path}); "
            'make block larger than nudge=9, or "off" to leave it out'
        ),
    ),
    (
        "[detectors]\ncycle = { nudge = 1 }",
        'detectors.cycle.nudge=1: the least that can work is 2 (from {path}); give 2 or more, or "off" to switch it off',
    ),
    (
        "[detectors]\ncycle = { nudge = 'off', block = 'off', stop = 'off' }",
        (
            "detectors.cycle={{'nudge': 'off', 'block': 'off', 'stop': 'off'}}: no rung is left, so nothing would ever happen "
            '(from {path}); give "off" in place of the rungs to leave the detector out'
        ),
    ),
    (
        "[detectors]\ncycle = false",
        (
            "detectors.cycle=False: rungs are needed (from {path}); "
            'give {{ nudge = 3, block = 5, stop = 8 }}, leave some out, or give "off" to leave the detector out'
        ),
    ),
    (
        "kinds = 3",
        "kinds=3: a table from names to values is needed (from {path}); give a table with text keys",
    ),
]


@pytest.mark.parametrize(("text", "said"), WORDED, ids=[text for text, _ in WORDED])
@pytest.mark.parametrize("load", [Options.from_toml, lambda path: Options.load(path.parent)], ids=["from_toml", "load"])
def test_what_is_wrong_in_a_file_is_said_in_the_words_of_files(
    tmp_path: Path, text: str, said: str, load: Callable[[Path], Options]
):
    """The file is named, and the way out is one that can be written there: TOML has no `None`."""
    path = tmp_path / "unstuck.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(SettingsError) as caught:
        load(path)
    assert str(caught.value) == said.format(path=path)
    assert "None" not in str(caught.value)


def test_the_door_that_a_setting_came_through_is_named(tmp_path: Path):
    """Of file, environment and Python the one that decided, in tables for each entry; Python keeps its own words."""
    write(tmp_path, unstuck_toml="ceiling = 5\n[detectors]\ncycle = { nudge = 9 }\nrepeated_result = { nudge = 9 }\n")
    environ = {"UNSTUCK_CEILING": "6"}
    good = {"cycle": {"nudge": 2}, "repeated_result": {"nudge": 2}}
    assert "(from UNSTUCK_CEILING)" in refused(lambda: Options.load(tmp_path, environ, detectors=good), "ceiling", 6).problem
    error = refused(lambda: Options.load(tmp_path, environ, ceiling=7, detectors=good), "ceiling", 7)
    assert "from" not in error.problem
    mine = {"cycle": {"nudge": 8}}
    error = refused(lambda: Options.load(tmp_path, ceiling=10, detectors=mine), "detectors.cycle.block", 4)
    assert ("from" in error.problem, "None" in error.way_out) == (False, True)
    mine = {"cycle": {"nudge": 2}}
    error = refused(lambda: Options.load(tmp_path, ceiling=10, detectors=mine), "detectors.repeated_result.block")
    assert ("unstuck.toml" in error.problem, "None" in error.way_out) == (True, False)


def test_a_file_that_cannot_be_read_has_no_value(tmp_path: Path):
    """The message begins with its name and the reason, not with a value that nobody gave."""
    write(tmp_path, unstuck_toml="[detectors")
    with pytest.raises(SettingsError, match=r"unstuck\.toml: this file cannot be read: .*; correct it or remove it"):
        Options.load(tmp_path)


@pytest.mark.parametrize("text", ["tool = 3", "[tool]\nunstuck = 3", "[tool]\nunstuck = ['ceiling']"])
def test_a_pyproject_whose_table_is_none(tmp_path: Path, text: str):
    """A `tool` that is no table is not ours to judge; a `tool.unstuck` that is none is refused with the file's name."""
    write(tmp_path, pyproject_toml=text)
    if text == "tool = 3":
        assert Options.load(tmp_path).rules() == preset("default")
    else:
        assert str(tmp_path) in refused(lambda: Options.load(tmp_path), "tool.unstuck").problem


def test_an_unknown_option_in_a_file_is_named_with_the_file(tmp_path: Path):
    """So that of several files the right one is opened."""
    write(tmp_path, unstuck_toml="celing = 50")
    error = refused(lambda: toml_settings(tmp_path / "unstuck.toml"), "celing")
    assert str(tmp_path / "unstuck.toml") in error.problem
    assert "ceiling" in error.way_out


def test_files_that_are_no_text_or_not_there_are_named(tmp_path: Path):
    """As what cannot be read, with the reason."""
    (tmp_path / "unstuck.toml").write_bytes(b"\xff\xfe")
    refused(lambda: Options.load(tmp_path), str(tmp_path / "unstuck.toml"))
    refused(lambda: Options.from_toml(tmp_path / "none.toml"), str(tmp_path / "none.toml"))


def test_off_in_a_file_is_none(tmp_path: Path):
    """For a detector and for a rung; dashes in option names are the same as underscores."""
    text = "approved-repeats = 4\n[detectors]\ncycle = 'off'\nrepeated_result = { stop = 'off', block = 9 }\n"
    write(tmp_path, unstuck_toml=text)
    rules = Options.from_toml(tmp_path / "unstuck.toml").rules()
    ladders = {detector.pattern: detector.ladder for detector in rules.detectors}
    assert "cycle" not in ladders
    assert ladders["repeated_result"] == Ladder(3, 9, None)
    assert rules.reading.approved_repeats == 4


@pytest.mark.parametrize(
    ("name", "text", "option", "value"),
    [
        ("UNSTUCK_SHADOW", "true", "shadow", True),
        ("UNSTUCK_SHADOW", "0", "shadow", False),
        ("UNSTUCK_SHADOW", " FALSE ", "shadow", False),
        ("UNSTUCK_CEILING", " 50 ", "ceiling", 50),
        ("UNSTUCK_STRONGEST", "block", "strongest", "block"),
        ("UNSTUCK_PRESET", "praisonai", "preset", "praisonai"),
        ("UNSTUCK_EXEMPT", "a,b_*, ,c", "exempt", ["a", "b_*", "c"]),
        ("UNSTUCK_EXEMPT", "", "exempt", []),
    ],
)
def test_a_variable_is_read_as_its_option(name: str, text: str, option: str, value: Any):
    """Numbers, true and false, names between commas."""
    assert environment_settings({name: text, "HOME": "/", "UNSTUCK_HOME": "/x"}) == {option: value}


@pytest.mark.parametrize(
    ("name", "text", "field"),
    [
        ("UNSTUCK_SHADOW", "yes", "UNSTUCK_SHADOW"),
        ("UNSTUCK_SHADOW", "", "UNSTUCK_SHADOW"),
        ("UNSTUCK_CEILING", "many", "UNSTUCK_CEILING"),
        ("UNSTUCK_CEILING", "", "UNSTUCK_CEILING"),
        ("UNSTUCK_CEILING", "-5", "UNSTUCK_CEILING"),
        ("UNSTUCK_CEILING", "1e2", "UNSTUCK_CEILING"),
        ("UNSTUCK_CEILING", "off", "UNSTUCK_CEILING"),
        ("UNSTUCK_CEILING", "5", "ceiling"),
        ("UNSTUCK_WINDOW", "7.5", "UNSTUCK_WINDOW"),
        ("UNSTUCK_STRONGEST", "kill", "strongest"),
        ("UNSTUCK_PRESET", "", "preset"),
        ("UNSTUCK_PLUGINS", "nobody_wrote_this", "plugins"),
        ("UNSTUCK_CELING", "50", "UNSTUCK_CELING"),
        ("UNSTUCK_DETECTORS", "cycle", "UNSTUCK_DETECTORS"),
        ("UNSTUCK_WORDING", "x", "UNSTUCK_WORDING"),
    ],
)
def test_a_variable_that_cannot_be_meant_is_refused(tmp_path: Path, name: str, text: str, field: str):
    """Also one that is no setting, which would otherwise be passed over in silence."""
    refused(lambda: Options.load(tmp_path, {name: text}), field)


def test_added_words_change_what_is_seen():
    """Each list of words that can be extended has an effect on the judgement of a run."""

    def level(
        words: dict[str, list[str]], tool: str, args: Callable[[int], Any], content: Callable[[int], str], times: int = 9
    ) -> Level:
        events: list[Event] = []
        for number in range(times):
            events += [message(number), call(tool, args(number), message=number), result(content(number))]
        return level_at(Options(words=words), events)

    def changing(n: int) -> str:
        return f"build: a{n}b{n * 7} of the house is ready and stands"

    assert level({}, "probe", lambda _: {"p": 1}, changing) == Level.NUDGE  # as a call whose answers say nothing new
    assert level({"volatile_fields": ["Build"]}, "probe", lambda _: {"p": 1}, changing) == Level.STOP

    def wordy(n: int) -> dict[str, str]:
        return {"path": "a.txt", "motive": f"because of m{n} and n{n} and o{n} and q{n}"}

    assert level({}, "search", wordy, lambda _: "short") == Level.CONTINUE
    assert level({"remark_fields": ["motive"]}, "search", wordy, lambda _: "short") >= Level.NUDGE
    assert level({"limit_fields": ["Motive"]}, "search", wordy, lambda _: "short") >= Level.NUDGE
    assert level({}, "hark", lambda _: {"p": 1}, lambda _: "same") == Level.STOP
    assert level({"wait": ["hark"]}, "hark", lambda _: {"p": 1}, lambda _: "same") == Level.NUDGE
    assert level({}, "probe", lambda n: {"p": f"x{n}"}, lambda n: f"nada{n % 2}") == Level.CONTINUE
    assert (
        level({"empty": ["nada0", "nada1"]}, "probe", lambda n: {"p": f"is x{n} in y{n}"}, lambda n: f"nada{n % 2}")
        == Level.NUDGE
    )


class Ours(Detector):
    """A detector of a third party."""

    pattern = "ours"
    moments = frozenset(("result",))
    rungs = Ladder(nudge=3)

    def look(self, view: Any) -> None:
        return None


class Entry:
    """An installed entry point."""

    def __init__(self, name: str, made: Any) -> None:
        self.name = name
        self.made = made

    def load(self) -> Any:
        if isinstance(self.made, Exception):
            raise self.made
        return self.made


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three packages that bring detectors: a good one, one that fails, one that brings something else."""
    entries = [Entry("ours", Ours), Entry("broken", ImportError("no module named x")), Entry("other", dict)]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries if group == "unstuck.detectors" else [])


def test_an_installed_detector_is_added_and_tuned_like_the_others(installed: None):
    """By the name of its entry point; its rungs change and it is switched off as any other's."""
    assert Options(plugins=["ours"]).rules().detectors[-1] == Ours()
    assert Options(plugins=["ours", "ours"]).rules().detectors.count(Ours()) == 1
    tuned = Options(plugins=["ours"], detectors={"ours": {"nudge": 4}}).rules().detectors[-1]
    assert tuned.ladder == Ladder(nudge=4)
    assert Ours() not in Options(plugins=["ours"], detectors={"ours": None}).rules().detectors


@pytest.mark.parametrize("name", ["broken", "other", "unheard_of"])
def test_an_installed_detector_that_is_none_is_refused(installed: None, name: str):
    """One that fails to load, one that is something else, one that is not there: by name."""
    refused(lambda: Options(plugins=[name]), "plugins", name)


def test_a_setting_shows_how_it_was_made():
    """`repr` reads like the call."""
    assert repr(Options(ceiling=50, exempt=["a"])) == "Options(ceiling=50, exempt=['a'])"
