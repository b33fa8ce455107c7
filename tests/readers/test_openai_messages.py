"""The reader of chat-completions messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unstuck.events import Call, Message, Result, RunEnd, Usage, User
from unstuck.testing import Counts, ReaderSuite

DATA = Path(__file__).resolve().parent.parent / "data" / "openai_messages"


class TestTasks(ReaderSuite):
    """A document: a list of objects that hold messages."""

    format = "openai_messages"
    sample = DATA / "tasks.json"
    counts = Counts(runs=2, messages=5, calls=3)
    spreads = False

    def test_a_task_becomes_a_run(self):
        """System prompts are no events; parallel calls, parts of text, tokens and model are taken over."""
        events = self.events(self.sample.read_bytes())
        usage = Usage(500, 30, 256)
        assert events[:4] == [
            User("", "Two tickets for Friday."),
            Message("", 1, 2, text="Looking.", reasoning="Both days at once.", model="gpt-4o-2024-08-06", usage=usage),
            Call("", "call_a", "find_show", '{"day": "friday"}', 1),
            Call("", "call_b", "find_show", '{"day": "saturday"}', 1),
        ]
        assert events[5:7] == [
            Result("", "call_b", "12 seats"),
            Message("", 2, 0, text="Friday is sold out.\nSaturday?", model="gpt-4o-2024-08-06"),
        ]

    def test_the_older_function_calls_are_read(self):
        """A function call has no id; its result finds it by name. A stored answer is the last message."""
        events = [event for event in self.events(self.sample.read_bytes()) if event.run == "conversation-b"]
        assert events == [
            User("conversation-b", "Weather?"),
            Message("conversation-b", 1, 1, model="gpt-4o-mini"),
            Call("conversation-b", "call-1", "weather", "{}", 1),
            Result("conversation-b", "call-1", "rain"),
            Message("conversation-b", 2, 0, text="It rains.", model="gpt-4o-mini", usage=Usage(40, 4)),
            RunEnd("conversation-b"),
        ]


class TestMessages(ReaderSuite):
    """One conversation, a message a line."""

    format = "openai_messages"
    sample = DATA / "messages.jsonl"
    counts = Counts(runs=1, messages=2, calls=1)


class TestConversations(ReaderSuite):
    """Many conversations, one a line."""

    format = "openai_messages"
    sample = DATA / "conversations.jsonl"
    counts = Counts(runs=3, messages=3, calls=1)


MESSAGES = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
SHAPES = {
    "a list": MESSAGES,
    "an object": {"messages": MESSAGES},
    "an object with traj": {"traj": MESSAGES, "reward": 1},
    "a list of lists": [MESSAGES],
    "a request": {"request": {"messages": MESSAGES}},
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape, indent):
    """However messages are wrapped, on one line or spread over many, they are one conversation."""
    data = json.dumps(SHAPES[shape], indent=indent).encode()
    assert TestTasks().events(data) == [User("", "Hi"), Message("", 1, 0, text="Hello"), RunEnd("")]


def test_broken_messages_are_named_and_left_out():
    """A message without a role, a call without a name and a task without messages do not end the file."""
    calls = [{"id": "a", "function": {"arguments": "{}"}}, {"id": "b", "function": {"name": "ls", "arguments": "{}"}}]
    tasks = [
        {"messages": [*MESSAGES, {"text": "?"}, {"role": "assistant", "content": None, "tool_calls": calls}]},
        {"nothing": 1},
    ]
    errors = []
    events = TestTasks().events(json.dumps(tasks).encode(), errors)
    assert [event.id for event in events if isinstance(event, Call)] == ["b"]
    assert [error.problem for error in errors] == [
        "a message without role or content",
        "a tool call without a name",
        "an object without messages",
    ]


def test_anthropics_blocks_in_messages_are_calls_and_results():
    """Programs that talk to Anthropic's service save calls and results as blocks of the content."""
    messages = [
        {"role": "user", "content": "List."},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Yes."}, {"type": "tool_use", "id": "a", "name": "ls", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": True}]},
        {"role": "user", "content": [{"type": "image", "source": {}}, {"type": "text", "text": "And this?"}]},
    ]
    assert TestTasks().events(json.dumps(messages).encode()) == [
        User("", "List."),
        Message("", 1, 1, text="Yes."),
        Call("", "a", "ls", {}, 1),
        Result("", "a", "no", "error"),
        User("", "And this?"),
        RunEnd(""),
    ]


def test_what_a_live_guard_said_is_told_from_tools_and_persons():
    """A refused call is blocked, a nudge behind a result is no part of it, and one in the user's role is no person's request."""
    call = {"id": "a", "function": {"name": "ls", "arguments": "{}"}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "a.txt\n\n[unstuck] You have made the same call 3 times."},
        {"role": "user", "content": "[unstuck] You have made the same call 3 times."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "[unstuck] This call was not executed."},
    ]
    events = TestTasks().events(json.dumps(messages).encode())
    assert [event.origin for event in events if isinstance(event, User)] == ["harness"]
    results = [(event.content, event.outcome) for event in events if isinstance(event, Result)]
    assert results == [("a.txt", "ok"), ("[unstuck] This call was not executed.", "blocked")]
