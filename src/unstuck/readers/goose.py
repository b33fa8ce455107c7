"""
Reads Goose's sessions: the database `~/.local/share/goose/sessions/sessions.db`, and the `.jsonl` of older versions.

Written from the description of the formats; the program itself was not run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unstuck.events import Call, Event, Message, Outcome, Result, RunEnd, User
from unstuck.traces import database
from unstuck.traces.record import ANY, decode, joined, seconds, text

if TYPE_CHECKING:
    from unstuck.traces.head import Head
    from unstuck.traces.source import Source

KINDS = ("text", "toolRequest", "toolResponse", "thinking", "redactedThinking", "image", "frontendToolRequest")


def detect(head: Head) -> bool:
    """A database with `sessions` and `messages`, or lines with a role, a time `created` and content in blocks."""
    if head.tables:
        return {"sessions", "messages"} <= head.tables
    return any(_is_message(record) for record in head.records)


def read(source: Source) -> Iterator[Event]:
    """The sessions, each a run; an older file holds one."""
    if not source.head.tables:
        run = _Run("")
        for line, record in source.records(ANY):
            if _is_message(record):
                yield from run.take(record["role"], record["content"], record.get("created"))
            elif not isinstance(record, dict) or "role" in record:
                source.bad(line, "no message of Goose")
        return
    with database.opened(source) as base:
        for (session,) in base.execute("SELECT id FROM sessions ORDER BY created_at, id").fetchall():
            run = _Run(str(session))
            rows = base.execute("SELECT * FROM messages WHERE session_id = ? ORDER BY created_timestamp, id", (session,))
            for row in map(database.fields, rows):
                content = _decoded(source, run.name, row.get("content_json"))
                yield from run.take(row.get("role"), content, row.get("created_timestamp"))
            yield RunEnd(run.name)


def _decoded(source: Source, run: str, data: object) -> list[Any]:
    try:
        content = decode(str(data).encode(), ANY)
    except ValueError as error:
        source.bad(0, f"session {run}: {error}")
        return []
    return content if isinstance(content, list) else []


def _is_message(record: Any) -> bool:
    if not isinstance(record, dict) or record.get("role") not in ("user", "assistant") or "created" not in record:
        return False
    content = record.get("content")
    return isinstance(content, list) and all(isinstance(block, dict) and block.get("type") in KINDS for block in content)


class _Run:
    """The messages of one session in order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._number = 0

    def take(self, role: object, content: list[Any], created: object) -> Iterator[Event]:
        """The events of one message."""
        blocks = [block for block in content if isinstance(block, dict)]
        time = seconds(created)
        if role == "assistant":
            self._number += 1
            asked = [block for block in blocks if block.get("type") in ("toolRequest", "frontendToolRequest")]
            calls = {id: call for block in asked if (id := text(block.get("id"))) and (call := _call(block)) is not None}
            said, thought = _said(blocks, "text", "text"), _said(blocks, "thinking", "thinking")
            yield Message(self.name, self._number, len(calls), text=said, reasoning=thought, time=time)
            for id, call in calls.items():
                yield Call(self.name, id, call["name"], call.get("arguments"), self._number, time=time)
        elif role == "user":
            for block in blocks:
                if block.get("type") == "toolResponse" and text(block.get("id")):
                    content, outcome = _outcome(block.get("toolResult"))
                    yield Result(self.name, block["id"], content, outcome, time)
            said = _said(blocks, "text", "text")
            if said:
                yield User(self.name, said)


def _unwrapped(value: Any) -> tuple[Any, bool]:
    """A Rust result as it was written by one version or the other: the value, and whether it is an error."""
    if isinstance(value, dict):
        if "status" in value:
            return value.get("value", value.get("error")), value["status"] != "success"
        for name, failed in (("Ok", False), ("Err", True)):
            if name in value:
                return value[name], failed
    return value, False


def _call(block: dict[str, Any]) -> dict[str, Any] | None:
    call, _ = _unwrapped(block.get("toolCall"))
    return call if isinstance(call, dict) and text(call.get("name")) else None


def _outcome(result: Any) -> tuple[Any, Outcome]:
    value, failed = _unwrapped(result)
    if isinstance(value, dict) and "content" in value:
        failed = failed or value.get("isError") is True
        value = value["content"]
    content = joined(value)
    if isinstance(content, str) and content.startswith("The user has declined to run this tool"):
        return content, "denied"
    return content, "error" if failed else "ok"


def _said(blocks: list[dict[str, Any]], kind: str, field: str) -> str | None:
    return "\n".join(block[field] for block in blocks if block.get("type") == kind and text(block.get(field))) or None
