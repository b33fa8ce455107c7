"""
`StuckLoopDetection` and `StuckLoopError` of pydantic-deep (0.3.50), for its agents and for plain ones of Pydantic AI.

It needs Pydantic AI, not pydantic-deep. `docs/compat/pydantic_deep.md` says what is as published and what is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from unstuck.adapters import missing
from unstuck.fingerprint import hexed, value_digest

try:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.exceptions import AgentRunError, ModelRetry
    from pydantic_ai.tools import AgentDepsT, RunContext
except ImportError as error:
    raise missing("pydantic_ai") from error

if TYPE_CHECKING:
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.tools import ToolDefinition

__all__ = ("METADATA_KEY", "StuckLoopDetection", "StuckLoopError")

METADATA_KEY = "stuck_loop_detection"
"""A tool's metadata under this key: `False` exempts it from all checks, `{"noop": False}` from the one of results."""


class StuckLoopError(AgentRunError):
    """`StuckLoopDetection(action="error")` ended the run; *pattern* is `repeated`, `alternating` or `noop`."""

    def __init__(self, pattern: str, message: str) -> None:
        self.pattern = pattern
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.pattern, self.message)


@dataclass
class StuckLoopDetection(AbstractCapability[AgentDepsT]):
    """
    Looks at each call that succeeded, and acts on the first of three patterns at the end of the run so far.

    Args:
        max_repeated: so many times in a row (for `alternating`: both calls so often), at least 2 (default 3).
        action: `warn` (default) raises `ModelRetry` in the place of the result, `error` raises `StuckLoopError`.
        detect_repeated: one tool with the same arguments, whatever it returned (default true).
        detect_alternating: two different calls in turn, whatever they returned (default true).
        detect_noop: one tool with the same result, whatever its arguments were (default true).
        ignore_tools: tools that are neither looked at nor break what others do.

    Raises `ValueError` with the published texts; for a *max_repeated* that is no whole number too.
    """

    max_repeated: int = 3
    action: Literal["warn", "error"] = "warn"
    detect_repeated: bool = True
    detect_alternating: bool = True
    detect_noop: bool = True
    ignore_tools: set[str] = field(default_factory=set)
    _call_history: list[tuple[str, str]] = field(default_factory=list, init=False, repr=False)
    _result_history: list[tuple[str, str]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if type(self.max_repeated) is not int:
            raise ValueError(f"max_repeated must be a whole number, got {self.max_repeated!r}.")
        if self.max_repeated < 2:
            raise ValueError("max_repeated must be at least 2.")
        if self.action not in ("warn", "error"):
            raise ValueError(f"action must be 'warn' or 'error', got {self.action!r}.")

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> StuckLoopDetection[AgentDepsT]:
        """A fresh instance for each run."""
        return replace(self)

    async def after_tool_execute(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        result: Any,
    ) -> Any:
        """The *result*, unless a pattern is complete."""
        tool = call.tool_name
        setting = (tool_def.metadata or {}).get(METADATA_KEY, True)
        if tool in self.ignore_tools or setting is False:
            return result
        judges_result = not (isinstance(setting, Mapping) and setting.get("noop") is False)
        _append(self._call_history, (tool, hexed(value_digest(args))), 2 * self.max_repeated)
        if judges_result:
            _append(self._result_history, (tool, hexed(value_digest(result))), self.max_repeated)
        found = self._found(judges_result)
        if found is None:
            return result
        if self.action == "error":
            raise StuckLoopError(*found)
        raise ModelRetry(found[1])

    def _found(self, judges_result: bool) -> tuple[str, str] | None:
        """The first pattern that is complete, and its words; the words are as published."""
        calls, count = self._call_history, self.max_repeated
        tool = calls[-1][0]
        if self.detect_repeated and _alike(calls[-count:], count):
            text = f"You called `{tool}` with identical arguments {count} times in a row. Try a different approach."
            return "repeated", text
        tail = calls[-2 * count :]
        first, second = tail[::2], tail[1::2]
        if self.detect_alternating and _alike(first, count) and _alike(second, count) and first[0] != second[0]:
            text = (
                f"You're alternating between `{first[0][0]}` and `{second[0][0]}` in a loop ({count} cycles). "
                "Step back and try a different strategy."
            )
            return "alternating", text
        if self.detect_noop and judges_result and _alike(self._result_history[-count:], count):
            text = (
                f"`{tool}` returned the same result {count} times in a row. "
                "The operation has no effect — try something different."
            )
            return "noop", text
        return None


def _alike(entries: list[tuple[str, str]], count: int) -> bool:
    return len(entries) == count and entries.count(entries[0]) == count


def _append(history: list[tuple[str, str]], entry: tuple[str, str], most: int) -> None:
    history.append(entry)
    del history[:-most]
