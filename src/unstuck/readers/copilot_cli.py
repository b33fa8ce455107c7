"""Reads Copilot CLI's sessions: `~/.copilot/session-state/<session>/events.jsonl`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from unstuck.events import MAIN, Call, Compaction, Event, Message, Outcome, Result, Usage, User
from unstuck.traces.record import Decoder, count, joined, known, seconds, text

if TYPE_CHECKING:
    from unstuck.traces.head import Head
    from unstuck.traces.source import Source

LINE: Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])
TYPES = re.compile(r"(?:session|user|assistant|system|tool|hook|subagent|skill)\.\w+")
_SHELL = re.compile(r"<shellId: \S+ (?=completed with exit code)")
PENDING = 64
"""Responses whose tokens are known before their text."""


def detect(head: Head) -> bool:
    """Lines with `data`, a `timestamp` and a type in two parts, such as `assistant.message`."""
    return any(
        isinstance(record, dict)
        and isinstance(record.get("data"), dict)
        and "timestamp" in record
        and TYPES.fullmatch(str(record.get("type"))) is not None
        for record in head.records
    )


def read(source: Source) -> Iterator[Event]:
    """The session; a file holds one. The tokens of a response stand in a record before it."""
    session = _Session()
    for number, line in source.records(LINE):
        kind, data = line.get("type"), line.get("data")
        if not isinstance(kind, str) or not isinstance(data, dict):
            source.bad(number, "a record without type or data")
            continue
        try:
            yield from session.take(kind, data, seconds(line.get("timestamp")))
        except ValueError as error:
            source.bad(number, str(error))


class _Session:
    """Takes the records of one session in order."""

    def __init__(self) -> None:
        self._run = ""
        self._number = 0
        self._usage: dict[object, Usage | None] = {}

    def take(self, kind: str, data: dict[str, Any], time: float | None) -> Iterator[Event]:
        """The events of one record; raises `ValueError` where it is broken."""
        if kind == "session.start":
            self._run = self._run or text(data.get("sessionId")) or ""
        elif kind == "session.usage_record":
            self._pay(data.get("usage"))
        elif kind == "user.message":
            source = text(data.get("source")) or "user"
            yield User(self._run, text(data.get("content")), "user" if source == "user" else "harness")
        elif kind == "assistant.message":
            yield from self._response(data, time)
        elif kind == "tool.execution_complete":
            yield self._result(data, time)
        elif kind == "session.compaction_complete":
            yield Compaction(self._run)

    def _pay(self, usage: Any) -> None:
        if isinstance(usage, dict) and text(usage.get("apiCallId")):
            read, written = count(usage, "cacheReadTokens"), count(usage, "cacheWriteTokens")
            tokens = Usage(count(usage, "inputTokens"), count(usage, "outputTokens"), read, written)
            self._usage[usage["apiCallId"]] = known(tokens)
            if len(self._usage) > PENDING:
                del self._usage[next(iter(self._usage))]

    def _response(self, data: dict[str, Any], time: float | None) -> Iterator[Event]:
        self._number += 1
        asked = data.get("toolRequests")
        calls = [call for call in asked if isinstance(call, dict)] if isinstance(asked, list) else []
        named = {call["toolCallId"]: call for call in calls if text(call.get("toolCallId")) and text(call.get("name"))}
        agent = text(data.get("parentToolCallId"))
        who: dict[str, Any] = {"agent": agent or MAIN, "parent": MAIN if agent else None, "time": time}
        api = text(data.get("apiCallId"))
        about: dict[str, Any] = {"model": text(data.get("model")), "usage": self._usage.pop(api, None) if api else None}
        said, thought = text(data.get("content")), text(data.get("reasoningText"))
        yield Message(self._run, self._number, len(named), text=said, reasoning=thought, **about, **who)
        for id, call in named.items():
            yield Call(self._run, id, call["name"], call.get("arguments"), self._number, **who)

    def _result(self, data: dict[str, Any], time: float | None) -> Result:
        id = text(data.get("toolCallId"))
        if id is None:
            raise ValueError("a result without toolCallId")
        result, shell = data.get("result"), data.get("shellExecution")
        error = data.get("error")
        content = joined(result.get("content")) if isinstance(result, dict) else result
        if content is None and isinstance(error, dict):
            content = error.get("message")
        if isinstance(content, str):
            content = _SHELL.sub("<", content)
        return Result(self._run, id, content, _outcome(data, shell, content), time)


def _outcome(data: dict[str, Any], shell: Any, content: Any) -> Outcome:
    """`success` only says that the tool ran; a shell's exit code stands beside it."""
    code = shell.get("exitCode") if isinstance(shell, dict) else None
    error = data.get("error")
    reason = error.get("code") if isinstance(error, dict) else None
    if reason in ("rejected", "denied"):
        return "denied"
    if isinstance(content, str) and content.startswith(("Denied by preToolUse hook", "Denied by hook")):
        return "blocked"
    return "error" if data.get("success") is False or (isinstance(code, int) and code != 0) else "ok"
