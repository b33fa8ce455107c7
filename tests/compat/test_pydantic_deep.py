"""
`unstuck.compat.pydantic_deep` beside the published `StuckLoopDetection`, and the preset `pydantic-deep`.

What needs Pydantic AI or pydantic-deep skips where that is absent. Real agents run with a scripted model.
"""

from __future__ import annotations

import asyncio
import pickle
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pydantic_ai.capabilities", reason="the compatible class is a capability of Pydantic AI")

from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelRetry, UnexpectedModelBehavior
from pydantic_ai.messages import ToolCallPart, ToolReturnPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import RunContext, Tool, ToolDefinition
from pydantic_ai.usage import RunUsage
from pydantic_deep_script import run, scripted

from unstuck.compat.pydantic_deep import METADATA_KEY, StuckLoopDetection, StuckLoopError
from unstuck.monitor import Monitor
from unstuck.presets import preset
from unstuck.testing import call, result

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

CONTEXT: RunContext[Any] = RunContext(deps=None, model=TestModel(), usage=RunUsage())


def succeed(detection: Any, tool: str, args: Any = None, came: Any = "ok", metadata: Any = None) -> Any:
    """Tell *detection* of a call that succeeded; returns what it makes of the result."""
    part = ToolCallPart(tool, args or {}, tool_call_id="c")
    definition = ToolDefinition(name=tool, metadata=metadata)
    given = {} if args is None else args
    hook = detection.after_tool_execute(CONTEXT, call=part, tool_def=definition, args=given, result=came)
    try:
        hook.send(None)  # it never waits, so it needs no event loop
    except StopIteration as end:
        return end.value
    raise AssertionError("the hook waited")


def verdict(detection: Any, *exchange: Any) -> tuple[str, str] | None:
    """The pattern and the words, where *detection* does not let the result pass."""
    try:
        succeed(detection, *exchange)
    except ModelRetry as retry:
        return "retry", retry.message
    except Exception as error:
        return error.pattern, str(error)
    return None


A, B = {"path": "a"}, {"path": "b"}


def test_fields_and_defaults_are_as_published():
    """The seven public fields stand in the published order with the published defaults."""
    public = {field.name: getattr(StuckLoopDetection(), field.name) for field in fields(StuckLoopDetection) if field.init}
    mine = {name: value for name, value in public.items() if name not in {"id", "description", "defer_loading"}}
    assert list(mine.items()) == [
        ("max_repeated", 3),
        ("action", "warn"),
        ("detect_repeated", True),
        ("detect_alternating", True),
        ("detect_noop", True),
        ("ignore_tools", set()),
    ]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"max_repeated": 1}, "max_repeated must be at least 2."),
        ({"action": "crash"}, "action must be 'warn' or 'error', got 'crash'."),
        ({"max_repeated": 2.5}, "max_repeated must be a whole number, got 2.5."),
        ({"max_repeated": True}, "max_repeated must be a whole number, got True."),
    ],
)
def test_impossible_settings_are_refused(settings, text):
    """What cannot work is refused with the published text; what the original let through until the third call is too."""
    with pytest.raises(ValueError, match=r"max_repeated|action") as caught:
        StuckLoopDetection(**settings)
    assert str(caught.value) == text


REPEATED = "You called `read` with identical arguments 3 times in a row. Try a different approach."
ALTERNATING = "You're alternating between `read` and `list` in a loop (3 cycles). Step back and try a different strategy."
NOOP = "`read` returned the same result 3 times in a row. The operation has no effect — try something different."


@pytest.mark.parametrize(
    ("exchanges", "pattern", "text"),
    [
        ([("read", A, 1), ("read", A, 2), ("read", A, 3)], "repeated", REPEATED),
        (
            [("read", A, 1), ("list", A, 2), ("read", A, 3), ("list", A, 4), ("read", A, 5), ("list", A, 6)],
            "alternating",
            ALTERNATING,
        ),
        ([("read", {"n": 1}, "x"), ("read", {"n": 2}, "x"), ("read", {"n": 3}, "x")], "noop", NOOP),
        ([("read", A, "x"), ("read", A, "x"), ("read", A, "x")], "repeated", REPEATED),
    ],
    ids=["repeated", "alternating", "noop", "repeated before noop"],
)
def test_each_pattern_acts_at_its_last_call(exchanges, pattern, text):
    """A pattern lets results pass until it is complete; then `warn` asks the model to retry and `error` names the pattern."""
    for action, expected in (("warn", ("retry", text)), ("error", (pattern, text))):
        detection = StuckLoopDetection(action=action)
        verdicts = [verdict(detection, *exchange) for exchange in exchanges]
        assert verdicts == [None] * (len(exchanges) - 1) + [expected]


@pytest.mark.parametrize(
    ("switch", "exchanges"),
    [
        ("detect_repeated", [("read", A, n) for n in range(6)]),
        ("detect_alternating", [("read", (A, B)[n % 2], n) for n in range(12)]),
        ("detect_noop", [("read", {"n": n}, "x") for n in range(6)]),
    ],
)
def test_each_pattern_can_be_switched_off(switch, exchanges):
    """Its switch alone silences a pattern."""
    assert any(verdict(detection, *exchange) for detection in [StuckLoopDetection()] for exchange in exchanges)
    detection = StuckLoopDetection(**{switch: False})
    assert not any(verdict(detection, *exchange) for exchange in exchanges)


@pytest.mark.parametrize(
    ("settings", "metadata"),
    [({"ignore_tools": {"poll"}}, None), ({}, {METADATA_KEY: False})],
    ids=["ignore_tools", "metadata"],
)
def test_an_exempt_tool_neither_counts_nor_breaks(settings, metadata):
    """A tool that is left out is never judged, and the streaks of others go on over it."""
    detection = StuckLoopDetection(**settings)
    for _ in range(2):
        assert succeed(detection, "read", A) == "ok"
        for _ in range(5):
            assert succeed(detection, "poll", {}, "pending", metadata) == "pending"
    assert verdict(detection, "read", A) == ("retry", REPEATED)


def test_a_tool_can_leave_out_the_check_of_results_alone():
    """`{"noop": False}` in a tool's metadata keeps its results out of the history, while equal calls still count."""
    metadata = {METADATA_KEY: {"noop": False}}
    detection = StuckLoopDetection()
    for number in range(5):
        assert succeed(detection, "attach", {"n": number}, True, metadata) is True
    assert detection._result_history == []
    succeed(detection, "attach", A, True, metadata)
    succeed(detection, "attach", A, True, metadata)
    with pytest.raises(ModelRetry, match=r"attach.*identical arguments 3 times"):
        succeed(detection, "attach", A, True, metadata)


def test_each_run_begins_with_empty_histories():
    """`for_run` gives a fresh instance with the same settings; what one run has done is unknown to another."""
    detection = StuckLoopDetection(max_repeated=4, action="error")
    succeed(detection, "read", A)
    succeed(detection, "read", A)
    fresh = asyncio.run(detection.for_run(CONTEXT))
    assert (len(detection._call_history), len(detection._result_history)) == (2, 2)
    assert (fresh._call_history, fresh._result_history, fresh.max_repeated, fresh.action) == ([], [], 4, "error")


def test_the_error_crosses_processes():
    """`StuckLoopError` keeps its pattern and its text when it is pickled."""
    error = pickle.loads(pickle.dumps(StuckLoopError("noop", "words")))
    assert (error.pattern, str(error), error.message) == ("noop", "words", "words")


class Unspeakable:
    """A value whose text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("came", ["\udcff", nested(3_000), Unspeakable(), {1: 2, "a": {3, 4}}, float("nan")], ids=type)
def test_no_value_breaks_a_run(came):
    """W9, W10: lone surrogates, deep nesting, values without text and mixed keys are counted like any other."""
    detection = StuckLoopDetection()
    assert succeed(detection, "read", {"n": 1}, came) is came
    assert succeed(detection, "read", {"n": came}, "other") == "other"
    succeed(detection, "read", {"n": 3}, came)
    succeed(detection, "read", {"n": 4}, came)
    assert (verdict(detection, "read", {"n": 5}, came) or ("",))[0] == "retry"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (object(), object(), True),
        ({"a": 1, "b": [1, 2]}, {"b": (1, 2), "a": 1}, True),
        ("1", 1, True),
        (True, 1, False),
        ("a", "a ", False),
        (None, "", False),
    ],
)
def test_which_results_are_the_same(one, other, same):
    """Results are compared by content: keys in any order, `1` and its text, and objects that say nothing, are the same."""
    detection = StuckLoopDetection(max_repeated=2)
    succeed(detection, "read", {"n": 1}, one)
    assert (verdict(detection, "read", {"n": 2}, other) is not None) is same


def test_histories_stay_short():
    """W11: after 20,000 calls no more is kept than the longest pattern needs."""
    detection = StuckLoopDetection(detect_repeated=False, detect_alternating=False, detect_noop=False)
    for _ in range(20_000):
        succeed(detection, "read", A)
    assert (len(detection._call_history), len(detection._result_history)) == (6, 3)


def test_a_warning_reaches_the_model_in_a_plain_agent():
    """In an agent of Pydantic AI the third equal call comes back as a retry with the published words."""

    def read(path: str) -> str:
        """Read."""
        return "text"

    agent = Agent(scripted(*[("read", A)] * 3), tools=[read], capabilities=[StuckLoopDetection()])
    messages = run(agent).all_messages()
    returns = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    assert [(part.outcome, part.content) for part in returns][:2] == [("success", "text")] * 2
    assert (returns[2].outcome, REPEATED in str(returns[2].content)) == ("retried", True)


def test_an_error_ends_the_run_of_a_plain_agent():
    """`action="error"` reaches the caller as `StuckLoopError`, also through the metadata of a real tool."""

    def read(path: str) -> str:
        """Read."""
        return "text"

    agent = Agent(scripted(*[("read", A)] * 9), tools=[read], capabilities=[StuckLoopDetection(action="error")])
    with pytest.raises(StuckLoopError) as caught:
        run(agent)
    assert caught.value.pattern == "repeated"
    exempt = Agent(
        scripted(*[("read", A)] * 9),
        tools=[Tool(read, metadata={METADATA_KEY: False})],
        capabilities=[StuckLoopDetection(action="error")],
    )
    assert run(exempt).output == "done"


def test_a_warning_costs_the_result_and_the_retries_as_published():
    """W1, W2 stay, they are what `warn` was published to do: the third result is lost, the fourth call ends the run."""
    charged = []

    def charge(card: str) -> str:
        """Charge."""
        charged.append(card)
        return "ok"

    agent = Agent(scripted(*[("charge", {"card": "x"})] * 9), tools=[charge], capabilities=[StuckLoopDetection()])
    with pytest.raises(UnexpectedModelBehavior, match="exceeded max"):
        run(agent)
    assert len(charged) == 4


def test_runs_at_the_same_time_are_judged_apart():
    """Twenty runs of one agent, each with two equal calls, none of them flagged."""

    def read(path: str) -> str:
        """Read."""
        return "text"

    agent = Agent(scripted(*[("read", A)] * 2), tools=[read], capabilities=[StuckLoopDetection(action="error")])

    async def together() -> list[Any]:
        return await asyncio.gather(*[agent.run("go") for _ in range(20)])

    assert [run.output for run in asyncio.run(together())] == ["done"] * 20


class TestBesidePydanticDeep:
    """The same scripts with the published class and inside the published agent."""

    published: Any

    @pytest.fixture(autouse=True)
    def _published(self):
        self.published = pytest.importorskip("pydantic_deep", reason="compares with pydantic-deep")

    @given(
        st.integers(2, 4),
        st.lists(
            st.tuples(st.sampled_from(["read", "list"]), st.sampled_from([A, B]), st.sampled_from(["x", "y", 1])), max_size=30
        ),
    )
    def test_verdicts_are_those_of_the_published_class(self, count, exchanges):
        """Over any script the pattern and the words are the same, call by call."""
        import pydantic_deep

        ours = StuckLoopDetection(max_repeated=count, action="error")
        theirs = pydantic_deep.StuckLoopDetection(max_repeated=count, action="error")
        assert [verdict(ours, *one) for one in exchanges] == [verdict(theirs, *one) for one in exchanges]

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["read", "list"]),
                st.sampled_from([A, B]),
                st.sampled_from(["x", "y"]),
                st.sampled_from(["ok", "ok", "ok", "error", "retry"]),
            ),
            max_size=40,
        )
    )
    def test_the_preset_finds_a_loop_where_the_published_class_first_does(self, exchanges):
        """`unstuck scan --preset pydantic-deep` flags the call that the class flags first; failed calls are invisible to both."""
        import pydantic_deep

        theirs = pydantic_deep.StuckLoopDetection(action="error")
        names = {"repeated": "repeated_call", "alternating": "alternating_calls", "noop": "repeated_result"}
        expected = None
        for number, (tool, args, came, outcome) in enumerate(exchanges, 1):
            found = verdict(theirs, tool, args, came) if outcome == "ok" else None
            if found is not None:
                expected = number, names[found[0]]
                break
        assert first_of_preset(exchanges) == expected

    def test_it_runs_inside_a_deep_agent(self):
        """`create_deep_agent(stuck_loop_detection=False, capabilities=[...])` takes it, and it warns there."""
        seen: list[Any] = []

        def read(path: str) -> str:
            """Read."""
            seen.append(path)
            return "text"

        agent = self.published.create_deep_agent(
            model=scripted(*[("read", A)] * 3),
            tools=[read],
            stuck_loop_detection=False,
            capabilities=[StuckLoopDetection()],
            include_subagents=False,
            include_skills=False,
            cost_tracking=False,
        )
        messages = run(agent, deps=self.published.create_default_deps()).all_messages()
        returns = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
        assert [part.outcome for part in returns] == ["success", "success", "retried"]
        assert REPEATED in str(returns[2].content)


def first_of_preset(exchanges: list[tuple[str, Any, Any, Any]]) -> tuple[int, str] | None:
    """Call and pattern of the first finding under the preset."""
    monitor = Monitor(preset("pydantic-deep"))
    for number, (tool, args, came, outcome) in enumerate(exchanges, 1):
        monitor.observe(call(tool, args, id=str(number)))
        found = monitor.observe(result(came, id=str(number), outcome=outcome)).findings
        if found:
            return found[0].call or 0, found[0].pattern
    return None


def test_the_preset_counts_calls_in_the_order_in_which_they_end():
    """Three parallel calls are counted as they come back, like in the hook of the original."""
    monitor = Monitor(preset("pydantic-deep"))
    for name, tool in (("1", "read"), ("2", "list"), ("3", "read"), ("4", "read")):
        monitor.observe(call(tool, A, id=name, message=1))
    ends = [monitor.observe(result("x", id=name)) for name in ("2", "1", "4")]
    assert [end.findings for end in ends] == [(), (), ()]
    last = monitor.observe(result("x", id="3"))
    assert [(finding.pattern, finding.repeats) for finding in last.findings] == [("repeated_call", 3)]
