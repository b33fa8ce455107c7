"""Reads Codex: the rollouts under `~/.codex/sessions` and the stream of `codex exec --json`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from unstuck.readers.codex.exec_stream import Stream
from unstuck.readers.codex.rollout import Rollout
from unstuck.traces.record import Decoder, word

if TYPE_CHECKING:
    from unstuck.events import Event
    from unstuck.traces.head import Head
    from unstuck.traces.source import Source

ROLLOUT = frozenset(
    ("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "token_usage_record")
)
STREAM = frozenset(
    ("thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.updated", "item.completed")
)


LINE: Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])


def detect(head: Head) -> bool:
    """Lines of the known types around a `payload`, lines of the stream, or the bare items of 2025's first rollouts."""
    return any(isinstance(record, dict) and _is_ours(record) for record in head.records)


def _is_ours(record: dict[str, Any]) -> bool:
    kind = word(record.get("type"))
    if kind in ROLLOUT:
        return isinstance(record.get("payload"), dict)
    if kind in STREAM:
        return kind in ("turn.started", "turn.failed") or any(name in record for name in ("thread_id", "item", "usage"))
    return not kind and _is_old_meta(record)


def _is_old_meta(record: dict[str, Any]) -> bool:
    return {"id", "timestamp", "instructions"} <= record.keys() and "git" in record


def read(source: Source) -> Iterator[Event]:
    """
    The run of a rollout, or the runs of a stream.

    In rollouts the tokens of a response come before its parts in some versions and after them in others, so it waits for what
    follows.
    """
    rollout, stream = Rollout(), Stream(source)
    for number, line in source.records(LINE):
        kind = word(line.get("type"))
        if kind in STREAM:
            problem = stream.take(line)
        elif kind in ROLLOUT:
            payload = line.get("payload")
            problem = (
                rollout.take(kind, payload, line.get("timestamp")) if isinstance(payload, dict) else f"{kind} without payload"
            )
        elif not kind and _is_old_meta(line):
            problem = rollout.take("session_meta", line, line.get("timestamp"))
        else:
            problem = rollout.take("response_item", line, line.get("timestamp"))
        if problem:
            source.bad(number, problem)
        yield from rollout.ready()
        yield from stream.ready()
    yield from rollout.rest()
    yield from stream.rest()
