"""
Reads message histories of Pydantic AI, as `ModelMessagesTypeAdapter` and `result.all_messages_json()` write them.

A file holds one history (a list of messages), or messages, histories or objects with a history one a line. Each `run_id` is a run.
The adapter makes the same events while a run goes on (`unstuck.adapters.pydantic_ai.transcript`): change both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from unstuck.events import Call, Compaction, Event, Message, Outcome, Result, RunEnd, Usage, User
from unstuck.traces.record import ANY, count, known, seconds, text

if TYPE_CHECKING:
    from unstuck.traces.head import Head
    from unstuck.traces.source import Source

HOLDERS = ("messages", "message_history", "all_messages", "new_messages")
CALLS = ("tool-call", "builtin-tool-call")
RETURNS = ("tool-return", "builtin-tool-return")
OUTCOMES: Mapping[str, Outcome] = {"success": "ok", "failed": "error", "retried": "retry", "denied": "denied"}
FILES = ("binary", "image-url", "audio-url", "video-url", "document-url", "uploaded-file")
BLOCKED = "[unstuck] "
"""What a failed return begins with where a guard did not let the call run."""


def detect(head: Head) -> bool:
    """A request or a response with its parts, a list of them, or an object that holds such a list."""
    records = [head.document] if head.document is not None else head.records
    return any(_is_message(message) for record in records for message in (_history(record) or [])[:8])


def read(source: Source) -> Iterator[Event]:
    """The runs; messages without a run id belong to the run before them."""
    document = source.head.document
    records: Iterable[tuple[int, Any]] = [(1, document)] if document is not None else source.records(ANY)
    run: _Run | None = None
    for line, record in records:
        if run is not None and not _is_message(record):
            yield RunEnd(run.name)
            run = None
        for message in _history(record) or [None]:
            if not _is_message(message):
                source.bad(line, "no message of Pydantic AI, with kind and parts")
                continue
            name = text(message.get("run_id")) or (run.name if run is not None else "")
            if run is None or name != run.name:
                if run is not None:
                    yield RunEnd(run.name)
                run = _Run(name)
            yield from run.take(message)
    if run is not None:
        yield RunEnd(run.name)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") in ("request", "response") and isinstance(value.get("parts"), list)


def _history(record: Any) -> list[Any] | None:
    if _is_message(record):
        return [record]
    if isinstance(record, dict):
        record = next((record[name] for name in HOLDERS if isinstance(record.get(name), list)), None)
    return record if isinstance(record, list) and any(_is_message(message) for message in record[:8]) else None


class _Run:
    """The messages of one run in order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._responses = self._calls = 0
        self._open: dict[str, list[str]] = {}
        self._turn_over = True

    def take(self, message: dict[str, Any]) -> Iterator[Event]:
        """The events of one message."""
        parts = [part for part in message["parts"] if isinstance(part, dict)]
        return self._response(message, parts) if message["kind"] == "response" else self._request(parts)

    def _response(self, message: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[Event]:
        self._responses += 1
        self._open.clear()
        time = seconds(message.get("timestamp"))
        if any(part.get("part_kind") == "compaction" for part in parts):
            yield Compaction(self.name)
        calls = [part for part in parts if part.get("part_kind") in CALLS and text(part.get("tool_name"))]
        about: dict[str, Any] = {"model": text(message.get("model_name")), "usage": _usage(message.get("usage")), "time": time}
        said, thought = _said(parts, "text"), _said(parts, "thinking")
        yield Message(self.name, self._responses, len(calls), text=said, reasoning=thought, **about)
        for part in parts:
            kind = part.get("part_kind")
            if kind in CALLS and text(part.get("tool_name")):
                self._calls += 1
                id = f"c{self._calls}"
                self._open.setdefault(str(part.get("tool_call_id")), []).append(id)
                yield Call(self.name, id, part["tool_name"], part.get("args"), self._responses, time=time)
            elif kind in RETURNS:
                yield from self._result(part)
        # Without run ids a new turn is told by its place: behind a response that asked for nothing.
        self._turn_over = not self.name and not any(part["part_kind"] == "tool-call" for part in calls)

    def _request(self, parts: list[dict[str, Any]]) -> Iterator[Event]:
        turn_over = self._turn_over
        for part in parts:
            kind = part.get("part_kind")
            if kind in RETURNS or (kind == "retry-prompt" and part.get("tool_name")):
                yield from self._result(part)
            elif kind == "user-prompt":
                self._turn_over = False
                yield User(self.name, text(part.get("content")), "user" if turn_over else "harness")
            elif kind in ("retry-feedback", "retry-prompt"):
                yield User(self.name, None, "harness")

    def _result(self, part: dict[str, Any]) -> Iterator[Result]:
        waiting = self._open.get(str(part.get("tool_call_id")))
        told = "retried" if part.get("part_kind") == "retry-prompt" else text(part.get("outcome")) or "success"
        if not waiting or told == "interrupted":
            return
        content = _content(part.get("content"))
        blocked = told == "failed" and isinstance(content, str) and content.startswith(BLOCKED)
        outcome: Outcome = "blocked" if blocked else OUTCOMES.get(told, "error")
        yield Result(self.name, waiting.pop(0), content, outcome, seconds(part.get("timestamp")))


def _said(parts: list[dict[str, Any]], kind: str) -> str | None:
    said = [part["content"] for part in parts if part.get("part_kind") == kind and isinstance(part.get("content"), str)]
    return "\n".join(said) or None


def _content(content: Any) -> Any:
    """What was returned, files by their identifier."""
    if isinstance(content, list):
        return [_content(item) if isinstance(item, dict | list) else item for item in content]
    if isinstance(content, dict) and content.get("kind") in FILES and text(content.get("identifier")):
        return {"file": content["identifier"]}
    return content


def _usage(fields: Any) -> Usage | None:
    if not isinstance(fields, dict):
        return None
    read, written = count(fields, "input_tokens", "request_tokens"), count(fields, "output_tokens", "response_tokens")
    return known(Usage(read, written, count(fields, "cache_read_tokens"), count(fields, "cache_write_tokens")))
