"""One conversation of chat-completions messages as events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unstuck.events import Call, Event, Message, Result, Usage, User
from unstuck.traces.record import GUARD, count, joined, known, seconds, text, unguarded, word

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
        if role == "user":
            results = _blocks(message, "tool_result")
            for block in results:
                yield self._result(block, block.get("tool_use_id"), time)
            said = _said(message.get("content"))
            if said is not None or not results:
                yield User(self._run, said, "harness" if said is not None and said.startswith(GUARD) else "user")
        elif role == "assistant":
            yield from self._response(line, message, time)
        elif role in ("tool", "function"):
            yield self._result(message, message.get("tool_call_id"), time)

    def _response(self, line: int, message: dict[str, Any], time: float | None) -> Iterator[Event]:
        self._responses += 1
        calls = [call for item in _called(message) if (call := self._call(line, item))]
        yield Message(
            self._run,
            self._responses,
            len(calls),
            text=_said(message.get("content")),
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

    def _result(self, fields: dict[str, Any], call: Any, time: float | None) -> Event:
        """A result; without the id of its call it answers the first one still open, of that name if it has one."""
        id = text(call)
        if id is None:
            named = [one for one in self._open if fields.get("name") in (None, one[1])]
            id = named[0][0] if named else "?"
        self._open = [one for one in self._open if one[0] != id]
        failed = fields.get("is_error") is True or fields.get("status") == "error"
        content, blocked = unguarded(joined(fields.get("content")))
        return Result(self._run, id, content, "blocked" if blocked else "error" if failed else "ok", time)


def _said(content: Any) -> str | None:
    """The text of a message, without images and calls beside it."""
    if isinstance(content, list):
        texts = [block if isinstance(block, str) else block.get("text") for block in content if isinstance(block, str | dict)]
        content = "\n".join(part for part in texts if isinstance(part, str))
    return text(content)


def _blocks(message: dict[str, Any], sort: str) -> list[dict[str, Any]]:
    """The blocks of one sort in a message, where its program talked to Anthropic's service."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict) and block.get("type") == sort]


def _called(message: dict[str, Any]) -> list[Any]:
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        return calls
    if isinstance(message.get("function_call"), dict):
        return [message["function_call"]]
    return _blocks(message, "tool_use")


def _usage(fields: Any) -> Usage | None:
    if not isinstance(fields, dict):
        return None
    details = fields.get("prompt_tokens_details") or fields.get("input_tokens_details")
    cached = count(details, "cached_tokens") if isinstance(details, dict) else count(fields, "cache_read_tokens")
    read, written = count(fields, "prompt_tokens", "input_tokens"), count(fields, "completion_tokens", "output_tokens")
    return known(Usage(read, written, cached, count(fields, "cache_write_tokens")))
