"""The reader of Pydantic AI's message histories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unstuck.events import Call, Compaction, Event, Message, Result, RunEnd, Usage, User
from unstuck.live import MARK
from unstuck.readers import pydantic_ai
from unstuck.testing import Counts, ReaderSuite

DATA = Path(__file__).resolve().parent.parent / "data" / "pydantic_ai"


class TestHistory(ReaderSuite):
    """A document: the messages of a conversation of two runs."""

    format = "pydantic_ai"
    sample = DATA / "history.json"
    counts = Counts(runs=2, messages=7, calls=6)
    spreads = False

    def test_a_response_becomes_a_message_and_its_calls(self):
        """Text, thinking, tokens, model and time are taken over; arguments may be an object or JSON text."""
        first, second, *_ = [event for event in self.events(self.sample.read_bytes()) if isinstance(event, Message)]
        usage = Usage(500, 30, 400)
        assert (first.calls, first.text, first.reasoning) == (2, "Looking.", "Two things at once.")
        assert (first.model, first.usage, second.calls) == ("gpt-4o-mini", usage, 2)
        calls = [event for event in self.events(self.sample.read_bytes()) if isinstance(event, Call)]
        assert [(one.tool, one.args) for one in calls[:2]] == [("search", {"a": "orders"}), ("read_file", '{"a": "notes.txt"}')]
        assert calls[0].time == first.time is not None

    def test_results_belong_to_calls_of_the_response_before(self):
        """An id that comes again names another call; what the provider ran itself has its result in the response."""
        events = [event for event in self.events(self.sample.read_bytes()) if isinstance(event, Call | Result)]
        tools = {(event.run, event.id): event.tool for event in events if isinstance(event, Call)}
        results = [(tools[event.run, event.id], event.outcome, event.content) for event in events if isinstance(event, Result)]
        assert results[:4] == [
            ("search", "ok", {"rows": 2, "of": ["a", "b"]}),
            ("read_file", "ok", "10 lines"),
            ("web_search", "ok", "nothing"),
            ("render", "ok", [{"file": "11f6ad"}, "a picture"]),
        ]
        assert [outcome for _, outcome, _ in results[4:]] == ["retry", "ok"]

    def test_only_prompts_that_begin_a_run_are_a_persons(self):
        """Feedback about an answer comes from a program."""
        users = [event for event in self.events(self.sample.read_bytes()) if isinstance(event, User)]
        assert [(one.run, one.text, one.origin) for one in users] == [
            ("run-1", "Two orders are missing.", "user"),
            ("run-1", None, "harness"),
            ("run-2", "And now?", "user"),
        ]


class TestMessages(ReaderSuite):
    """The same, a message a line."""

    format = "pydantic_ai"
    sample = DATA / "messages.jsonl"
    counts = Counts(runs=2, messages=7, calls=6)


def request(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"kind": "request", "parts": list(parts), **fields}


def response(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"kind": "response", "parts": list(parts), **fields}


def asked(id: str = "1", **fields: Any) -> dict[str, Any]:
    return {"part_kind": "tool-call", "tool_name": "look", "args": {"a": 1}, "tool_call_id": id, **fields}


def came(content: Any, id: str = "1", **fields: Any) -> dict[str, Any]:
    return {"part_kind": "tool-return", "tool_name": "look", "content": content, "tool_call_id": id, **fields}


def said(text: str) -> dict[str, Any]:
    return {"part_kind": "user-prompt", "content": text}


def events_of(*messages: Any, indent: int | None = None) -> list[Event]:
    return TestHistory().events(json.dumps(list(messages), indent=indent).encode())


OUTCOMES = [
    (came("x"), "ok"),
    (came("x", outcome="failed"), "error"),
    (came("x", outcome="retried"), "retry"),
    (came("x", outcome="denied"), "denied"),
    (came(f"{MARK}This call was not executed.", outcome="failed"), "blocked"),
    ({**came("x"), "part_kind": "retry-prompt"}, "retry"),
    (came("x", outcome="a later release's"), "error"),
]


@pytest.mark.parametrize(("part", "outcome"), OUTCOMES)
def test_outcomes(part, outcome):
    """Each outcome has its own; a failure that begins with the guard's mark is a block; older retries are read too."""
    assert [event.outcome for event in events_of(response(asked()), request(part)) if isinstance(event, Result)] == [outcome]


def test_an_interrupted_call_has_no_result():
    """The framework's own words in place of a result are none."""
    found = events_of(response(asked()), request(came("interrupted", outcome="interrupted")))
    assert not any(isinstance(event, Result) for event in found)


def test_the_mark_of_a_block_is_the_guards():
    """The reader may not import the guard; both know one mark."""
    assert pydantic_ai.BLOCKED == MARK


def test_without_run_ids_a_turn_is_told_by_its_place():
    """A prompt behind a response without calls is a person's; one beside results is not."""
    turns = [
        request(said("one")),
        response(asked()),
        request(came("x"), said("attached")),
        response({"part_kind": "text", "content": "done"}),
        request(said("two")),
    ]
    users = [event for event in events_of(*turns) if isinstance(event, User)]
    assert [(one.text, one.origin) for one in users] == [("one", "user"), ("attached", "harness"), ("two", "user")]


def test_a_compaction_is_seen():
    """A provider's summary in a response says that the context was compacted."""
    found = events_of(response({"part_kind": "compaction", "content": "..."}, asked()))
    assert [type(event) for event in found] == [Compaction, Message, Call, RunEnd]


SHAPES = {
    "a list": lambda messages: messages,
    "an object": lambda messages: {"run": 1, "messages": messages},
    "its history": lambda messages: {"message_history": messages},
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape, indent):
    """However the messages are wrapped, on one line or over many, they are one run."""
    messages = [request(said("go")), response({"part_kind": "text", "content": "done"})]
    data = json.dumps(SHAPES[shape](messages), indent=indent).encode()
    found = TestHistory().events(data)
    assert found == [User("", "go"), Message("", 1, 0, text="done"), RunEnd("")]


def test_broken_messages_are_named_and_left_out():
    """What is no message does not end the file."""
    errors: list[Any] = []
    broken = [{"kind": "request"}, 7, response(asked(), "no part", {"part_kind": ["odd"]}), request(came("x", outcome=[1]))]
    found = TestHistory().events(json.dumps([request(said("go")), *broken]).encode(), errors)
    assert len([event for event in found if isinstance(event, Call)]) == 1
    assert [error.problem for error in errors] == ["no message of Pydantic AI, with kind and parts"] * 2
