"""What `DetectLoops` promises to find, on a real agent with a scripted model."""

from __future__ import annotations

import asyncio
import copy
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai is not installed")

from pydantic_ai import Agent, BinaryContent, ModelRetry, RunContext, ToolReturn
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import ModelMessage, NativeToolCallPart, NativeToolReturnPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai_script import A, B, C, Part, Script, agent_for, call, differs, event_loop, nudges, same, trial

from unstuck.compat.pydantic_ai_harness import DetectedLoop, DetectLoops, LoopDetectedError, LoopHandler, LoopPattern

__all__ = ("event_loop",)


def test_the_published_names_and_defaults_are_there():
    """The five names exist, and a plain instance has the documented settings."""
    guard = DetectLoops()
    assert (guard.window, guard.repeated_call_threshold, guard.repeated_result_threshold) == (10, 5, 3)
    assert (guard.alternating_calls_threshold, guard.repeated_text_threshold, guard.action) == (3, 3, "nudge")
    assert issubclass(LoopDetectedError, AgentRunError)
    assert LoopHandler is not None
    assert set(LoopPattern.__args__) == {"repeated_call", "repeated_result", "alternating_calls", "repeated_text"}


WHERE = [
    ("the same result three times", [A] * 6, same, [(3, "repeated_result", 3), (6, "repeated_result", 3)]),
    ("whatever it returned, five times", [A] * 9, differs, [(5, "repeated_call", 5)]),
    (
        "other calls in between",
        [A, B, C] * 3,
        same,
        [(7, "repeated_result", 3), (8, "repeated_result", 3), (9, "repeated_result", 3)],
    ),
    ("two in turn", [A, B] * 4, differs, [(6, "alternating_calls", 3)]),
    ("two in turn, two tools", [A, C] * 3, differs, [(6, "alternating_calls", 3)]),
    ("not in turn", [A, B, B, A, A, B], differs, []),
    ("twice is no loop", [A, A, B, B, C, C], same, []),
    ("a chain of different calls", [A, B, C] * 3, differs, []),
]


@pytest.mark.parametrize(("responses", "results", "found"), [row[1:] for row in WHERE], ids=[row[0] for row in WHERE])
def test_a_loop_is_reported_where_its_threshold_is_reached(responses, results, found):
    """Each pattern of calls is reported in the request after the response that completes it, and from scratch again."""
    assert trial(responses, results).found == found


def test_a_different_result_in_between_begins_anew():
    """`repeated_result` wants the last so many results of a call to be the same."""
    answers = ["x", "x", "y", "x", "x", "x"]
    found = trial([A] * 6, lambda tool, args, number: answers[number - 1], repeated_call_threshold=None).found
    assert found == [(6, "repeated_result", 3)]


def test_calls_that_left_the_window_do_not_count():
    """Five equal calls spread over more than the window are no loop; within it they are."""
    others = [[call("find", {"a": number})] for number in range(10)]
    spread = [A, *others[:2], A, *others[2:4], A, *others[4:6], A, *others[6:8], A]
    assert trial(spread, differs).found == []
    assert trial(spread, differs, window=13).found == [(13, "repeated_call", 5)]
    assert trial(spread, same).found == [(7, "repeated_result", 3)]


@pytest.mark.parametrize(
    ("settings", "responses", "results", "found"),
    [
        ({"repeated_result_threshold": None}, [A] * 5, same, [(5, "repeated_call", 5)]),
        ({"repeated_result_threshold": None, "repeated_call_threshold": None}, [A] * 9, same, []),
        ({"alternating_calls_threshold": None}, [A, B] * 3, differs, []),
        ({"repeated_result_threshold": 2}, [A] * 2, same, [(2, "repeated_result", 2)]),
        ({"repeated_call_threshold": 2, "repeated_result_threshold": None}, [A] * 2, same, [(2, "repeated_call", 2)]),
        ({"alternating_calls_threshold": 2, "window": 5}, [A, B] * 2, differs, [(4, "alternating_calls", 2)]),
        (dict.fromkeys((f"{name}_threshold" for name in LoopPattern.__args__), None), [A] * 9, same, []),
    ],
)
def test_thresholds_can_be_set_and_switched_off(settings, responses, results, found):
    """A threshold moves its check; `None` turns it off."""
    assert trial(responses, results, **settings).found == found


REFUSED = [
    ({"repeated_call_threshold": 1}, "repeated_call_threshold"),
    ({"repeated_result_threshold": 0}, "repeated_result_threshold"),
    ({"alternating_calls_threshold": -3}, "alternating_calls_threshold"),
    ({"repeated_text_threshold": 1}, "repeated_text_threshold"),
    ({"repeated_call_threshold": 11}, "repeated_call_threshold"),
    ({"repeated_result_threshold": 4, "window": 3, "repeated_call_threshold": 3}, "repeated_result_threshold"),
    ({"alternating_calls_threshold": 6}, "alternating_calls_threshold"),
    ({"window": 5}, "alternating_calls_threshold"),
    ({"window": 1}, "window"),
    ({"repeated_call_threshold": True}, "repeated_call_threshold"),
    ({"repeated_result_threshold": 2.5}, "repeated_result_threshold"),
    ({"repeated_text_threshold": "3"}, "repeated_text_threshold"),
    ({"window": 10.0}, "window"),
    ({"action": "stop"}, "action"),
]


@pytest.mark.parametrize(("settings", "name"), REFUSED)
def test_a_check_that_could_never_report_is_refused(settings, name):
    """Such a setting raises `ValueError` when the capability is made, and the message names it."""
    with pytest.raises(ValueError, match=name):
        DetectLoops(**settings)


def test_a_text_threshold_is_not_tied_to_the_window():
    """Texts are counted apart from calls."""
    assert DetectLoops(repeated_text_threshold=50, window=10).repeated_text_threshold == 50


SAME_CALLS = [
    ("the order of keys", [{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1, "b": 2}]),
    ("an object and its JSON text", [{"a": 1}, '{"a": 1}', '{ "a":1 }']),
    ("nested keys", [{"a": {"x": 1, "y": 2}}, '{"a":{"y":2,"x":1}}', {"a": {"x": 1, "y": 2}}]),
    ("no arguments", [None, {}, ""]),
]


@pytest.mark.parametrize("args", [row[1] for row in SAME_CALLS], ids=[row[0] for row in SAME_CALLS])
def test_arguments_are_compared_as_canonical_json(args):
    """Equal arguments are one call however they are written."""
    done = trial([[call(args=one)] for one in args])
    assert done.found == [(3, "repeated_result", 3)]


@pytest.mark.parametrize("args", [[{"a": 1}, {"a": "1"}, {"a": 1}], [{"a": [1, 2]}, {"a": [2, 1]}, {"a": [1, 2]}]])
def test_different_arguments_are_different_calls(args):
    """A number is no text, and the order of a list matters."""
    assert trial([[call(args=one)] for one in args]).found == []


def _image(data: bytes) -> BinaryContent:
    return BinaryContent(data, media_type="image/png")


RESULTS = [
    ("the order of keys", [{"x": 1, "y": 2}, {"y": 2, "x": 1}, {"x": 1, "y": 2}], True),
    ("the same file", [_image(b"1"), _image(b"1"), _image(b"1")], True),
    ("another file", [_image(b"1"), _image(b"2"), _image(b"1")], False),
    ("another file beside the same text", [["ok", _image(b"1")], ["ok", _image(b"2")], ["ok", _image(b"1")]], False),
    ("the same file beside the same text", [["ok", _image(b"1")]] * 3, True),
    ("a number and its text", [1, "1", 1], False),
    ("nothing and an empty text", [None, "", None], False),
    ("what stands beside the return does not count", [ToolReturn("ok", content=text) for text in "abc"], True),
    ("a return that is different", [ToolReturn(text, content="same") for text in "abc"], False),
]


@pytest.mark.parametrize(("answers", "loops"), [row[1:] for row in RESULTS], ids=[row[0] for row in RESULTS])
def test_results_are_compared_by_content_and_files(answers, loops):
    """A result is its content as JSON with sorted keys and the identifiers of its files."""
    done = trial([A] * 3, lambda tool, args, number: answers[number - 1])
    assert [loop.pattern for _, loop in done.loops] == (["repeated_result"] if loops else [])


def test_the_outcome_is_part_of_the_result():
    """The same words as a success and as a request to try again are two results; the same refusal again is one."""

    def mixed(tool: str, args: dict[str, Any], number: int) -> str:
        if number == 2:
            raise ModelRetry("no")
        return "no"

    def refused(tool: str, args: dict[str, Any], number: int) -> str:
        raise ModelRetry("no")

    assert trial([A] * 3, mixed).found == []
    assert trial([A] * 3, refused).found == [(3, "repeated_result", 3)]


def test_every_call_of_a_response_counts_in_order():
    """Parallel calls count each, also those after the one that completes a loop."""
    assert trial([A * 5]).found == [(1, "repeated_result", 5)]
    assert trial([[*A, *A], [*A, *B]]).found == [(2, "repeated_result", 3)]
    assert trial([[*A, *B, *A, *B], [*A, *B]], differs).found == [(2, "alternating_calls", 3)]


def test_results_stand_in_the_order_of_calls():
    """A parallel call that finishes last is still compared with the result of its own call."""

    async def slow_first(ctx: RunContext[Any], a: int) -> str:
        await asyncio.sleep(0.02 if a == 1 else 0)
        return f"of {a}"

    script = Script([[call("wait", {"a": 1}), call("wait", {"a": 2})]] * 3)
    found: list[DetectedLoop] = []
    guard = DetectLoops(action=lambda ctx, loop: found.append(loop), repeated_call_threshold=None)
    agent = Agent(FunctionModel(script), capabilities=[guard])
    agent.tool(name="wait")(slow_first)
    agent.run_sync("go")
    assert [(loop.pattern, loop.count) for loop in found] == [("repeated_result", 3)]


def test_ids_that_come_again_do_not_mix_results():
    """A model that gives each response's calls the same ids is compared correctly."""
    responses = [[call("look", {"a": number % 2}, id="1"), call("find", {"a": number}, id="2")] for number in range(6)]
    answers = trial(responses, lambda tool, args, number: f"{tool} {args['a']}", alternating_calls_threshold=None)
    assert [loop.tool_names for _, loop in answers.loops] == [("look",), ("look",)]
    assert trial(responses, differs, alternating_calls_threshold=None).found == []


def test_what_the_provider_runs_itself_is_not_compared():
    """Native calls are no calls; a response with nothing else is compared by its text."""

    def searches(text: str) -> list[Part]:
        return [
            NativeToolCallPart("web_search", {"q": 1}, "n"),
            NativeToolReturnPart("web_search", "same", "n"),
            TextPart(text),
        ]

    assert trial([searches("one"), searches("one"), searches("two"), searches("two")]).found == []
    assert trial([searches("one")] * 3).found == [(3, "repeated_text", 3)]
    calls = [[*A, NativeToolCallPart("look", {"a": 1}, "n")]] * 2
    assert trial(calls).found == []


TEXTS = [
    (["no"] * 3, [("repeated_text", 3)]),
    (["no"] * 6, [("repeated_text", 3)] * 2),
    (["I am  sorry.", "i am sorry.", " I AM\nSORRY. "], [("repeated_text", 3)]),
    (["a", "b", "a", "b"], []),
    (["no", "no", "yes", "no"], []),
    (["no"] * 2, []),
]


@pytest.mark.parametrize(("texts", "found"), TEXTS)
def test_responses_without_calls_are_compared_by_their_text(texts, found):
    """Case and white space make no difference; the responses must follow each other."""
    assert [(pattern, number) for _, pattern, number in trial(texts).found] == found


def test_the_final_response_is_never_reported():
    """There is no request after it, so nothing is said and no request is added."""
    script = Script(["done"] * 3)
    guard: DetectLoops[Any] = DetectLoops(repeated_text_threshold=2)
    earlier = agent_for(script, same, guard).run_sync("go").all_messages()
    result = agent_for(script, same, guard).run_sync("again", message_history=earlier)
    assert (len(script.requests), nudges(result.all_messages())) == (2, [])


def test_checks_are_asked_in_the_documented_order():
    """Of several loops that are complete, result comes before alternation before call; one a request."""
    assert trial([A] * 5, same, repeated_result_threshold=5).found == [(5, "repeated_result", 5)]
    both = {"alternating_calls_threshold": 2, "repeated_call_threshold": 2, "window": 4}
    assert trial([A, B, A, B], differs, **both, repeated_result_threshold=None).found[0] == (3, "repeated_call", 2)
    together = [[*A, *B, *A, *B]]
    assert trial(together, differs, **both).found == [(1, "alternating_calls", 2)]
    assert trial(together, same, **both, repeated_result_threshold=2).found[0] == (1, "repeated_result", 2)


def test_a_second_loop_is_reported_with_the_next_request():
    """At most one loop a request: another one that is complete waits for the next, be it after a call or after a text."""
    for after in (C, "a text that is rejected"):
        loops = trial([[*A, *B]] * 3 + [after], same, alternating_calls_threshold=None).loops
        assert [at for at, _ in loops] == [3, 4]
        assert len({loop.fingerprints for _, loop in loops}) == 2


def test_only_this_run_counts():
    """A run that goes on from an earlier conversation starts with nothing counted."""
    earlier = trial([A] * 2).messages
    script = Script([A, A])
    found: list[DetectedLoop] = []
    agent = agent_for(script, same, DetectLoops(action=lambda ctx, loop: found.append(loop)))
    agent.run_sync("again", message_history=earlier)
    assert found == []


class Forgetful(AbstractCapability[Any]):
    """A compaction that replaces arguments and results and drops all but the last two messages."""

    async def before_model_request(self, ctx, request_context):
        kept: list[ModelMessage] = []
        for message in request_context.messages[-2:]:
            parts: list[Any] = []
            for part in message.parts:
                gone = copy.copy(part)
                if isinstance(gone, ToolReturnPart):
                    gone.content = "[gone]"
                elif isinstance(gone, ToolCallPart):
                    gone.args = {"a": "[gone]"}
                parts.append(gone)
            new = copy.copy(message)
            new.parts = parts
            kept.append(new)
        request_context.messages = kept
        return request_context


def test_a_compaction_changes_nothing_that_was_recorded():
    """Results are read before other capabilities rewrite them, wherever the guard stands in the list."""
    for order in ((0, 1), (1, 0)):
        found: list[str] = []
        guards = [DetectLoops(action=lambda ctx, loop, found=found: found.append(loop.pattern)), Forgetful()]
        different = [[call(args={"a": number})] for number in range(6)]
        agent_for(Script(different), differs, *[guards[index] for index in order]).run_sync("go")
        assert found == []
        agent_for(Script([A] * 3), same, *[guards[index] for index in order]).run_sync("go")
        assert found == ["repeated_result"]
    assert DetectLoops().get_ordering().position == "outermost"


def test_every_promise_in_the_documentation_names_its_test():
    """The table of promises names tests that exist here, and leaves none of them out."""
    here = Path(__file__).resolve()
    page = (here.parents[2] / "docs" / "compat" / "pydantic_ai_harness.md").read_text("utf-8")
    sources = [path.read_text("utf-8") for path in here.parent.glob("test_pydantic_ai_harness*.py")]
    tests = {name for source in sources for name in re.findall(r"^def (test_\w+)", source, re.MULTILINE)}
    named = set(re.findall(r"`(test_\w+)`", page))
    assert named == tests - {"test_every_promise_in_the_documentation_names_its_test"}
