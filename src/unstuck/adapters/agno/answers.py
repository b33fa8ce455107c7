"""What tools answer, as the model reads it: whole, or in parts while they run."""

from __future__ import annotations

from typing import Any

from agno.tools.function import ToolResult


def content_of(answer: Any) -> Any:
    """What *answer* says."""
    return answer.content if isinstance(answer, ToolResult) else answer


def with_text(answer: Any, text: str) -> Any:
    """*answer* with *text* behind it; Agno gives models the text of whatever else a tool answers, too."""
    if isinstance(answer, ToolResult):
        return answer.model_copy(update={"content": f"{answer.content}\n\n{text}"})
    return f"{answer}\n\n{text}"


def text_of(part: Any) -> str:
    """What the model reads of a part: of events of another agent's run their content."""
    if isinstance(part, str) or not hasattr(part, "event"):
        return str(part)
    return str(getattr(part, "content", None) or "")
