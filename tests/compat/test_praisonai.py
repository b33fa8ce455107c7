"""
`unstuck.compat.praisonai` beside the published `praisonaiagents.agent.loop_detection`, and the preset `praisonai`.

What compares with PraisonAI, or runs inside it, skips where that is absent.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unstuck.compat.praisonai as ours
from unstuck.compat.praisonai import (
    LoopDetectionConfig,
    detect_tool_loop,
    hash_tool_call,
    record_tool_call,
    record_tool_outcome,
    reset_matching_history,
)
from unstuck.errors import SettingsError
from unstuck.findings import Level
from unstuck.monitor import Monitor
from unstuck.presets import preset
from unstuck.testing import call, result

ON = LoopDetectionConfig(enabled=True)


def ask(module: Any, history: Any, config: Any, tool: str, args: Any) -> Any:
    """Record a call and ask about it, as PraisonAI does before each."""
    module.record_tool_call(history, tool, args, config)
    return module.detect_tool_loop(history, tool, args, config)


def levels(exchanges: list[tuple[str, Any, Any]], config: LoopDetectionConfig = ON) -> list[str]:
    """The verdict before each exchange: its level's first letter, `.` where nothing was found."""
    history: list[Any] = []
    found = []
    for tool, args, came in exchanges:
        found.append(ask(ours, history, config, tool, args).get("level", ".")[0])
        record_tool_outcome(history, tool, args, came, config)
    return found


def test_defaults_are_as_published():
    """Off unless asked for; 30, 10 and 20; all three detectors on."""
    config = LoopDetectionConfig()
    assert (config.enabled, config.history_size, config.warn_threshold, config.critical_threshold) == (False, 30, 10, 20)
    assert config.detectors == {"generic_repeat": True, "poll_no_progress": True, "ping_pong": True}


def test_critical_is_moved_above_warn():
    """The one correction that is documented: a critical threshold not above the other becomes one more."""
    assert LoopDetectionConfig(warn_threshold=10, critical_threshold=5).critical_threshold == 11


@pytest.mark.parametrize(
    "settings",
    [
        {"history_size": 0},
        {"warn_threshold": 0},
        {"critical_threshold": -1},
        {"warn_threshold": 2.5},
        {"history_size": True},
        {"detectors": {"pingpong": False}},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(settings):
    """What the original let through to fail or to be ignored later is refused, and the message names the field."""
    with pytest.raises(SettingsError) as caught:
        LoopDetectionConfig(**settings)
    assert str(caught.value).startswith(next(iter(settings)))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("t", {"a": 1, "b": {"c": 2, "d": 3}}), ("t", {"b": {"d": 3, "c": 2}, "a": 1}), True),
        (("t", (1, 2)), ("t", [1, 2]), True),
        (("t", {"a": 1}), ("t", {"a": 2}), False),
        (("t", {"a": 1}), ("u", {"a": 1}), False),
        (("t", {"a": 1}), ("t", '{"a": 1}'), False),
        (("t", None), ("t", {}), False),
    ],
)
def test_which_calls_are_the_same(one, other, same):
    """Keys in any order and tuples for lists are the same call; JSON text is not its object; the identity is 16 hex digits."""
    assert (hash_tool_call(*one) == hash_tool_call(*other)) is same
    assert len(hash_tool_call(*one)) == 16
    int(hash_tool_call(*one), 16)


def test_a_record_has_the_published_shape():
    """Name, identity, result and time; the result is filled in afterwards; the oldest records go first."""
    history: list[Any] = []
    record_tool_call(history, "search", {"q": "x"}, ON)
    assert set(history[0]) == {"tool_name", "args_hash", "result_hash", "timestamp"}
    assert history[0]["result_hash"] is None
    record_tool_outcome(history, "search", {"q": "x"}, "found", ON)
    assert len(history[0]["result_hash"]) == 16
    for number in range(40):
        record_tool_call(history, "search", {"q": number}, LoopDetectionConfig(history_size=5))
    assert [record["args_hash"] for record in history] == [hash_tool_call("search", {"q": n}) for n in range(35, 40)]


def test_an_allowed_call_gets_a_fresh_window():
    """`reset_matching_history` drops the records of this call alone and says how many."""
    history: list[Any] = []
    for args in ({"q": 1}, {"q": 2}, {"q": 1}):
        record_tool_call(history, "search", args, ON)
    assert reset_matching_history(history, "search", {"q": 1}) == 2
    assert [record["args_hash"] for record in history] == [hash_tool_call("search", {"q": 2})]


def test_nothing_is_detected_unless_it_is_on():
    """Without a config, or with one that is not enabled, the verdict is `stuck: False` and nothing else."""
    history: list[Any] = [
        ours.ToolCallRecord(tool_name="t", args_hash=hash_tool_call("t", 1), result_hash=None, timestamp=0)
    ] * 50
    assert detect_tool_loop(history, "t", 1) == {"stuck": False}
    assert detect_tool_loop(history, "t", 1, LoopDetectionConfig()) == {"stuck": False}


STUCK = [("read", {"p": "a"}, "same")]
POLL = [("job_status", {"id": 1}, "pending")]
TURNS = [("read", {"p": "a"}, "x"), ("list", {}, "y")]


@pytest.mark.parametrize(
    ("exchanges", "detector", "warned", "blocked"),
    [(STUCK * 25, "generic_repeat", 10, 20), (POLL * 25, "poll_no_progress", 11, 21), (TURNS * 13, "ping_pong", 10, 20)],
)
def test_a_loop_is_warned_at_ten_and_critical_at_twenty(exchanges, detector, warned, blocked):
    """Each detector warns and blocks where it is documented to, and from there on at every call; the count is a true one."""
    history: list[Any] = []
    seen = []
    for tool, args, came in exchanges:
        seen.append(ask(ours, history, ON, tool, args))
        record_tool_outcome(history, tool, args, came, ON)
    level = [verdict.get("level") for verdict in seen]
    assert level[: warned - 1] == [None] * (warned - 1)
    assert level[warned - 1 : blocked - 1] == ["warning"] * (blocked - warned)
    assert level[blocked - 1 :] == ["critical"] * (len(exchanges) - blocked + 1)
    assert (seen[warned - 1]["detector"], seen[warned - 1]["count"]) == (detector, 10)
    assert set(seen[-1]) == {"stuck", "level", "detector", "message", "count"}


@pytest.mark.parametrize(
    ("exchanges", "detector"), [(STUCK, "generic_repeat"), (POLL, "poll_no_progress"), (TURNS, "ping_pong")]
)
def test_detectors_can_be_switched_off_one_by_one(exchanges, detector):
    """A detector that is off finds nothing; one that is not named is on."""
    off = LoopDetectionConfig(enabled=True, warn_threshold=3, critical_threshold=60, detectors={detector: False})
    found = set()
    history: list[Any] = []
    for tool, args, came in exchanges * 30:
        found.add(ask(ours, history, off, tool, args).get("detector"))
        record_tool_outcome(history, tool, args, came, off)
    assert detector not in found


@pytest.mark.parametrize("tool", ["job_status", "get_job"])
def test_a_poll_that_changes_is_not_flagged(tool):
    """P2: an answer that differs breaks the streak, whatever the tool's name, as the documentation says."""
    assert set(levels([(tool, {"id": 1}, f"{number}%") for number in range(60)])) == {"."}


def test_the_answer_of_a_block_is_no_result():
    """P3: a stuck poll stays blocked although every block answers with another count."""
    history: list[Any] = []
    blocked = 0
    for _ in range(60):
        verdict = ask(ours, history, ON, "job_status", {"id": 1})
        came: Any = "pending"
        if verdict.get("level") == "critical":
            blocked += 1
            came = {"error": verdict["message"], "loop_blocked": True}
        record_tool_outcome(history, "job_status", {"id": 1}, came, ON)
    assert blocked == 40


def test_a_poll_that_returns_nothing_is_seen():
    """P5: `None` is an answer like another."""
    assert levels([("check", {}, None)] * 21)[9:] == ["."] + ["w"] * 10 + ["c"]


def test_a_threshold_above_the_default_history_is_reached():
    """P6: the documented polling recipe, 30 and 60, does block; a history size that was chosen holds."""
    recipe = LoopDetectionConfig(enabled=True, warn_threshold=30, critical_threshold=60)
    assert "".join(levels(STUCK * 70, recipe)) == "." * 29 + "w" * 30 + "c" * 11
    chosen = LoopDetectionConfig(enabled=True, history_size=5, warn_threshold=3, critical_threshold=6)
    assert "".join(levels(STUCK * 20, chosen)) == "." * 2 + "w" * 18


class Unspeakable:
    """A value whose text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"in": value}
    return value


@pytest.mark.parametrize("value", [{1: 2, "a": 3}, nested(3_000), "\udcff", Unspeakable(), float("nan")], ids=type)
def test_no_value_breaks_a_call(value):
    """P16: mixed keys, deep nesting, surrogates and values without text are counted like any other."""
    assert levels([("read", value, value)] * 10)[-1] == "w"


def test_a_verdict_belongs_to_its_caller():
    """P17: what one caller writes into a verdict is not in the next one."""
    detect_tool_loop([], "t", {})["stuck"] = True
    detect_tool_loop([], "t", {}, ON)["stuck"] = True
    assert detect_tool_loop([], "t", {}) == detect_tool_loop([], "t", {}, ON) == {"stuck": False}


def test_an_agent_without_a_history_is_served():
    """P1: where an agent's config was set before its first call, PraisonAI hands over `None`; the config keeps the calls then."""
    config = LoopDetectionConfig(enabled=True, warn_threshold=3, critical_threshold=5)
    seen = [ask(ours, None, config, "read", {}).get("level") for _ in range(5)]
    assert seen == [None, None, "warning", "warning", "critical"]
    record_tool_outcome(None, "read", {}, "x", config)
    assert reset_matching_history(None, "read", {}) == 0


TOOLS = st.sampled_from(["read", "list", "job_status", "scraping"])
EXCHANGES = st.lists(
    st.tuples(TOOLS, st.sampled_from([{"p": "a"}, {"p": "b"}]), st.sampled_from(["x", "x", "x", "y", None])), max_size=60
)


class TestBesidePraisonAI:
    """The same scripts with the published functions."""

    published: Any

    @pytest.fixture(autouse=True)
    def _published(self):
        self.published = pytest.importorskip("praisonaiagents.agent.loop_detection", reason="compares with PraisonAI")

    def test_the_module_can_be_imported_from_in_its_place(self):
        """Every public name of the published module that PraisonAI uses is here too."""
        names = {"LoopDetectionConfig", "LoopDetectionResult", "ToolCallRecord", "hash_tool_call", "record_tool_call"}
        names |= {"record_tool_outcome", "reset_matching_history", "detect_tool_loop"}
        assert names <= set(dir(self.published))
        assert names <= set(dir(ours))

    @pytest.mark.parametrize(
        ("exchanges", "at"), [(STUCK * 25, 10), (STUCK * 25, 20), (POLL * 25, 11), (POLL * 25, 21), (TURNS * 13, 10)]
    )
    def test_words_are_those_of_the_original(self, exchanges, at):
        """A verdict's keys, level, detector and words are the published ones; the count of a ping-pong is one less."""
        verdicts = []
        for module in (ours, self.published):
            history: list[Any] = []
            config = module.LoopDetectionConfig(enabled=True)
            for tool, args, came in exchanges[:at]:
                last = ask(module, history, config, tool, args)
                module.record_tool_outcome(history, tool, args, came, config)
            verdicts.append({**last, "message": last["message"].replace(str(last["count"]), "N"), "count": None})
        assert verdicts[0] == verdicts[1]

    @given(st.integers(4, 7), st.integers(2, 6), EXCHANGES)
    @settings(max_examples=300, deadline=None)
    def test_the_preset_finds_what_the_original_finds_first(self, warn, more, exchanges):
        """`--preset praisonai` nudges at the first `warning` and blocks at the first `critical`, over any script."""
        critical = warn + more
        module = self.published
        config = module.LoopDetectionConfig(enabled=True, warn_threshold=warn, critical_threshold=critical)
        history: list[Any] = []
        first: dict[str, int] = {}
        for number, (tool, args, came) in enumerate(exchanges, 1):
            level = ask(module, history, config, tool, args).get("level")
            module.record_tool_outcome(history, tool, args, came, config)
            if level is not None:
                first.setdefault(level, number)
            if level == "critical":
                break
        assert first_of_preset(exchanges, warn, critical) == first


def first_of_preset(exchanges: list[tuple[str, Any, Any]], warn: int, critical: int) -> dict[str, int]:
    """The first call at each level under the preset with these thresholds, up to the first block."""
    rules = preset("praisonai")
    detectors = tuple(one.with_ladder(one.ladder._replace(nudge=warn, block=critical)) for one in rules.detectors)
    monitor = Monitor(rules._replace(detectors=detectors))
    first: dict[str, int] = {}
    for number, (tool, args, came) in enumerate(exchanges, 1):
        if monitor.observe(call(tool, args, id=str(number))).level is Level.BLOCK:
            return {**first, "critical": number}
        if monitor.observe(result(came, id=str(number))).level is Level.NUDGE:
            first.setdefault("warning", number)
    return first


def test_the_preset_goes_on_over_a_persons_turn():
    """As in the original a history belongs to the agent: what was asked in earlier turns counts."""
    from unstuck.events import User

    monitor = Monitor(preset("praisonai"))
    levels = []
    for number in range(10):
        monitor.observe(User("r", "again"))
        monitor.observe(call("weather", {"city": "Oslo"}, id=str(number)))
        levels.append(monitor.observe(result("rain", id=str(number))).level)
    assert levels == [Level.CONTINUE] * 9 + [Level.NUDGE]
