"""One session of Claude Code: what its lines say, as events."""

from __future__ import annotations

from typing import Any

import msgspec

from unstuck.events import MAIN, Compaction, Outcome, Result, Retry, RunStart, Usage, User
from unstuck.readers.claude_code.texts import is_request, outcome_of, without_reminders
from unstuck.traces.record import count, joined, seconds, text
from unstuck.traces.responses import Response, Responses

HEADLESS = "sdk-cli"
"""The entry point of `claude -p`, where nobody can answer a question."""
SYNTHETIC = "<synthetic>"
"""The model's name on lines that Claude Code wrote in its place, such as errors of the service."""
COMPACTED = ("compact_boundary", "microcompact_boundary")
IDS = 64
"""Ids of complete responses that are remembered, for a block that comes late."""


class Line(msgspec.Struct, rename="camel"):
    """The fields that matter; the others, such as a second copy of each result, are never built."""

    type: Any = None
    subtype: Any = None
    session_id: Any = None
    agent_id: Any = None
    entrypoint: Any = None
    is_sidechain: Any = None
    is_meta: Any = None
    is_compact_summary: Any = None
    is_visible_in_transcript_only: Any = None
    is_api_error_message: Any = None
    tool_denial_kind: Any = None
    origin: Any = None
    attachment: Any = None
    timestamp: Any = None
    message: Any = None


class Session:
    """Takes the lines of one session in order."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.responses = Responses(run)
        self._begun = False
        self._late: dict[str, Response] = {}
        self._just_compacted = False
        self._local_command = False

    def take(self, line: Line) -> str | None:
        """Put the events of *line* among the responses; what is wrong with it, or `None`."""
        if line.type == "system":
            self._system(line)
        elif line.type == "attachment" and isinstance(line.attachment, dict):
            self._queued(line.attachment)
        elif line.type in ("user", "assistant"):
            if not self._begun and line.entrypoint == HEADLESS:
                self.responses.put(RunStart(self.run, attended=False))
            self._begun = True
            content = line.message.get("content") if isinstance(line.message, dict) else None
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if not isinstance(blocks, list):
                return f"{line.type} line without message content"
            if line.type == "assistant":
                return self._assistant(line, blocks)
            return self._user(line, blocks)
        return None

    def _system(self, line: Line) -> None:
        if line.subtype in COMPACTED:
            self.responses.close()
            self.responses.put(Compaction(self.run))
            self._just_compacted = line.subtype == "compact_boundary"
        elif line.subtype == "api_error":
            self.responses.put(Retry(self.run))

    def _queued(self, attachment: dict[str, Any]) -> None:
        """A request that was typed while the agent worked and reached it between two calls."""
        prompt = joined(attachment.get("prompt"))
        if attachment.get("type") == "queued_command" and isinstance(prompt, str):
            person = attachment.get("commandMode") in (None, "prompt") and is_request(prompt)
            self.responses.put(User(self.run, prompt, "user" if person else "harness"))

    def _assistant(self, line: Line, blocks: list[Any]) -> str | None:
        message = line.message
        if line.is_api_error_message or message.get("model") == SYNTHETIC:
            return None
        response = self._response(line, message.get("id"))
        response.model = response.model or text(message.get("model"))
        usage = _usage(message.get("usage"))
        if usage:
            response.usage = usage
        problems = [problem for block in blocks if (problem := self._block(line, response, block))]
        return problems[0] if problems else None

    def _response(self, line: Line, key: object) -> Response:
        late = self._late.get(key) if isinstance(key, str) else None
        if late is not None:
            return late
        agent, parent = _agent(line)
        response = self.responses.part(key if isinstance(key, str) else object(), agent, parent)
        response.time = seconds(line.timestamp) if response.time is None else response.time
        if isinstance(key, str):
            self._late[key] = response
            if len(self._late) > IDS:
                del self._late[next(iter(self._late))]
        return response

    def _block(self, line: Line, response: Response, block: Any) -> str | None:
        if not isinstance(block, dict):
            return "a content block that is no object"
        kind = block.get("type")
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            id, tool = block.get("id"), block.get("name")
            if not isinstance(id, str) or not isinstance(tool, str):
                return "a tool call without id or name"
            self.responses.call(response, id, tool, block.get("input"), time=seconds(line.timestamp))
        elif kind == "text":
            response.text.append(text(block.get("text")) or "")
        elif kind == "thinking":
            response.reasoning.append(text(block.get("thinking")) or "")
        elif isinstance(kind, str) and kind.endswith("_tool_result"):
            return self._result(line, block)
        return None

    def _user(self, line: Line, blocks: list[Any]) -> str | None:
        if line.is_compact_summary:
            if not self._just_compacted:
                self.responses.put(Compaction(self.run))
            self._just_compacted = False
            return None
        problem, said, results = None, [], 0
        for block in blocks:
            if not isinstance(block, dict):
                problem = "a content block that is no object"
            elif block.get("type") == "tool_result":
                problem = self._result(line, block) or problem
                results += 1
            elif isinstance(block.get("text"), str):
                said.append(block["text"])
        if said or (blocks and not results and not problem):
            self._said(line, "\n".join(said), alone=not results)
        return problem

    def _said(self, line: Line, said: str, *, alone: bool) -> None:
        harness = line.is_meta or line.is_sidechain or line.is_visible_in_transcript_only or not alone
        kind = line.origin.get("kind") if isinstance(line.origin, dict) else None
        # A caveat stands before a command that Claude Code carried out itself, such as /model.
        local, self._local_command = self._local_command, "Caveat: The messages below" in said[:60]
        person = not harness and (kind in (None, "human")) and is_request(said, local_command=local and kind is None)
        agent = _agent(line)[0]
        self.responses.close(agent)
        self.responses.put(User(self.run, said or None, "user" if person else "harness"))

    def _result(self, line: Line, block: dict[str, Any]) -> str | None:
        id = block.get("tool_use_id")
        if not isinstance(id, str):
            return "a tool result without tool_use_id"
        content = joined(block.get("content"))
        outcome: Outcome = outcome_of(content, block.get("is_error"), line.tool_denial_kind)
        if isinstance(content, str):
            content = without_reminders(content)
        self.responses.put(Result(self.run, id, content, outcome, seconds(line.timestamp)))
        return None


def _agent(line: Line) -> tuple[str, str | None]:
    if not line.is_sidechain:
        return MAIN, None
    return (line.agent_id if isinstance(line.agent_id, str) and line.agent_id else "sidechain"), MAIN


def _usage(fields: Any) -> Usage | None:
    if not isinstance(fields, dict):
        return None
    read, written = count(fields, "cache_read_input_tokens"), count(fields, "cache_creation_input_tokens")
    usage = Usage(count(fields, "input_tokens") + read + written, count(fields, "output_tokens"), read, written)
    return usage if any(usage) else None
