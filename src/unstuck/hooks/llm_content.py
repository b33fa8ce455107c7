"""Results as Gemini CLI and the programs that descend from it hand them to hooks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from unstuck.events import Outcome

_EXIT = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)
_FRAME = re.compile(
    r"\ACommand: .*?\nDirectory: [^\n]*\n|^(?:Process Group PGID|Background PIDs|Signal): [^\n]*\n?|^Error: \(none\)\n?",
    re.MULTILINE | re.DOTALL,
)


def content_and_outcome(response: Any) -> tuple[Any, Outcome]:
    """
    What the model gets to see, without what a shell's result is framed in: the command again, process numbers, `Error: (none)`.

    A tool's error is a field, a shell's exit code stands in the text only.
    """
    if not isinstance(response, Mapping):
        return response, "ok"
    content = response.get("llmContent")
    if response.get("error"):
        return content, "error"
    if isinstance(content, str):
        found = _EXIT.search(content)
        return _FRAME.sub("", content), "error" if found and int(found[1]) != 0 else "ok"
    return content, "ok"
