"""
Readers turn recorded sessions into events, one module a format.

`READERS` is the whole table. A reader is a module (or any object) with the two functions of `Reader`; it is imported when it is
asked for. Packages of third parties add theirs as entry points in the group `unstuck.readers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from unstuck.errors import UnknownFormatError

if TYPE_CHECKING:
    from unstuck.events import Event
    from unstuck.traces.head import Head
    from unstuck.traces.source import Source

READERS: Mapping[str, str] = {
    "events": "unstuck.readers.events",
    "claude_code": "unstuck.readers.claude_code",
    "codex": "unstuck.readers.codex",
    "gemini_cli": "unstuck.readers.gemini_cli",
    "qwen_code": "unstuck.readers.qwen_code",
    "opencode": "unstuck.readers.opencode",
    "openhands": "unstuck.readers.openhands",
    "copilot_cli": "unstuck.readers.copilot_cli",
    "goose": "unstuck.readers.goose",
    "pydantic_ai": "unstuck.readers.pydantic_ai",
    "openai_messages": "unstuck.readers.openai_messages",
}
"""
Format name -> module, in the order in which they are asked. Formats that look like a special case of another stand before it:
many programs save chat-completions messages with more around them.
"""

ENTRY_POINTS = "unstuck.readers"


class Reader(Protocol):
    """What a reader module offers."""

    def detect(self, head: Head) -> bool:
        """Whether content that begins with *head* is in this format; looks at the content alone and never raises."""
        ...

    def read(self, source: Source) -> Iterator[Event]:
        """
        The events of *source*, run by run in order.

        A run without an id of its own is called `""`; the scan names it. A broken record goes to `source.bad()` and is left out.
        Raises `ReadError` where nothing of the source can be read.
        """
        ...


def formats() -> tuple[str, ...]:
    """The names of all formats, those of installed third parties at the end."""
    return (*READERS, *(name for name in _installed() if name not in READERS))


def reader(name: str) -> Reader:
    """The reader of the format *name*; raises `KeyError` for an unknown one."""
    module = READERS.get(name)
    return cast("Reader", import_module(module) if module else _installed()[name])


def detect(head: Head, source: str) -> str:
    """
    The name of the format that content beginning with *head* is in.

    Raises `UnknownFormatError`, naming *source*, where no reader recognises it.
    """
    for name in formats():
        if reader(name).detect(head):
            return name
    raise UnknownFormatError(source, f"no reader recognises this: {head.looks}")


def read(source: Source, name: str | None = None) -> tuple[str, Iterator[Event]]:
    """
    The format and the events of *source*.

    *name* forces a format; without it the content decides. Raises `ReadError`, which is an `UnknownFormatError` where nothing is in it that a reader knows.
    """
    if not source.head.raw:
        raise UnknownFormatError(source.name, "the file is empty")
    name = name or detect(source.head, source.name)
    return name, reader(name).read(source)


@cache
def _installed() -> dict[str, object]:
    from importlib.metadata import entry_points

    return {point.name: point.load() for point in entry_points(group=ENTRY_POINTS)}
