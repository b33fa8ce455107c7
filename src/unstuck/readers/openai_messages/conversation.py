"""One conversation of chat-completions messages as events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unstuck.events import Call, Event, Message, Result, Usage, User
from unstuck.traces.record import count, joined, known, seconds, text, word

if TYPE_CHECKING:
    from unstuck.traces.source import Source

ROLES = frozenset(("system", "developer", "user", "assistant", "tool", "function"))


def is_message(value: Any) -> bool:
    """Whether *value* is one message of a conversation."""
    spoken = isinstance(value, dict) and word(value.get("role")) in ROLES and "type" not in value
    return spoken and ("content" in value or "tool_calls" in value)


class Conversation:
    """Takes the messages of one run in order; *about* is the object that holds them."""

    def __init__(self, source: Source, run: str, about: dict[str, Any]) -> None:
        self._source = source
        self._run = run
        self._model = text(about.get("model"))
        self._responses = 0
        self._calls = 0
        self._open: list[tuple[str, str]] = []

    def take(self, line: int, message: Any) -> Iterator[Event]:
        """The events of one message; a broken one is reported as standing in *line*."""
        if not is_message(message):
            self._source.bad(line, "a message without role or content")
            return
        role, time = message["role"], seconds(message.get("timestamp", message.get("created")))
        content = joined(message.get("content"))
        if role == "user":
            yield User(self._run, content if isinstance(content, str) else None)
        elif role == "assistant":
            yield from self._response(line, message, content, time)
        elif role in ("tool", "function"):
            failed = message.get("is_error") is True or message.get("status") == "error"
            yield Result(self._run, self._answered(message), content, "error" if failed else "ok", time)

    def _response(self, line: int, message: dict[str, Any], content: Any, time: float | None) -> Iterator[Event]:
        self._responses += 1
        calls = [call for item in _called(message) if (call := self._call(line, item))]
        yield Message(
            self._run,
            self._responses,
            len(calls),
            text=content if isinstance(content, str) else None,
            reasoning=text(message.get("reasoning_content")) or text(message.get("reasoning")),
            model=text(message.get("model")) or self._model,
            usage=_usage(message.get("usage")),
            time=time,
        )
        self._open = [(id, tool) for id, tool, _ in calls]
        for id, tool, args in calls:
            yield Call(self._run, id, tool, args, self._responses, time=time)

    def _call(self, line: int, item: Any) -> tuple[str, str, Any] | None:
        self._calls += 1
        inner = item.get("function", item.get("custom", item)) if isinstance(item, dict) else None
        if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
            self._source.bad(line, "a tool call without a name")
            return None
        id = text(item.get("id")) or f"call-{self._calls}"
        return id, inner["name"], inner.get("arguments", inner.get("input"))

    def _answered(self, message: dict[str, Any]) -> str:
        """The id of the call that a result answers; without one, the first call still open, of that name if it has one."""
        id = text(message.get("tool_call_id"))
        if id is None:
            named = [call for call in self._open if message.get("name") in (None, call[1])]
            id = named[0][0] if named else "?"
        self._open = [call for call in self._open if call[0] != id]
        return id


def _called(message: dict[str, Any]) -> list[Any]:
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        return calls
    return [message["function_call"]] if isinstance(message.get("function_call"), dict) else []


def _usage(fields: Any) -> Usage | None:
    if not isinstance(fields, dict):
        return None
    details = fields.get("prompt_tokens_details") or fields.get("input_tokens_details")
    cached = count(details, "cached_tokens") if isinstance(details, dict) else count(fields, "cache_read_tokens")
    read, written = count(fields, "prompt_tokens", "input_tokens"), count(fields, "completion_tokens", "output_tokens")
    return known(Usage(read, written, cached, count(fields, "cache_write_tokens")))
