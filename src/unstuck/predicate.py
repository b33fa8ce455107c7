"""Whether a conversation, as it stands, goes round in circles: a pure function of its messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from unstuck.config import Options
from unstuck.errors import SettingsError
from unstuck.events import Call, Event, Message, Result, User
from unstuck.findings import Level, LevelName
from unstuck.live import MARK
from unstuck.monitor import Monitor

if TYPE_CHECKING:
    from unstuck.presets import Rules

RUN = "conversation"


def stop_when_repeated(messages: Iterable[Any], options: Options | Rules | None = None, *, at: LevelName = "stop") -> bool:
    """
    Whether the conversation has come to a loop that should be stopped.

    Args:
        messages: of OpenAI's chat completions or Responses, or of Anthropic's Messages, as mappings or as objects with these fields.
            What is none of these is left out of account.
        options: an `Options`, or a rule set (default: the preset `default`).
        at: the level that counts, `nudge`, `block` or `stop` (default).

    Returns true where the last turn reached that level. Nothing is remembered from one question to the next.
    Raises `SettingsError` for another level.
    """
    if at not in ("nudge", "block", "stop"):
        raise SettingsError("at", at, "there is no such intervention", "give nudge, block or stop")
    monitor = Monitor(options.rules() if isinstance(options, Options) else options)
    reached = Level.CONTINUE
    for event in _events(messages):
        decision = monitor.observe(event)
        found = max((finding.would or finding.level for finding in decision.findings), default=decision.level)
        reached = Level.CONTINUE if isinstance(event, User) and event.origin == "user" else max(reached, found)
    return reached >= Level.named(at)


def _events(messages: Iterable[Any]) -> Iterator[Event]:
    """The events of a conversation; items of the Responses API that follow one another are one response."""
    number, response = 0, _Response()
    for message in messages:
        role, kind = _get(message, "role"), _get(message, "type")
        said = role == "assistant" or kind in _ITEMS
        if response.begun and (not said or (role == "assistant" and kind is None)):
            number += 1
            yield from response.events(number)
            response = _Response()
        if said:
            response.take(message, role)
        elif role == "tool":
            yield _result(_get(message, "tool_call_id"), _get(message, "content"))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield _result(_get(message, "call_id"), _get(message, "output"))
        elif role == "user":
            yield from _user(_get(message, "content"))
    if response.begun:
        yield from response.events(number + 1)


_ITEMS = ("function_call", "custom_tool_call", "reasoning")


class _Response:
    """A response that is being put together."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: list[tuple[str, str, Any]] = []
        self.begun = False

    def take(self, message: Any, role: Any) -> None:
        self.begun = True
        if role != "assistant":
            if _get(message, "name") is not None:
                self._call(_get(message, "call_id"), _get(message, "name"), _get(message, "arguments", "input"))
            return
        content = _get(message, "content")
        if isinstance(content, str):
            self.texts.append(content)
        for block in content if isinstance(content, list | tuple) else ():
            if _get(block, "type") == "tool_use":
                self._call(_get(block, "id"), _get(block, "name"), _get(block, "input"))
            elif isinstance(_get(block, "text"), str):
                self.texts.append(_get(block, "text"))
        for call in _get(message, "tool_calls") or ():
            inner = _get(call, "function", "custom") or call
            self._call(_get(call, "id"), _get(inner, "name"), _get(inner, "arguments", "input"))

    def _call(self, id: Any, tool: Any, args: Any) -> None:
        self.calls.append((str(id), str(tool), args))

    def events(self, number: int) -> Iterator[Event]:
        yield Message(RUN, number, len(self.calls), text="\n".join(self.texts))
        for id, tool, args in self.calls:
            yield Call(RUN, id, tool, args, number)


def _user(content: Any) -> Iterator[Event]:
    """Results that stand in a user's message, or what a person wrote; text beside results was put in by a program."""
    blocks = content if isinstance(content, list | tuple) else ()
    results = [block for block in blocks if _get(block, "type") == "tool_result"]
    for block in results:
        yield _result(_get(block, "tool_use_id"), _get(block, "content"), failed=_get(block, "is_error") is True)
    if not results:
        text = content if isinstance(content, str) else "\n".join(str(_get(block, "text") or "") for block in blocks)
        yield User(RUN, text, "harness" if text.startswith(MARK) else "user")


def _result(id: Any, content: Any, *, failed: bool = False) -> Result:
    content = _content(content)
    blocked = isinstance(content, str) and content.startswith(MARK)
    return Result(RUN, str(id), content, "blocked" if blocked else "error" if failed else "ok")


def _content(content: Any) -> Any:
    """A result's content: text blocks as one text."""
    if isinstance(content, list | tuple) and content and all(isinstance(_get(block, "text"), str) for block in content):
        return "\n".join(_get(block, "text") for block in content)
    return content


def _get(value: Any, *names: str) -> Any:
    for name in names:
        found = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if found is not None:
            return found
    return None
