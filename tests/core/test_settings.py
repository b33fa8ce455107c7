"""Options: what is refused and how it is said, what wins over what, what switches things off."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unstuck.config import Options, environment_settings, toml_settings
from unstuck.detectors.budget import Budget
from unstuck.detectors.cycle import Cycle
from unstuck.detectors.detector import Detector
from unstuck.detectors.empty_answers import EmptyAnswers
from unstuck.detectors.praisonai_rules import CallsInSpan, PingPong
from unstuck.detectors.pydantic_deep_rules import TwoCallsInTurn
from unstuck.detectors.recovered_ground import RecoveredGround
from unstuck.detectors.repeated_result import RepeatedResult
from unstuck.detectors.stalled import Stalled
from unstuck.detectors.windowed import HIGHEST_SPAN, WindowedAlternation, WindowedCall, WindowedResult
from unstuck.errors import SettingsError, UnstuckError
from unstuck.events import Event
from unstuck.findings import Level
from unstuck.ladder import Ladder
from unstuck.monitor import Monitor
from unstuck.policy import Policy
from unstuck.presets import PRESETS, preset
from unstuck.testing import call, message, result

NO_NUMBERS = [False, True, 0, 1, -1, -3, 2.0, 2.5, float("nan"), "3", "", [], {}, b"3"]
BELOW_TWO = (0, 1, -1, -3)


def refused(make: Callable[[], Any], field: str, value: Any = ...) -> SettingsError:
    """The refusal of *make*, which names *field* and *value* and says what to write instead; it survives pickling."""
    with pytest.raises(SettingsError) as caught:
        make()
    error = caught.value
    assert error.field == field
    if value is not ...:
        one_of = isinstance(value, list) and error.value in value
        assert error.value is value or error.value == value or one_of or value != value  # noqa: PLR0124 - NaN
    assert str(error) == f"{field}={error.value!r}: {error.problem}; {error.way_out}"
    assert error.problem
    assert len(error.way_out) > 8
    assert isinstance(error, UnstuckError)
    assert isinstance(error, ValueError)
    if not callable(value):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    return error


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize("rung", ["nudge", "block", "stop"])
def test_a_rung_is_a_whole_number_of_at_least_two(rung: str, value: Any):
    """Neither booleans nor zero nor text nor fractions; the way out names `None` for off."""
    assert "None" in refused(lambda: Ladder(**{rung: value}), rung, value).way_out
    change = {"repeated_result": {"nudge": None, "block": None, "stop": None, rung: value}}
    assert "None" in refused(lambda: Options(detectors=change), f"detectors.repeated_result.{rung}", value).way_out


@pytest.mark.parametrize(
    ("rungs", "field"),
    [
        ({"nudge": 5, "block": 5}, "block"),
        ({"nudge": 5, "block": 3}, "block"),
        ({"nudge": 5, "stop": 5}, "stop"),
        ({"block": 5, "stop": 4}, "stop"),
        ({"nudge": 2, "block": 9, "stop": 9}, "stop"),
        ({"nudge": 9, "block": None, "stop": 3}, "stop"),
        ({}, "ladder"),
        ({"nudge": None, "block": None, "stop": None}, "ladder"),
    ],
    ids=repr,
)
def test_a_rung_that_a_later_one_overtakes_is_refused(rungs: dict[str, int | None], field: str):
    """Each rung lies above the one before; a ladder without rungs is no ladder."""
    refused(lambda: Ladder(**rungs), field)


@pytest.mark.parametrize(
    "rungs", [(2, None, None), (None, 2, None), (None, None, 2), (2, 3, 4), (2, None, 3), (10**6, 10**7, None)]
)
def test_any_rungs_in_order_make_a_ladder(rungs: tuple[int | None, ...]):
    """`None` leaves a rung out, wherever it stands."""
    ladder = Ladder(*rungs)
    assert tuple(ladder) == rungs
    assert ladder.level(ladder.first - 1) == Level.CONTINUE
    assert ladder.level(10**8) == max(level for level, rung in zip((2, 3, 4), rungs, strict=True) if rung is not None)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"preset": "defualt"}, "preset"),
        ({"preset": None}, "preset"),
        ({"preset": ["default"]}, "preset"),
        ({"shadow": 1}, "shadow"),
        ({"shadow": "true"}, "shadow"),
        ({"shadow": None}, "shadow"),
        ({"strongest": "observe"}, "strongest"),
        ({"strongest": "continue"}, "strongest"),
        ({"strongest": None}, "strongest"),
        ({"strongest": Level.STOP}, "strongest"),
        ({"strongest": ["stop"]}, "strongest"),
        *(({"ceiling": value}, "ceiling") for value in (None, 9, 1_001, 0, -1, True, False, 100.0, "100")),
        *(({"window": value}, "window") for value in (None, 7, 1_025, 0, -8, True, 64.0, "64")),
        *(({"approved_repeats": value}, "approved_repeats") for value in (None, 0, -1, 1_001, True, 3.0, "3")),
        ({"exempt": "think"}, "exempt"),
        ({"exempt": None}, "exempt"),
        ({"exempt": [""]}, "exempt"),
        ({"exempt": [1]}, "exempt"),
        ({"exempt": ["to*do"]}, "exempt"),
        ({"exempt": ["*_get"]}, "exempt"),
        ({"identity": ["search"]}, "identity"),
        ({"identity": {"search": "query"}}, "identity.search"),
        ({"identity": {"search": [1]}}, "identity.search"),
        ({"identity": {"search*": ["query"]}}, "identity.search*"),
        ({"identity": {"": ["query"]}}, "identity"),
        ({"kinds": {"ask": "reads"}}, "kinds.ask"),
        ({"kinds": {"ask": None}}, "kinds.ask"),
        ({"kinds": {"ask": ["read"]}}, "kinds.ask"),
        ({"kinds": {"a*k": "read"}}, "kinds.a*k"),
        ({"kinds": "read"}, "kinds"),
        ({"words": {"reads": ["peek"]}}, "words.reads"),
        ({"words": {"read": "peek"}}, "words.read"),
        ({"words": {"read": [None]}}, "words.read"),
        ({"words": ["peek"]}, "words"),
        ({"detectors": None}, "detectors"),
        ({"detectors": ["cycle"]}, "detectors"),
        ({"detectors": {"cycles": None}}, "detectors.cycles"),
        ({"detectors": {"alternating_calls": {"nudge": 3}}}, "detectors.alternating_calls"),
        ({"detectors": {"cycle": False}}, "detectors.cycle"),
        ({"detectors": {"cycle": True}}, "detectors.cycle"),
        ({"detectors": {"cycle": 0}}, "detectors.cycle"),
        ({"detectors": {"cycle": 3}}, "detectors.cycle"),
        ({"detectors": {"cycle": "off"}}, "detectors.cycle"),
        ({"detectors": {"cycle": [3, 4, 6]}}, "detectors.cycle"),
        ({"detectors": {"cycle": {"nudges": 3}}}, "detectors.cycle"),
        ({"detectors": {"cycle": Cycle}}, "detectors.cycle"),
        ({"detectors": {"cycle": RepeatedResult()}}, "detectors.cycle"),
        ({"detectors": {"mine": RepeatedResult()}}, "detectors.mine"),
        ({"detectors": {"cycle": {"nudge": 4}}}, "detectors.cycle.block"),
        ({"detectors": {"cycle": {"stop": 4}}}, "detectors.cycle.stop"),
        ({"detectors": {"cycle": {"nudge": None, "block": None, "stop": None}}}, "detectors.cycle.ladder"),
        ({"detectors": {"empty_answers": {"block": 12}}}, "detectors.empty_answers.block"),
        ({"detectors": {"monologue": Ladder(nudge=4, block=5)}}, "detectors.monologue.block"),
        ({"detectors": {"oscillation": {"block": 4}}}, "detectors.oscillation.block"),
        ({"detectors": {"stalled": {"stop": 9}}}, "detectors.stalled.stop"),
        ({"detectors": {"recovered_ground": {"stop": 33}}}, "detectors.recovered_ground.stop"),
        ({"preset": "pydantic-ai-harness", "detectors": {"repeated_call": {"nudge": 11}}}, "detectors.repeated_call.span"),
        (
            {"preset": "pydantic-ai-harness", "detectors": {"alternating_calls": {"nudge": 6}}},
            "detectors.alternating_calls.span",
        ),
        ({"preset": "praisonai", "detectors": {"stuck_poll": {"block": 31}}}, "detectors.stuck_poll.span"),
        ({"preset": "pydantic-deep", "detectors": {"alternating_calls": {"nudge": 33}}}, "detectors.alternating_calls.span"),
        ({"plugins": ["nobody_wrote_this"]}, "plugins"),
        ({"plugins": "cycle"}, "plugins"),
        ({"wording": "You loop."}, "wording"),
        ({"wording": 3}, "wording"),
        ({"celing": 50}, "celing"),
        ({"max_loops": 3}, "max_loops"),
    ],
    ids=repr,
)
def test_what_cannot_be_or_could_never_act_is_refused(settings: dict[str, Any], field: str):
    """By the option's own name, with what was given and what to write instead."""
    given = settings.get(field, ...)
    refused(lambda: Options(**settings), field, given)


@pytest.mark.parametrize("name", ["ceiling", "window", "approved_repeats"])
@pytest.mark.parametrize("value", [None, 0, "off"])
def test_no_way_out_offers_none_where_none_is_refused(name: str, value: Any):
    """The ceiling, the window and the bound of approvals cannot be off, so nobody is told to switch them off."""
    assert "None" not in refused(lambda: Options(**{name: value}), name).way_out


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Policy(shadow=1), "policy.shadow"),
        (lambda: Policy(one_per_round=None), "policy.one_per_round"),
        (lambda: Policy(consume="no"), "policy.consume"),
        (lambda: Policy(strongest=Level.OBSERVE), "policy.strongest"),
        (lambda: Policy(strongest=Level.CONTINUE), "policy.strongest"),
        (lambda: Policy(strongest=4), "policy.strongest"),
        (lambda: Policy(strongest="stop"), "policy.strongest"),
        (lambda: Policy(ceiling=9), "policy.ceiling"),
        (lambda: Policy(ceiling=1_001), "policy.ceiling"),
        (lambda: Policy(ceiling=None), "policy.ceiling"),
        (lambda: RepeatedResult((3, 5, 8)), "repeated_result.ladder"),
        (lambda: RepeatedResult(3), "repeated_result.ladder"),
        (lambda: EmptyAnswers(Ladder(block=8)), "empty_answers.block"),
        (lambda: EmptyAnswers().with_ladder(Ladder(nudge=3, block=8)), "empty_answers.block"),
        (lambda: Stalled(Ladder(stop=3)), "stalled.stop"),
        (lambda: RecoveredGround(Ladder(nudge=33)), "recovered_ground.nudge"),
        (lambda: WindowedCall(span=4), "repeated_call.span"),
        (lambda: WindowedCall(Ladder(nudge=11)), "repeated_call.span"),
        (lambda: WindowedCall(Ladder(nudge=3, stop=11)), "repeated_call.span"),
        (lambda: WindowedCall().with_ladder(Ladder(nudge=11)), "repeated_call.span"),
        (lambda: WindowedResult(span=True), "repeated_result.span"),
        (lambda: WindowedResult(span=1), "repeated_result.span"),
        (lambda: WindowedResult(span=10.0), "repeated_result.span"),
        (lambda: WindowedResult(span=HIGHEST_SPAN + 1), "repeated_result.span"),
        (lambda: WindowedCall(Ladder(nudge=3, block=5)), "repeated_call.block"),
        (lambda: WindowedAlternation(span=5), "alternating_calls.span"),
        (lambda: TwoCallsInTurn(span=5), "alternating_calls.span"),
        (lambda: CallsInSpan(span=19), "repeated_call.span"),
        (lambda: PingPong(Ladder(nudge=10, block=31)), "alternating_calls.span"),
        (Budget, "budget"),
        (lambda: Budget(calls=0), "budget.calls"),
        (lambda: Budget(calls=2.5), "budget.calls"),
        (lambda: Budget(tokens=True), "budget.tokens"),
        (lambda: Budget(minutes=float("nan")), "budget.minutes"),
        (lambda: Budget(money=1.0), "budget.price"),
    ],
)
def test_values_refuse_the_same_when_they_are_made_by_hand(make: Callable[[], Any], field: str):
    """Policies and detectors check themselves, also when a ladder is exchanged later."""
    refused(make, field)


def test_what_lies_just_within_the_bounds_is_taken():
    """The bounds belong to what is allowed."""
    rules = Options(ceiling=10, window=8, approved_repeats=1, exempt=["*"], kinds={"a*": "read"}).rules()
    assert (rules.policy.ceiling, rules.reading.window, rules.reading.approved_repeats) == (10, 8, 1)
    rules = Options(ceiling=1_000, window=1_024, approved_repeats=1_000).rules()
    assert (rules.policy.ceiling, rules.reading.window, rules.reading.approved_repeats) == (1_000, 1_024, 1_000)
    assert WindowedCall(Ladder(nudge=10)).span == 10
    assert RecoveredGround(Ladder(nudge=5, stop=32)).ladder.stop == 32


def level_at(options: Options, events: list[Event]) -> Level:
    """The strongest decision on *events*."""
    monitor = Monitor(options.rules())
    return max(monitor.observe(event).level for event in events)


def same_call(times: int, **fields: Any) -> list[Event]:
    """One exchange, *times* over."""
    return [
        event
        for number in range(times)
        for event in (message(number), call(args={"path": "a"}, message=number, **fields), result("the same"))
    ]


@pytest.mark.parametrize(
    ("change", "level"),
    [
        ({}, Level.STOP),
        ({"repeated_result": None}, Level.CONTINUE),
        ({"repeated_result": {"stop": None}}, Level.BLOCK),
        ({"repeated_result": {"stop": None, "block": None}}, Level.NUDGE),
        ({"repeated_result": {"nudge": None, "block": None}}, Level.STOP),
        ({"repeated_result": {"nudge": 21, "block": 22, "stop": 23}}, Level.CONTINUE),
        ({"repeated_result": Ladder(block=4)}, Level.BLOCK),
        ({"repeated_result": RepeatedResult(Ladder(nudge=20))}, Level.NUDGE),
    ],
    ids=repr,
)
def test_none_switches_a_detector_or_a_rung_off(change: dict[str, Any], level: Level):
    """And a ladder, a detector or some rungs change it; what is not named stays."""
    assert level_at(Options(detectors=change), same_call(20)) == level


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_detector_can_be_switched_off(name: str):
    """One by one, and all of them: what is left is what was there without it."""
    patterns = [detector.pattern for detector in preset(name).detectors]
    for pattern in patterns:
        left = Options(preset=name, detectors={pattern: None}).rules().detectors
        assert [detector.pattern for detector in left] == [other for other in patterns if other != pattern]
    assert Options(preset=name, detectors=dict.fromkeys(patterns)).rules().detectors == ()
    assert level_at(Options(preset=name, detectors=dict.fromkeys(patterns)), same_call(30)) == Level.CONTINUE


@pytest.mark.parametrize("strongest", ["nudge", "block", "stop"])
@pytest.mark.parametrize("name", sorted(PRESETS))
def test_strongest_caps_every_preset(name: str, strongest: str):
    """No decision goes beyond it, and no preset refuses it."""
    rules = Options(preset=name, strongest=strongest).rules()
    assert rules.policy.strongest == Level.named(strongest)
    assert Level.NUDGE <= level_at(Options(preset=name, strongest=strongest), same_call(40)) <= Level.named(strongest)


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
    assert level({"empty": ["nada0", "nada1"]}, "probe", lambda n: {"p": f"x{n}"}, lambda n: f"nada{n % 2}") == Level.NUDGE


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
