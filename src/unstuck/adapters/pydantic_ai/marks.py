"""What the guard leaves in histories and traces, and what tools say about themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import SystemPromptPart

from unstuck.live import MARK
from unstuck.wording import plain_name

if TYPE_CHECKING:
    from pydantic_ai.tools import RunContext

    from unstuck.findings import Finding

NUDGE_ORIGIN = "unstuck.nudge.v1"
ANSWER_ORIGIN = "unstuck.answer.v1"
"""The `origin` in the metadata of the system prompts that the guard puts into the history."""
LAST_ANSWER = "No tool can be called any more. Give your final answer now from what you know, and say what is missing."


def hints_of(ctx: RunContext[Any], tool: str) -> Mapping[str, Any] | None:
    """What a tool's metadata says about it: `{"unstuck": {"kind": ...}}`, else the annotations of an MCP server."""
    tools = ctx.tool_manager.tools if ctx.tool_manager is not None else None
    found = tools.get(tool) if tools else None
    metadata = found.tool_def.metadata if found is not None else None
    if not metadata:
        return None
    hints = metadata.get("unstuck") or metadata.get("annotations")
    return hints if isinstance(hints, Mapping) else None


def bare(text: str | None) -> str:
    """*text* without the mark it begins with."""
    return (text or "").removeprefix(MARK)


def nudge_part(texts: Iterable[str], finding: Finding | None) -> SystemPromptPart:
    """What a nudge about *finding* leaves in the history; *texts* are all that wait to be said."""
    return SystemPromptPart(MARK + " ".join(map(bare, texts)), metadata=_metadata(NUDGE_ORIGIN, finding))


def answer_part(text: str | None, finding: Finding) -> SystemPromptPart:
    """What asks for a last answer because of *finding*; *text* is that of the stop."""
    return SystemPromptPart(f"{MARK}{bare(text)} {LAST_ANSWER}", metadata=_metadata(ANSWER_ORIGIN, finding))


def _metadata(origin: str, finding: Finding | None) -> dict[str, Any]:
    """The model does not see it."""
    about = {} if finding is None else {"pattern": finding.pattern, "tool_names": [plain_name(tool) for tool in finding.tools]}
    return {"origin": origin, **about}


def trace(ctx: RunContext[Any], finding: Finding) -> None:
    """A span without duration for *finding*; it holds no arguments, and hashes of them only where content is traced."""
    span = ctx.tracer.start_span("loop detected")
    if span.is_recording():
        level = finding.level if finding.would is None else finding.would
        span.set_attributes(
            {
                "unstuck.pattern": finding.pattern,
                "unstuck.decision": level.label,
                "unstuck.shadow": finding.would is not None,
                "unstuck.loop": finding.loop,
                "unstuck.count": finding.repeats,
                "unstuck.unit": finding.unit,
                "unstuck.tool_names": finding.tools,
            }
        )
        if ctx.trace_include_content:
            span.set_attribute("unstuck.fingerprints", finding.fingerprints)
    span.end()
