"""Results as Gemini CLI and the programs that descend from it hand them to hooks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from unstuck.events import Outcome

ENDS = 128 * 1024
"""Characters at either end of a text in which its frame is looked for: what a command printed may be a thousand times as long."""
_COMMAND = re.compile(r"Command: .*?\nDirectory: [^\n]*\n", re.DOTALL)
_PROCESS = re.compile(r"^(?:Process Group PGID|Background PIDs|Signal): [^\n]*\n?|^Error: \(none\)\n?", re.MULTILINE)
_EXIT = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)


def content_and_outcome(response: Any) -> tuple[Any, Outcome]:
    """
    What the model gets to see, without what a shell's result is framed in: the command again, process numbers, `Error: (none)`.

    A tool's error is a field; a shell's exit code stands in the text only, behind all that the command printed.
    """
    if not isinstance(response, Mapping):
        return response, "ok"
    content = response.get("llmContent")
    if response.get("error"):
        return content, "error"
    if not isinstance(content, str):
        return content, "ok"
    command = _COMMAND.match(content, 0, ENDS)
    begin = command.end() if command else 0
    last = _line_from(content, max(len(content) - ENDS, begin))
    codes = _EXIT.findall(content, last)
    shown = content[begin:last] + _PROCESS.sub("", content[last:])
    return shown, "error" if codes and int(codes[-1]) != 0 else "ok"


def _line_from(text: str, at: int) -> int:
    """Where the first line begins that begins at *at* or later."""
    return at if at == 0 or text[at - 1] == "\n" else text.find("\n", at) + 1 or len(text)
