"""
Reads OpenHands: the events of a conversation, in one list or a file each (`<conversation>/events/event-00000-<id>.json`).

Both kinds of events are read: those of the SDK (`kind`), and those of versions before it (`action`, `observation`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unstuck.errors import ReadError
from unstuck.readers.openhands.conversation import Conversation
from unstuck.traces.record import ANY
from unstuck.traces.source import Source

if TYPE_CHECKING:
    from unstuck.events import Event
    from unstuck.traces.head import Head

SOURCES = ("agent", "user", "environment", "hook")
_FILE = re.compile(r"event-(\d+)-.*\.json")


def detect(head: Head) -> bool:
    """An event, a list of events, or events one a line: objects with `source`, and `kind`, `action` or `observation`."""
    document = head.document
    if document is None:
        # The lines of a list that was cut off are no events one a line.
        return head.raw.lstrip()[:1] == b"{" and any(_is_event(record) for record in head.records)
    return any(_is_event(record) for record in (document if isinstance(document, list) else [document])[:40])


def read(source: Source) -> Iterator[Event]:
    """The conversation. Of events in a file each, the first file stands for all of them and the others hold nothing."""
    run = ""
    if source.path is not None and _FILE.fullmatch(source.path.name):
        files = sorted(path for path in source.path.parent.iterdir() if _FILE.fullmatch(path.name))
        if files[0] != source.path:
            return
        run = source.path.parent.parent.name
        records: Iterator[tuple[int, Any]] = _from_files(source, files)
    elif source.head.document is not None:
        document = source.head.document
        records = iter([(1, record) for record in (document if isinstance(document, list) else [document])])
    elif source.head.raw.lstrip()[:1] == b"[":
        raise ReadError(source.name, "a list of events that is cut off or broken")
    else:
        records = source.records(ANY)
    conversation = Conversation(run)
    for line, record in records:
        if not _is_event(record) or not conversation.take(record):
            source.bad(line, "no event of OpenHands")
        yield from conversation.responses.ready()
    yield from conversation.responses.rest()


def _is_event(record: Any) -> bool:
    if not isinstance(record, dict) or record.get("source") not in SOURCES:
        return False
    kind = record.get("kind")
    return (isinstance(kind, str) and "timestamp" in record) or isinstance(
        record.get("action") or record.get("observation"), str
    )


def _from_files(source: Source, files: list[Path]) -> Iterator[tuple[int, Any]]:
    for path in files:
        try:
            file = Source.open(path, limit=source.limit)
            try:
                yield 1, file.document
            finally:
                file.close()
        except ReadError as error:
            source.bad(1, f"{path.name}: {error.problem}")
