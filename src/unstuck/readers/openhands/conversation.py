"""One conversation of OpenHands: what its events say."""

from __future__ import annotations

from typing import Any

from unstuck.events import Compaction, Outcome, Result, User
from unstuck.traces.record import joined, seconds, text
from unstuck.traces.responses import Response, Responses

REST = frozenset(("message", "system", "recall", "change_agent_state", "condensation", "condensation_request", "null", ""))
"""Actions of older versions that are no tool calls."""


class Conversation:
    """Takes the events of one conversation in order."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.responses = Responses(run)
        self._causes: dict[int, str] = {}

    def take(self, event: dict[str, Any]) -> bool:
        """Put what *event* says among the responses; whether it could be read."""
        kind = event.get("kind")
        if not isinstance(kind, str):
            return self._older(event)
        if kind == "MessageEvent":
            message = event.get("llm_message")
            content = joined(message.get("content")) if isinstance(message, dict) else None
            self._said(event, content if isinstance(content, str) else None)
        elif kind == "ActionEvent":
            call = event.get("tool_call")
            call = call if isinstance(call, dict) else {}
            tool, id = text(event.get("tool_name")), text(event.get("tool_call_id"))
            if tool is None or id is None:
                return False
            words = joined(event.get("thought"))
            response = self._response(event, event.get("llm_response_id") or event.get("id"), words)
            if text(event.get("reasoning_content")):
                response.reasoning.append(event["reasoning_content"])
            self.responses.call(response, id, tool, call.get("arguments", event.get("action")), time=response.time)
        elif kind == "ObservationEvent":
            seen = event.get("observation")
            seen = seen if isinstance(seen, dict) else {}
            return self._result(event, joined(seen.get("content")), "error" if _failed(seen) else "ok")
        elif kind == "AgentErrorEvent":
            return self._result(event, event.get("error"), "error")
        elif kind == "UserRejectObservation":
            blocked = event.get("rejection_source") == "hook"
            return self._result(event, event.get("rejection_reason"), "blocked" if blocked else "denied")
        elif kind in ("Condensation", "CondensationSummaryEvent"):
            self.responses.close()
            self.responses.put(Compaction(self.run))
        return True

    def _said(self, event: dict[str, Any], words: str | None) -> None:
        if event["source"] == "agent":
            self._response(event, event.get("llm_response_id") or event.get("id"), words)
        else:
            self.responses.close()
            self.responses.put(User(self.run, words, "user" if event["source"] == "user" else "harness"))

    def _response(self, event: dict[str, Any], key: object, words: object) -> Response:
        response = self.responses.part(key if isinstance(key, str | int) else object())
        response.time = seconds(event.get("timestamp")) if response.time is None else response.time
        if isinstance(words, str) and words and words not in response.text:
            response.text.append(words)
        return response

    def _result(self, event: dict[str, Any], content: object, outcome: Outcome) -> bool:
        id = text(event.get("tool_call_id"))
        if id is None:
            return False
        self.responses.put(Result(self.run, id, content, outcome, seconds(event.get("timestamp"))))
        return True

    def _older(self, event: dict[str, Any]) -> bool:
        about = event.get("tool_call_metadata")
        about = about if isinstance(about, dict) else {}
        args, number = event.get("args"), event.get("id")
        action = event.get("action")
        if isinstance(action, str):
            words = args.get("content") or args.get("thought") if isinstance(args, dict) else None
            words = text(words) or text(event.get("message"))
            if action in REST or event["source"] != "agent":
                if action == "message":
                    self._said(event, words)
                return True
            answer = about.get("model_response")
            response = self._response(event, answer.get("id") if isinstance(answer, dict) else number, words)
            id = text(about.get("tool_call_id")) or f"event-{number}"
            if isinstance(number, int):
                self._causes[number] = id
            self.responses.call(response, id, text(about.get("function_name")) or action, args, time=response.time)
            return True
        found = self._causes.pop(event["cause"], None) if isinstance(event.get("cause"), int) else None
        if found is not None:
            extras = event.get("extras")
            failed = event.get("observation") == "error" or (isinstance(extras, dict) and _failed(extras))
            self._result({**event, "tool_call_id": found}, event.get("content"), "error" if failed else "ok")
        return True


def _failed(seen: dict[str, Any]) -> bool:
    metadata = seen.get("metadata")
    code = seen.get("exit_code", metadata.get("exit_code") if isinstance(metadata, dict) else None)
    return seen.get("is_error") is True or (isinstance(code, int) and code not in (0, -1))
