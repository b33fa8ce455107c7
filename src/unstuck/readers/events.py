"""Reads unstuck's own event format: one event a line, as `docs/events.md` describes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from unstuck import events as made
from unstuck.events import MAIN, ORIGINS, OUTCOMES, TYPE_NAMES, Event
from unstuck.traces.record import ANY, Decoder, decode, word

if TYPE_CHECKING:
    from unstuck.traces.head import Head
    from unstuck.traces.source import Source

TYPES = frozenset(TYPE_NAMES.values())


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None


class _Line(msgspec.Struct):
    type: str
    run: str | int | None = None
    attended: bool | None = None
    meta: dict[str, Any] | None = None
    text: str | None = None
    origin: str | None = None
    message: int | None = None
    calls: int | None = None
    agent: str | None = None
    parent: str | None = None
    reasoning: str | None = None
    model: str | None = None
    usage: _Usage | None = None
    time: float | None = None
    id: str | int | None = None
    tool: str | None = None
    args: Any = None
    depth: int | None = None
    replay_of: str | None = None
    approved: bool | None = None
    annotations: dict[str, Any] | None = None
    content: Any = None
    outcome: str | None = None


LINE: Decoder[_Line] = msgspec.json.Decoder(_Line)


def detect(head: Head) -> bool:
    """Lines with a known `type` and a `run`."""
    return any(
        isinstance(record, dict) and word(record.get("type")) in TYPES and isinstance(record.get("run"), str | int)
        for record in head.records
    )


def read(source: Source) -> Iterator[Event]:
    """The events as they stand; unknown types and fields are passed over."""
    for number, line in source.lines():
        try:
            event = _event(line)
        except ValueError as error:
            source.bad(number, f"{error}" if line.endswith(b"\n") else f"{error} (last line, no line end: cut off?)")
            continue
        if event is not None:
            yield event


def _event(line: bytes) -> Event | None:
    try:
        record = decode(line, LINE)
    except ValueError:
        loose = decode(line, ANY)
        if isinstance(loose, dict) and word(loose.get("type")) not in {"", *TYPES}:
            return None
        raise
    build = BUILD.get(record.type)
    if build is None:
        return None
    if record.run is None:
        raise ValueError(f"{record.type} without run")
    return build(record, str(record.run))


def _message(line: _Line, run: str) -> Event:
    number = line.message
    if number is None:
        raise ValueError("message without its number (field message)")
    usage = made.Usage(*(getattr(line.usage, name) or 0 for name in made.Usage._fields)) if line.usage else None
    agent = line.agent or MAIN
    return made.Message(run, number, line.calls, agent, line.parent, line.text, line.reasoning, line.model, usage, line.time)


def _call(line: _Line, run: str) -> Event:
    if line.id is None or line.tool is None:
        raise ValueError("call without " + ("id" if line.id is None else "tool"))
    return made.Call(
        run,
        str(line.id),
        line.tool,
        line.args,
        line.message,
        line.agent or MAIN,
        line.parent,
        line.depth,
        line.time,
        _one_of("origin", line.origin, ORIGINS, "model"),
        line.replay_of,
        bool(line.approved),
        line.annotations,
    )


def _result(line: _Line, run: str) -> Event:
    if line.id is None:
        raise ValueError("result without id")
    return made.Result(run, str(line.id), line.content, _one_of("outcome", line.outcome, OUTCOMES, "ok"), line.time)


def _one_of(field: str, value: str | None, allowed: frozenset[str], default: str) -> Any:
    if value is not None and value not in allowed:
        raise ValueError(f"{field} is none of {', '.join(sorted(allowed))}")
    return value or default


BUILD: Mapping[str, Callable[[_Line, str], Event]] = {
    "run_start": lambda line, run: made.RunStart(run, line.attended is not False, line.meta),
    "user": lambda line, run: made.User(run, line.text, line.origin or "user"),
    "message": _message,
    "call": _call,
    "result": _result,
    "retry": lambda line, run: made.Retry(run),
    "compaction": lambda line, run: made.Compaction(run),
    "run_end": lambda line, run: made.RunEnd(run, line.outcome),
}
