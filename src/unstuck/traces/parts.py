"""Content in parts as Gemini's API has it, and results as Gemini CLI and the programs that descend from it write them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from unstuck.events import Outcome
from unstuck.traces.record import unguarded

_EXIT = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)
_FRAME = re.compile(
    r"\ACommand: .*?\nDirectory: [^\n]*\n|^(?:Process Group PGID|Background PIDs|Signal): [^\n]*\n?|^Error: \(none\)\n?",
    re.MULTILINE | re.DOTALL,
)
_ADDED = re.compile(r"\s*<hook_context>.*?</hook_context>", re.DOTALL)
_GUARDED = ("Tool execution blocked", "Command injection detected")
BEGINNING = 64 * 1024
"""Characters of a result in which its exit code is looked for, from the end."""


class Said(NamedTuple):
    """The words of some parts: what was said, what was thought."""

    text: str | None
    thought: str | None


def said(parts: Any) -> Said:
    """What *parts* (a list, or text alone) say."""
    if isinstance(parts, str):
        return Said(parts or None, None)
    words: list[str] = []
    thoughts: list[str] = []
    for part in parts if isinstance(parts, list) else ():
        word = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None
        if isinstance(word, str) and word:
            (thoughts if isinstance(part, dict) and part.get("thought") else words).append(word)
    return Said("\n".join(words) or None, "\n".join(thoughts) or None)


def responses(parts: Any) -> list[dict[str, Any]]:
    """The function responses among *parts*."""
    found = parts if isinstance(parts, list) else ()
    given = [part.get("functionResponse") for part in found if isinstance(part, dict)]
    return [response for response in given if isinstance(response, dict)]


def outcome(response: Any) -> tuple[Any, Outcome]:
    """The content of a function's response, and how the call ended; a shell's exit code stands in its text only."""
    if not isinstance(response, dict):
        return response, "ok"
    if "error" in response:
        error = response["error"]
        return error, "blocked" if isinstance(error, str) and error.startswith(_GUARDED) else "error"
    content, guarded = unguarded(response.get("output", response))
    if not isinstance(content, str):
        return content, "ok"
    codes = _EXIT.findall(content[-BEGINNING:])
    failed = content.startswith(_GUARDED) or (codes and int(codes[-1][:9]) != 0)
    return _FRAME.sub("", _ADDED.sub("", content)), "blocked" if guarded else "error" if failed else "ok"
