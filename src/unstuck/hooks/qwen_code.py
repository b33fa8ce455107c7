"""Qwen Code: hooks in its `settings.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unstuck.events import Call, Message, Outcome, Result, User
from unstuck.findings import Level
from unstuck.hooks.dialect import Answer, Delivered, Environ, acting, session_of, text_field, tool_of
from unstuck.hooks.llm_content import content_and_outcome

TITLE = "Qwen Code"
PROGRAM = "qwen"
EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "SubagentStop")
ENTRY = {
    "timeout": 10_000
}  # milliseconds up to 0.15, seconds from 0.24 on, which takes a number as large as this for milliseconds
HOME = ("QWEN_HOME", ".qwen", "settings.json")
PROJECT = ".qwen/settings.json"
WINDOWS_SHELL = "powershell"
ENDS = False
NOTE = "Sessions that are open now take the hooks up when they are started anew."


def read(payload: Mapping[str, Any], environ: Environ, now: float) -> Delivered | None:
    """What the event says. A prompt is announced before every request to the model; only one with words is a person's."""
    session, name = session_of(payload), payload.get("hook_event_name")
    agent, parent = acting(payload)
    id = text_field(payload, "tool_use_id") or ""
    event: Call | Result | User | Message
    if name == "PreToolUse":
        event = Call(session, id, tool_of(payload), payload.get("tool_input"), agent=agent, parent=parent, time=now)
    elif name == "PostToolUse":
        event = Result(session, id, *content_and_outcome(payload.get("tool_response")), now)
    elif name == "PostToolUseFailure":
        outcome: Outcome = "denied" if payload.get("is_interrupt") is True else "error"
        event = Result(session, id, payload.get("error"), outcome, now)
    elif name == "UserPromptSubmit":
        prompt = text_field(payload, "prompt")
        event = User(session, prompt, "user" if prompt else "harness")
    elif name in ("Stop", "SubagentStop"):
        event = Message(session, 0, 0, agent, parent, text_field(payload, "last_assistant_message"), time=now)
    else:
        return None
    key = f"{name} {id}" if id else None
    call = (tool_of(payload), payload.get("tool_input")) if isinstance(event, Result) else None
    project = environ.get("QWEN_PROJECT_DIR") or text_field(payload, "cwd") or ""
    return Delivered(session, agent, event, key, project, call)


def answer(name: str, level: Level, text: str) -> Answer:
    """A deny before a call, context behind its result; a hook cannot end the run."""
    if name == "PreToolUse":
        deny = {"hookEventName": name, "permissionDecision": "deny", "permissionDecisionReason": text}
        return Answer({"hookSpecificOutput": deny}, "denied")
    if name in ("PostToolUse", "PostToolUseFailure"):
        return Answer({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}, "nudged")
    return Answer()
