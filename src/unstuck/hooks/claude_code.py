"""Claude Code: hooks in its `settings.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unstuck.events import Call, Compaction, Message, Outcome, Result, User
from unstuck.findings import Level
from unstuck.hooks.dialect import Answer, Delivered, Environ, acting, session_of, text_field, tool_of

TITLE = "Claude Code"
PROGRAM = "claude"
EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact")
ENTRY = {"timeout": 10}  # seconds
HOME = ("CLAUDE_CONFIG_DIR", ".claude", "settings.json")
PROJECT = ".claude/settings.local.json"
WINDOWS_SHELL = "bash"
ENDS = True
NOTE = "Sessions that are open now take the hooks up when they are started anew."

_CLOCKS = frozenset("durationMs durationSeconds totalDurationMs totalTokens totalToolUseCount usage toolStats agentId".split())
_TEXTS = ("content", "result", "results", "output")


def read(payload: Mapping[str, Any], environ: Environ, now: float) -> Delivered | None:
    """What the event says; Cursor fires these hooks too and has an id of its own for everything, so its events are left alone."""
    if "cursor_version" in payload:
        return None
    session, name = session_of(payload), payload.get("hook_event_name")
    agent, parent = acting(payload)
    id = text_field(payload, "tool_use_id") or ""
    key = f"{name} {id}" if id else None
    event: Call | Result | User | Message | Compaction
    if name == "PreToolUse":
        event = Call(session, id, tool_of(payload), payload.get("tool_input"), agent=agent, parent=parent, time=now)
    elif name == "PostToolUse":
        event = Result(session, id, _content(tool_of(payload), payload.get("tool_response")), "ok", now)
    elif name == "PostToolUseFailure":
        outcome: Outcome = "denied" if payload.get("is_interrupt") is True else "error"
        event = Result(session, id, payload.get("error"), outcome, now)
    elif name == "UserPromptSubmit":
        prompt = text_field(payload, "prompt")
        event = User(session, prompt, "user" if _is_request(prompt or "") else "harness")
    elif name in ("Stop", "SubagentStop"):
        event = Message(session, 0, 0, agent, parent, text_field(payload, "last_assistant_message"), time=now)
    elif name == "PreCompact":
        event = Compaction(session)
    else:
        return None
    call = (tool_of(payload), payload.get("tool_input")) if isinstance(event, Result) else None
    project = environ.get("CLAUDE_PROJECT_DIR") or text_field(payload, "cwd") or ""
    return Delivered(session, agent, event, key, project, call, environ.get("CLAUDE_CODE_ENTRYPOINT") != "sdk-cli")


def answer(name: str, level: Level, text: str) -> Answer:
    """
    A deny before a call, context behind its result; the run ends by `continue: false`.

    Before a call that alone would still let it run, so the deny goes with it.
    """
    end = {"continue": False, "stopReason": text} if level is Level.STOP else {}
    if name == "PreToolUse":
        deny = {"hookEventName": name, "permissionDecision": "deny", "permissionDecisionReason": text}
        return Answer({**end, "hookSpecificOutput": deny}, "ended" if end else "denied")
    if end:
        return Answer(end, "ended")
    if name in ("PostToolUse", "PostToolUseFailure"):
        return Answer({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}, "nudged")
    return Answer()  # context on Stop would make the model go on


def _is_request(prompt: str) -> bool:
    if prompt.lstrip()[:1] not in ("<", "["):
        return True
    from unstuck.hooks.guard import bounded
    from unstuck.readers.claude_code.texts import is_request

    return is_request(bounded(prompt))


def _content(tool: str, response: Any) -> Any:
    """What the model gets to see of a result, as near as the hook can tell; what changes by itself is left out."""
    if not isinstance(response, Mapping):
        return response
    if "stdout" in response:
        return "\n".join(str(response[name]) for name in ("stdout", "stderr") if response.get(name))
    if "structuredPatch" in response or "newTodos" in response:
        return f"{tool}: done"  # a receipt; the change itself stands in the call
    if isinstance(response.get("file"), Mapping):
        return response["file"].get("content", response["file"])
    if response.get("numFiles") == 0 and not response.get("content"):
        return "No files found"
    for name in _TEXTS:
        if response.get(name):
            return response[name]
    return {name: value for name, value in response.items() if name not in _CLOCKS}
