"""One session of Gemini CLI: what its records say, as events."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from unstuck.events import Call, Compaction, Event, Message, Outcome, Result, Usage, User
from unstuck.traces import parts
from unstuck.traces.record import count, known, seconds, text

IDS = 256
"""Ids of messages that are remembered, since a message may be written again."""
STATUS: dict[str, Outcome] = {"error": "error", "cancelled": "denied"}


def is_header(record: dict[str, Any]) -> bool:
    """Whether *record* begins a session."""
    return isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)


class Session:
    """Takes the records of one session in order."""

    def __init__(self) -> None:
        self._run = ""
        self._number = 0
        self._waiting: dict[str, Any] | None = None
        self._taken: deque[str] = deque(maxlen=IDS)

    def header(self, record: dict[str, Any]) -> None:
        """Take the session's id from its header."""
        self._run = self._run or text(record.get("sessionId")) or ""

    def take(self, record: Any) -> Iterator[Event]:
        """The events that *record* makes ready; raises `ValueError` where it is none of this format."""
        if not isinstance(record, dict):
            raise ValueError("a record that is no object")  # noqa: TRY004 - what is wrong with a trace is a ValueError
        changes = record.get("$set")
        if isinstance(changes, dict):
            yield from self._set(changes)
        elif "type" not in record:
            if not is_header(record):
                raise ValueError("a record of an unknown kind")
            self.header(record)
        elif not isinstance(record.get("id"), str):
            raise ValueError("a message without id")
        elif self._waiting is not None and record["id"] == self._waiting["id"]:
            self._waiting = record
        elif record["id"] not in self._taken:
            yield from self._begin(record)

    def settle(self) -> Iterator[Event]:
        """The events of the message that waits."""
        message, self._waiting = self._waiting, None
        if message is not None:
            yield from self._response(message)

    def _set(self, changes: dict[str, Any]) -> Iterator[Event]:
        messages = changes.get("messages")
        if not isinstance(messages, list):
            return
        # The whole history is written anew where it was compressed.
        if self._number:
            yield from self.settle()
            yield Compaction(self._run)
        for message in messages:
            if isinstance(message, dict) and "type" in message:
                yield from self.take(message)

    def _begin(self, message: dict[str, Any]) -> Iterator[Event]:
        kind = message["type"]
        content = message.get("displayContent") or message.get("content")
        if kind == "gemini":
            yield from self.settle()
            self._waiting = message
        elif kind == "user" and not parts.responses(message.get("content")):
            yield from self.settle()
            words = parts.said(content).text
            harness = words is None or words.startswith(("System: ", "<session_context>", "<hook_context>"))
            yield User(self._run, words, "harness" if harness else "user")
        self._taken.append(message["id"])

    def _response(self, message: dict[str, Any]) -> Iterator[Event]:
        self._number += 1
        given = message.get("toolCalls")
        calls = [call for call in given if isinstance(call, dict)] if isinstance(given, list) else []
        calls = [call for call in calls if text(call.get("name")) and text(call.get("id"))]
        thoughts = message.get("thoughts")
        thoughts = thoughts if isinstance(thoughts, list) else []
        thought = [text(one.get("description")) or "" for one in thoughts if isinstance(one, dict)]
        words, time = parts.said(message.get("content")).text, seconds(message.get("timestamp"))
        about: dict[str, Any] = {"model": text(message.get("model")), "usage": _usage(message.get("tokens")), "time": time}
        yield Message(self._run, self._number, len(calls), text=words, reasoning="\n".join(thought) or None, **about)
        for call in {call["id"]: call for call in calls}.values():
            yield Call(self._run, call["id"], call["name"], call.get("args"), self._number, time=time)
            yield from self._result(call)

    def _result(self, call: dict[str, Any]) -> Iterator[Event]:
        given = call.get("result")
        responses = parts.responses(given)
        status = text(call.get("status")) or ""
        if not responses and status not in STATUS and not isinstance(given, str):
            return  # it was never finished
        content, outcome = parts.outcome(responses[0].get("response") if responses else given)
        if outcome == "ok" or status == "cancelled":
            outcome = STATUS.get(status, "ok")
        yield Result(self._run, call["id"], content, outcome, seconds(call.get("timestamp")))


def _usage(fields: Any) -> Usage | None:
    if not isinstance(fields, dict):
        return None
    return known(Usage(count(fields, "input"), count(fields, "output") + count(fields, "thoughts"), count(fields, "cached")))
