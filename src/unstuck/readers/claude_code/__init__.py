"""Reads Claude Code's session logs: `~/.claude/projects/<folder>/<session>.jsonl` and the files of its sub-agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from unstuck.readers.claude_code.session import Line, Session
from unstuck.traces.record import Decoder, word

if TYPE_CHECKING:
    from unstuck.events import Event
    from unstuck.traces.head import Head
    from unstuck.traces.source import Source

LINE: Decoder[Line] = msgspec.json.Decoder(Line)
SPOKEN = ("user", "assistant")
BOOKS = frozenset(
    (
        "summary",
        "queue-operation",
        "file-history-snapshot",
        "last-prompt",
        "permission-mode",
        "mode",
        "ai-title",
        "custom-title",
    )
)
"""Lines with which the program keeps its own books; they stand before the first words."""


def detect(head: Head) -> bool:
    """Lines of type `user` or `assistant` around a `message`; in a log just begun, the program's own lines with `sessionId`."""
    return any(isinstance(record, dict) and (_speaks(record) or _keeps_books(record)) for record in head.records)


def _speaks(record: dict[str, Any]) -> bool:
    message = record.get("message")
    own = "uuid" in record or "sessionId" in record or "parentUuid" in record
    # Qwen Code's logs have the same frame, but parts instead of content.
    return record.get("type") in SPOKEN and own and isinstance(message, dict) and "content" in message


def _keeps_books(record: dict[str, Any]) -> bool:
    return word(record.get("type")) in BOOKS and any(name in record for name in ("sessionId", "leafUuid", "snapshot"))


def read(source: Source) -> Iterator[Event]:
    """
    The sessions of a log; a session id is the run's id.

    A response is spread over a line for each block, with its tokens on every one of them, so it waits until another begins.
    """
    sessions: dict[str, Session] = {}
    for number, line in source.records(LINE):
        if not isinstance(line.type, str):
            source.bad(number, "a line without type")
            continue
        run = line.session_id if isinstance(line.session_id, str) else ""
        session = sessions.get(run)
        if session is None:
            session = sessions[run] = Session(run)
        problem = session.take(line)
        if problem:
            source.bad(number, problem)
        yield from session.responses.ready()
    for session in sessions.values():
        yield from session.responses.rest()
