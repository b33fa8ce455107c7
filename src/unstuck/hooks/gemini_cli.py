"""Gemini CLI: hooks in its `settings.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unstuck.events import MAIN, Call, Message, Result, User
from unstuck.findings import Level
from unstuck.fingerprint import call_fingerprint
from unstuck.hooks.dialect import Answer, Delivered, Environ, session_of, text_field, tool_of
from unstuck.hooks.llm_content import content_and_outcome

TITLE = "Gemini CLI"
PROGRAM = "gemini"
EVENTS = ("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent")
ENTRY = {"name": "unstuck", "timeout": 10_000}  # milliseconds
HOME = ("GEMINI_CLI_HOME", "", ".gemini/settings.json")
PROJECT = ".gemini/settings.json"
WINDOWS_SHELL = "powershell"
ENDS = True
NOTE = "Gemini CLI says once that there are new hooks; in a project it runs them only in folders that you trust."


def read(payload: Mapping[str, Any], environ: Environ, now: float) -> Delivered | None:
    """What the event says. Calls have no ids; its clock, with the call, tells an event that is delivered twice."""
    session, name = session_of(payload), payload.get("hook_event_name")
    event: Call | Result | User | Message
    call = None
    if name == "BeforeTool":
        event = Call(session, "", tool_of(payload), payload.get("tool_input"), time=now)
        call = (event.tool, event.args)
    elif name == "AfterTool":
        event = Result(session, "", *content_and_outcome(payload.get("tool_response")), now)
        call = (tool_of(payload), payload.get("tool_input"))
    elif name == "BeforeAgent":
        event = User(session, text_field(payload, "prompt"))
    elif name == "AfterAgent":
        event = Message(session, 0, 0, text=text_field(payload, "prompt_response"), time=now)
    else:
        return None  # PreCompress comes before every request, whether or not anything is compressed
    clock = text_field(payload, "timestamp")
    which = f"{call_fingerprint(*call):x}" if call else ""
    key = f"{name} {clock} {which}" if clock else None
    project = environ.get("GEMINI_PROJECT_DIR") or text_field(payload, "cwd") or ""
    return Delivered(session, MAIN, event, key, project, call)


def answer(name: str, level: Level, text: str) -> Answer:
    """A deny before a call, context behind its result; `continue: false` ends the run, before a call without it running."""
    end = {"continue": False, "stopReason": text} if level is Level.STOP else {}
    if name == "BeforeTool":
        return Answer({**end, "decision": "deny", "reason": text}, "ended" if end else "denied")
    if end:
        return Answer(end, "ended")
    if name == "AfterTool":
        return Answer({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}, "nudged")
    return Answer()
