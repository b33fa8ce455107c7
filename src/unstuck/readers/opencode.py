"""Reads opencode's sessions: the database `~/.local/share/opencode/opencode.db`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unstuck.events import Call, Compaction, Event, Message, Outcome, Result, RunEnd, Usage, User
from unstuck.traces import database
from unstuck.traces.record import ANY, count, decode, known, seconds, text

if TYPE_CHECKING:
    import sqlite3

    from unstuck.traces.head import Head
    from unstuck.traces.source import Source

REFUSED = ("The user rejected permission", "The user has specified a rule which prevents", "Tool execution aborted")


def detect(head: Head) -> bool:
    """A database with the tables `session`, `message` and `part`."""
    return head.tables >= {"session", "message", "part"}


def read(source: Source) -> Iterator[Event]:
    """The sessions in the order they began, each a run; a sub-agent's session is a run of its own."""
    with database.opened(source) as base:
        for (session,) in base.execute("SELECT id FROM session ORDER BY time_created, id").fetchall():
            run = _Run(source, base, str(session))
            yield from run.events()
            yield RunEnd(run.name)


class _Run:
    """One session."""

    def __init__(self, source: Source, base: sqlite3.Connection, name: str) -> None:
        self.name = name
        self._source = source
        self._base = base
        self._number = 0

    def events(self) -> Iterator[Event]:
        """What the session's messages say."""
        query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
        for id, data in self._base.execute(query, (self.name,)):
            message = self._decoded(data)
            rows = self._base.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", (id,))
            parts = [part for (row,) in rows if (part := self._decoded(row))]
            if message.get("role") == "assistant":
                yield from self._response(message, parts)
            elif message.get("role") == "user":
                yield from self._request(parts)

    def _decoded(self, data: Any) -> dict[str, Any]:
        try:
            value = decode(str(data).encode(), ANY)
        except ValueError as error:
            self._source.bad(0, f"session {self.name}: {error}")
            return {}
        return value if isinstance(value, dict) else {}

    def _request(self, parts: list[dict[str, Any]]) -> Iterator[Event]:
        if any(part.get("type") == "compaction" for part in parts):
            yield Compaction(self.name)
            return
        own = [part for part in parts if part.get("type") == "text" and not part.get("synthetic")]
        yield User(self.name, _said(own or parts, "text"), "user" if own else "harness")

    def _response(self, message: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[Event]:
        self._number += 1
        calls = {text(part.get("callID")) or f"{self._number}.{n}": part for n, part in enumerate(parts) if _is_call(part)}
        clock = message.get("time")
        time = seconds(clock.get("created")) if isinstance(clock, dict) else None
        model, usage = text(message.get("modelID")), _usage(message.get("tokens"))
        said, thought = _said(parts, "text"), _said(parts, "reasoning")
        yield Message(self.name, self._number, len(calls), text=said, reasoning=thought, model=model, usage=usage, time=time)
        for id, part in calls.items():
            state = part.get("state")
            state = state if isinstance(state, dict) else {}
            clock = state.get("time")
            clock = clock if isinstance(clock, dict) else {}
            yield Call(self.name, id, part["tool"], state.get("input"), self._number, time=seconds(clock.get("start")))
            if state.get("status") in ("completed", "error"):
                content, outcome = _outcome(state)
                yield Result(self.name, id, content, outcome, seconds(clock.get("end")))


def _is_call(part: dict[str, Any]) -> bool:
    return part.get("type") == "tool" and text(part.get("tool")) is not None


def _said(parts: list[dict[str, Any]], kind: str) -> str | None:
    return "\n".join(part["text"] for part in parts if part.get("type") == kind and text(part.get("text"))) or None


def _outcome(state: dict[str, Any]) -> tuple[Any, Outcome]:
    """A shell's exit code stands beside its output; a person's no is an error with a text of its own."""
    if state["status"] == "error":
        error = state.get("error")
        return error, "denied" if isinstance(error, str) and error.startswith(REFUSED) else "error"
    metadata = state.get("metadata")
    code = metadata.get("exit") if isinstance(metadata, dict) else None
    return state.get("output"), "error" if isinstance(code, int) and code != 0 else "ok"


def _usage(fields: Any) -> Usage | None:
    if not isinstance(fields, dict):
        return None
    cache = fields.get("cache")
    cache = cache if isinstance(cache, dict) else {}
    read, written = count(cache, "read"), count(cache, "write")
    output = count(fields, "output") + count(fields, "reasoning")
    return known(Usage(count(fields, "input") + read + written, output, read, written))
