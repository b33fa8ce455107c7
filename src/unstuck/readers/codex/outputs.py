"""What Codex wrote down as the output of a tool: the text itself and how the call ended."""

from __future__ import annotations

import json
import re
from typing import Any

from unstuck.events import Outcome
from unstuck.traces.record import joined

_HEADER = re.compile(r"(?:(?:Chunk ID|Wall time|Original token count|Exit code|Process \w+)\b[^\n]*\n)+(?:Output:(?:\n|$))?")
_VOLATILE = re.compile(r"^(?:Chunk ID|Wall time|Original token count)\b[^\n]*\n", re.MULTILINE)
_EXIT = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d+)", re.MULTILINE)
_REFUSED = re.compile(
    r"(?:exec command |patch |command |tool call )?(?:rejected by user|denied by user|aborted by user)|aborted$", re.IGNORECASE
)
_GUARDED = re.compile(r"(?:Command|Tool call) blocked by \w+ hook|.{0,80}(?:blocked by policy|rejected: |forbidden by policy)")
_FAILED = re.compile(
    r"unsupported call: |unsupported custom tool call|failed to parse function arguments|execution error: |tool call error: |"
    r"apply_patch verification failed|exec_command failed|write_stdin failed|failed in sandbox|command timed out",
    re.IGNORECASE,
)


def output(value: Any) -> tuple[Any, Outcome]:
    """The text of an output without its clock and chunk lines, and the outcome: an exit code other than 0 is an error."""
    success: object = None
    code: object = None
    if isinstance(value, dict):
        success, value = value.get("success"), value.get("content", value.get("output", value))
    value = joined(_texts(value))
    if isinstance(value, str) and value.startswith("{"):
        value, code, failed = _wrapped(value)
        success = False if failed else success
    if not isinstance(value, str):
        return value, "error" if success is False else "ok"
    header = _HEADER.match(value)
    if header:
        found = _EXIT.search(header.group())
        code = int(found.group(1)) if found else code
        value = _VOLATILE.sub("", header.group()) + value[header.end() :]
    return value, _outcome(value, code, success)


def _outcome(text: str, code: object, success: object) -> Outcome:
    if _REFUSED.match(text):
        return "denied"
    if _GUARDED.match(text):
        return "blocked"
    if success is False or (isinstance(code, int) and code != 0) or _FAILED.match(text):
        return "error"
    return "ok"


def _wrapped(text: str) -> tuple[Any, object, bool]:
    """Older versions wrapped output and exit code in JSON; results of MCP servers are JSON with `isError`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text, None, False
    if isinstance(value, dict) and isinstance(value.get("metadata"), dict) and "output" in value:
        return value["output"], value["metadata"].get("exit_code"), False
    return text, None, isinstance(value, dict) and value.get("isError") is True


def _texts(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [part if not isinstance(part, dict) or "text" not in part else {"text": part["text"]} for part in value]
