"""Codex: hooks in its `hooks.json`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from unstuck.events import Call, Compaction, Message, Outcome, Result, User
from unstuck.findings import Level
from unstuck.hooks.dialect import Answer, Delivered, Environ, acting, session_of, text_field, tool_of

TITLE = "Codex"
PROGRAM = "codex"
EVENTS = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact")
ENTRY = {"timeout": 10}  # seconds
HOME = ("CODEX_HOME", ".codex", "hooks.json")
PROJECT = ".codex/hooks.json"
WINDOWS_SHELL = "cmd"
ENDS = False
NOTE = (
    "Codex runs new hooks only after you have looked at them: start it and trust them when it asks (/hooks). "
    "`codex exec` asks nobody: there they run with --dangerously-bypass-hook-trust."
)

_EXIT = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d+)", re.MULTILINE)


def read(payload: Mapping[str, Any], environ: Environ, now: float) -> Delivered | None:
    """What the event says."""
    session, name = session_of(payload), payload.get("hook_event_name")
    agent, parent = acting(payload)
    id = text_field(payload, "tool_use_id") or ""
    event: Call | Result | User | Message | Compaction
    if name == "PreToolUse":
        event = Call(session, id, tool_of(payload), payload.get("tool_input"), agent=agent, parent=parent, time=now)
    elif name == "PostToolUse":
        response = payload.get("tool_response")
        event = Result(session, id, _content(response), _outcome(response), now)
    elif name == "UserPromptSubmit":
        event = User(session, text_field(payload, "prompt"))
    elif name in ("Stop", "SubagentStop"):
        event = Message(session, 0, 0, agent, parent, text_field(payload, "last_assistant_message"), time=now)
    elif name == "PreCompact":
        event = Compaction(session)
    else:
        return None
    key = f"{name} {id}" if id else None
    call = (tool_of(payload), payload.get("tool_input")) if isinstance(event, Result) else None
    return Delivered(session, agent, event, key, text_field(payload, "cwd") or "", call)


def answer(name: str, level: Level, text: str) -> Answer:
    """
    A deny before a call, context behind its result.

    A hook cannot end the run, and a block behind a result would take the result away, so a stop there is told like a nudge.
    """
    if name == "PreToolUse":
        deny = {"hookEventName": name, "permissionDecision": "deny", "permissionDecisionReason": text}
        return Answer({"hookSpecificOutput": deny}, "denied")
    if name == "PostToolUse":
        return Answer({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}, "nudged")
    return Answer()


def _content(response: Any) -> Any:
    if isinstance(response, Mapping):
        return response.get("content") or response.get("output") or response
    return response


def _outcome(response: Any) -> Outcome:
    """Hooks are told no exit code of their own: where the output carries one, or an MCP server says so, the call failed."""
    if isinstance(response, Mapping):
        metadata = response.get("metadata")
        code = response.get("exit_code", metadata.get("exit_code") if isinstance(metadata, Mapping) else None)
        return "error" if response.get("isError") is True or (isinstance(code, int) and code != 0) else "ok"
    found = _EXIT.search(response[:500]) if isinstance(response, str) else None
    return "error" if found and int(found[1]) != 0 else "ok"
