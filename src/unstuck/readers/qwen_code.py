"""Reads Qwen Code's session logs: `~/.qwen/projects/<folder>/chats/<session>.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from unstuck.events import Call, Compaction, Event, Message, Outcome, Result, Usage, User
from unstuck.traces import parts
from unstuck.traces.record import Decoder, count, known, seconds, text

if TYPE_CHECKING:
    from unstuck.traces.head import Head
    from unstuck.traces.source import Source

LINE: Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])
SPOKEN = ("user", "assistant", "tool_result")
STATUS: dict[str, Outcome] = {"error": "error", "cancelled": "denied"}


def detect(head: Head) -> bool:
    """Lines with a `sessionId` around a message in parts, or this program's own notes."""
    return any(isinstance(record, dict) and _is_ours(record) for record in head.records)


def _is_ours(record: dict[str, Any]) -> bool:
    if not isinstance(record.get("sessionId"), str):
        return False
    message = record.get("message")
    if record.get("type") == "system":
        return "systemPayload" in record
    return record.get("type") in SPOKEN and isinstance(message, dict) and isinstance(message.get("parts"), list)


def read(source: Source) -> Iterator[Event]:
    """The sessions of a log; a session id is the run's id. Each line of an assistant is a response."""
    numbers: dict[str, int] = {}
    for number, line in source.records(LINE):
        run = text(line.get("sessionId")) or ""
        kind = line.get("type")
        if kind == "system":
            if line.get("subtype") == "chat_compression":
                yield Compaction(run)
            continue
        message = line.get("message")
        if kind not in SPOKEN or not isinstance(message, dict) or not isinstance(message.get("parts"), list):
            source.bad(number, "a line without message parts")
            continue
        if kind == "assistant":
            numbers[run] = numbers.get(run, 0) + 1
            yield from _response(run, numbers[run], line, message["parts"])
        elif kind == "tool_result":
            yield from _results(run, line, message["parts"])
        else:
            words = parts.said(message["parts"]).text
            harness = words is None or text(line.get("subtype")) is not None or words.startswith("<system-reminder>")
            yield User(run, words, "harness" if harness else "user")


def _response(run: str, number: int, line: dict[str, Any], content: list[Any]) -> Iterator[Event]:
    given = [part.get("functionCall") for part in content if isinstance(part, dict)]
    calls = [call for call in given if isinstance(call, dict) and text(call.get("name"))]
    words, time = parts.said(content), seconds(line.get("timestamp"))
    about: dict[str, Any] = {"model": text(line.get("model")), "usage": _usage(line.get("usageMetadata")), "time": time}
    yield Message(run, number, len(calls), text=words.text, reasoning=words.thought, **about)
    named = {text(call.get("id")) or f"{number}.{n}": call for n, call in enumerate(calls)}
    for id, call in named.items():
        yield Call(run, id, call["name"], call.get("args"), number, time=time)


def _results(run: str, line: dict[str, Any], content: list[Any]) -> Iterator[Event]:
    told = line.get("toolCallResult")
    told = told if isinstance(told, dict) else {}
    for response in parts.responses(content):
        id = text(response.get("id")) or text(told.get("callId"))
        if id is None:
            continue
        answer, outcome = parts.outcome(response.get("response"))
        if outcome in ("ok", "error"):
            outcome = "blocked" if told.get("errorType") == "execution_denied" else STATUS.get(str(told.get("status")), outcome)
        yield Result(run, id, answer, outcome, seconds(line.get("timestamp")))


def _usage(fields: Any) -> Usage | None:
    if not isinstance(fields, dict):
        return None
    written = count(fields, "candidatesTokenCount") + count(fields, "thoughtsTokenCount")
    return known(Usage(count(fields, "promptTokenCount"), written, count(fields, "cachedContentTokenCount")))
