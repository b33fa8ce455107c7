"""One rollout of Codex: what its lines say, as events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unstuck.events import Compaction, Event, Result, Retry, RunStart, Usage
from unstuck.readers.codex.outputs import output
from unstuck.readers.codex.turns import Turns
from unstuck.traces.record import count, joined, known, seconds, text
from unstuck.traces.responses import Response


class Rollout:
    """Takes the lines of one rollout in order."""

    def __init__(self) -> None:
        self._turns = Turns()
        self._started: RunStart | None = None
        self._total: object = None
        self._records = False
        self._model: str | None = None
        self._compact = False

    def take(self, kind: object, payload: dict[str, Any], timestamp: object) -> str | None:
        """Put the events of a line among the responses; what is wrong with it, or `None`."""
        part = payload.get("type")
        if kind == "response_item":
            return self._item(part, payload, seconds(timestamp))
        if kind == "session_meta":
            self._meta(payload)
        elif kind == "turn_context":
            self._model = text(payload.get("model")) or self._model
        elif kind == "token_usage_record":
            self._records = True
            self._tokens(payload.get("usage"), None)
        elif kind == "compacted" or part == "context_compacted":
            self._compacted()
        elif kind == "event_msg":
            self._note(part, payload)
        return None

    def ready(self) -> Iterator[Event]:
        """The events that need not wait."""
        if self._started:
            yield self._started
            self._started = None
        yield from self._turns.ready()

    def rest(self) -> Iterator[Event]:
        """What is left at the end."""
        self._turns.settle()
        yield from self.ready()
        yield from self._turns.rest()

    def _meta(self, payload: dict[str, Any]) -> None:
        id = text(payload.get("id")) or text(payload.get("session_id"))
        # A session that goes on from another repeats the other's records behind its own.
        if id and not self._turns.run:
            self._turns.run = id
            headless = payload.get("originator") == "codex_exec" or payload.get("source") == "exec"
            self._started = RunStart(id, attended=not headless)

    def _note(self, part: object, payload: dict[str, Any]) -> None:
        if part == "token_count":
            info = payload.get("info")
            if isinstance(info, dict) and not self._records:
                self._tokens(info.get("last_token_usage"), info.get("total_token_usage"))
        elif part == "user_message":
            self._turns.person(text(payload.get("message")) or "")
        elif part == "stream_error":
            self._turns.put(Retry(self._turns.run))

    def _tokens(self, fields: object, total: object) -> None:
        # The same totals again are a note about limits, not another response.
        if isinstance(fields, dict) and (total is None or total != self._total):
            self._total = total
            self._turns.tokens(usage_of(fields))

    def _item(self, part: object, payload: dict[str, Any], time: float | None) -> str | None:
        if not isinstance(part, str):
            return "an item without type"
        if part == "message":
            self._message(payload, time)
        elif part == "reasoning":
            said = joined(payload.get("summary")) or joined(payload.get("content"))
            self._answer(time).reasoning.append(said if isinstance(said, str) else "")
        elif part.endswith("_call"):
            return self._call(part, payload, time)
        elif part.endswith("_output"):
            return self._result(payload, time)
        elif part in ("compaction", "context_compaction", "compaction_summary"):
            self._compacted()
        return None

    def _answer(self, time: float | None) -> Response:
        self._compact = False
        response = self._turns.answer()
        response.model = response.model or self._model
        response.time = time if response.time is None else response.time
        return response

    def _message(self, payload: dict[str, Any], time: float | None) -> None:
        said = joined(payload.get("content"))
        if payload.get("role") == "assistant":
            self._answer(time).text.append(said if isinstance(said, str) else "")
        elif payload.get("role") == "user":
            self._turns.user(said if isinstance(said, str) else "")

    def _call(self, part: str, payload: dict[str, Any], time: float | None) -> str | None:
        response = self._answer(time)
        name = payload.get("name") or part.removesuffix("_call")
        args = next((payload[field] for field in ("arguments", "input", "action", "query") if field in payload), None)
        id = payload.get("call_id") or payload.get("id") or f"{response.number}.{response.calls + 1}"
        if not isinstance(name, str) or not isinstance(id, str):
            return "a tool call whose name or id is no text"
        self._turns.call(response, id, name, args, time=time)
        return None

    def _result(self, payload: dict[str, Any], time: float | None) -> str | None:
        id = payload.get("call_id")
        if not isinstance(id, str):
            return "an output without call_id"
        content, outcome = output(payload.get("output"))
        self._turns.put(Result(self._turns.run, id, content, outcome, time))
        self._turns.result()
        return None

    def _compacted(self) -> None:
        """Several lines tell of one compaction."""
        if not self._compact:
            self._turns.settle()
            self._turns.close()
            self._turns.put(Compaction(self._turns.run))
        self._compact = True


def usage_of(fields: dict[str, Any]) -> Usage | None:
    """Tokens as Codex counts them: input includes what the cache held."""
    written = count(fields, "cache_write_input_tokens", "cache_creation_input_tokens")
    return known(
        Usage(count(fields, "input_tokens"), count(fields, "output_tokens"), count(fields, "cached_input_tokens"), written)
    )
