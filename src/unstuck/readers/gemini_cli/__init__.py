"""
Reads Gemini CLI's sessions: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, and the `.json` of older versions.

The lines are an append log: a header, changes (`$set`), and messages, each written again with its calls when they are done. What
was written last counts, so a message waits until another one begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unstuck.readers.gemini_cli.session import Session, is_header
from unstuck.traces.record import ANY

if TYPE_CHECKING:
    from unstuck.events import Event
    from unstuck.traces.head import Head
    from unstuck.traces.source import Source


def detect(head: Head) -> bool:
    """A header with `sessionId` and `projectHash`, or messages of type `gemini`."""
    records = [head.document] if isinstance(head.document, dict) else head.records
    return any(isinstance(record, dict) and (is_header(record) or _is_message(record)) for record in records)


def read(source: Source) -> Iterator[Event]:
    """The session; a file holds one."""
    session = Session()
    document = source.head.document
    if isinstance(document, dict) and isinstance(document.get("messages"), list):
        session.header(document)
        for message in document["messages"]:
            yield from _taken(source, 1, session, message)
    else:
        for line, record in source.records(ANY):
            yield from _taken(source, line, session, record)
    yield from session.settle()


def _is_message(record: dict[str, Any]) -> bool:
    return record.get("type") == "gemini" and isinstance(record.get("id"), str) and "content" in record


def _taken(source: Source, line: int, session: Session, record: Any) -> Iterator[Event]:
    try:
        yield from session.take(record)
    except ValueError as error:
        source.bad(line, str(error))
