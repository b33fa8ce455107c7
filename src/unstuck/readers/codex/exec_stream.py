"""The stream that `codex exec --json` prints: whole items, tokens for each turn only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unstuck.events import MAIN, Event, Result, RunStart, User
from unstuck.readers.codex.outputs import output
from unstuck.readers.codex.rollout import usage_of
from unstuck.traces.record import joined, text
from unstuck.traces.responses import Response, Responses

if TYPE_CHECKING:
    from unstuck.traces.source import Source

WORDS = ("agent_message", "reasoning")
NO_CALLS = (*WORDS, "error", "user_message")


class Stream:
    """
    Takes the lines of one stream in order; each `thread.started` begins a run.

    Nobody can be asked anything while `codex exec` works, so its runs are unattended.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._responses = Responses("")
        self._before: list[Event] = []
        self._running: dict[str, None] = {}

    def take(self, line: dict[str, Any]) -> str | None:
        """Put the events of a line among the responses; what is wrong with it, or `None`."""
        kind = line["type"]
        if kind == "thread.started":
            self._before.extend(self._responses.rest())
            run = text(line.get("thread_id")) or ""
            if run != self._responses.run:
                self._responses = Responses(run)
                self._before.append(RunStart(run, attended=False))
        elif kind == "turn.started":
            self._responses.close()
            self._responses.put(User(self._responses.run))
        elif kind == "turn.completed":
            usage = usage_of(line["usage"]) if isinstance(line.get("usage"), dict) else None
            self._responses.close()
            if usage:
                self._source.note_usage(self._responses.run, usage)
        elif kind.startswith("item."):
            item = line.get("item")
            return (
                self._item(kind, item)
                if isinstance(item, dict) and isinstance(item.get("type"), str)
                else "an item without type"
            )
        return None

    def ready(self) -> Iterator[Event]:
        """The events that need not wait."""
        before, self._before = self._before, []
        yield from before
        yield from self._responses.ready()

    def rest(self) -> Iterator[Event]:
        """What is left at the end."""
        yield from self.ready()
        yield from self._responses.rest()

    def _item(self, kind: str, item: dict[str, Any]) -> str | None:
        sort, id = item["type"], item.get("id")
        if sort in WORDS:
            if kind == "item.completed":
                self._words(sort, text(item.get("text")) or "")
            return None
        if sort in NO_CALLS:
            return None
        if not isinstance(id, str):
            return f"{sort} without id"
        if id not in self._running and kind != "item.updated":
            self._responses.call(self._response(acts=True), id, *_call(sort, item))
            self._running[id] = None
        if kind == "item.completed":
            self._running.pop(id, None)
            self._responses.put(Result(self._responses.run, id, *_outcome(sort, item)))
        return None

    def _words(self, sort: str, said: str) -> None:
        response = self._response(acts=False)
        (response.text if sort == "agent_message" else response.reasoning).append(said)

    def _response(self, *, acts: bool) -> Response:
        """Words behind words or behind calls begin a response, and so does a call behind finished ones."""
        response = self._responses.open.get(MAIN)
        if response is not None and (response.calls and not self._running if acts else response.calls or response.text):
            self._responses.close()
        return self._responses.part()


def _call(sort: str, item: dict[str, Any]) -> tuple[str, Any]:
    if sort == "mcp_tool_call":
        return f"mcp__{item.get('server')}__{item.get('tool')}", item.get("arguments")
    args = {"command_execution": "command", "file_change": "changes", "web_search": "query", "todo_list": "items"}.get(sort)
    if args is None:
        return sort, {name: value for name, value in item.items() if name not in ("id", "type", "status", "result", "error")}
    return sort, {args: item.get(args)}


def _outcome(sort: str, item: dict[str, Any]) -> tuple[Any, Any]:
    failed = item.get("status") in ("failed", "declined")
    if sort == "command_execution":
        content, outcome = output(item.get("aggregated_output"))
        if outcome == "ok" and (failed or item.get("exit_code") not in (0, None)):
            outcome = "denied" if item.get("status") == "declined" else "error"
        return content, outcome
    error = item.get("error")
    if failed or error:
        return (error.get("message") if isinstance(error, dict) else error), "error"
    result = item.get("result")
    content = joined(result.get("content")) if isinstance(result, dict) else result
    return content if content is not None else item.get("status"), "ok"
