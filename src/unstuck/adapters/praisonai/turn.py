"""A chat turn or an autonomous run of one agent while it lasts, and one call in it."""

from __future__ import annotations

import time
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from praisonaiagents.escalation.loop_guard import GuardAction, LoopGuardDecision

from unstuck.adapters.praisonai.tuning import NAMES
from unstuck.events import Usage
from unstuck.findings import Decision, Level

if TYPE_CHECKING:
    from unstuck.live import LiveAgent

TURN: ContextVar[Turn | None] = ContextVar("unstuck_praisonai_turn", default=None)
"""The turn that is going on here; tools run in threads that copy it."""
EXCHANGE: ContextVar[Exchange | None] = ContextVar("unstuck_praisonai_exchange", default=None)
"""The call that is being executed here."""
TURN_SECONDS = 600.0
"""PraisonAI's own limit for a turn where the agent sets none."""


class Turn:
    """A turn: *place* is the agent in its run (`None`: detection is switched off), *autonomous* says that it is an autonomous run."""

    def __init__(self, owner: Any, place: LiveAgent | None, autonomous: bool) -> None:
        self.owner, self.place, self.autonomous = owner, place, autonomous
        self.pattern: str | None = None
        self.began = time.monotonic()

    def note(self, decision: Decision) -> None:
        """Remember which pattern the next nudge is about."""
        if decision.level is Level.NUDGE and decision.finding is not None:
            self.pattern = decision.finding.pattern

    def correction(self) -> str | None:
        """The nudges that wait, in the words in which PraisonAI puts a self-correction into the next prompt."""
        text = self.place.nudge() if self.place is not None else None
        if text is None:
            return None
        return f"[System: repeated {NAMES.get(self.pattern or '', self.pattern)} detected. Try a different approach. {text}]"

    def check(self, tool_name: str, args: Any, is_pre_execution: bool = True) -> LoopGuardDecision:
        """What is left of PraisonAI's Loop Guard: its time limit."""
        limit = getattr(self.owner, "max_execution_time", None)
        seconds = TURN_SECONDS if limit is None else limit if limit > 0 else float("inf")
        elapsed = time.monotonic() - self.began
        if elapsed <= seconds:
            return LoopGuardDecision(GuardAction.ALLOW, "allow", "")
        text = f"Turn time limit exceeded ({elapsed:.1f}s > {seconds}s)"
        return LoopGuardDecision(GuardAction.HALT, "time_exceeded", text, {"elapsed_time": elapsed})

    def record(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: the guard has counted."""


class Exchange:
    """One call: whether the guard was asked about it, and what it answered in the tool's place."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.asked = self.blocked = False


def with_text(result: Any, text: str) -> Any:
    """*result* with *text* beside it, in the way PraisonAI adds the context of a hook."""
    if isinstance(result, str):
        return f"{result}\n\n{text}"
    if isinstance(result, dict):  # a copy: the tool may answer with one and the same object each time
        before = result.get("_additional_context")
        return {**result, "_additional_context": text if before is None else f"{before}\n\n{text}"}
    return {"value": result, "_additional_context": text}


def said(response: Any) -> tuple[str | None, int | None, Usage | None]:
    """Text, number of calls and tokens of a completion, an object or a mapping; of another kind of response the tokens alone."""
    used, usage = _part(response, "usage"), None
    if used is not None:
        sent = _part(used, "prompt_tokens") or _part(used, "input_tokens") or 0
        cached = _part(_part(used, "prompt_tokens_details"), "cached_tokens") or 0
        usage = Usage(sent, _part(used, "completion_tokens") or _part(used, "output_tokens") or 0, cached)
    choices = _part(response, "choices")
    if not choices:
        return None, None, usage
    message = _part(choices[0], "message")
    return _part(message, "content"), len(_part(message, "tool_calls") or ()), usage


def _part(whole: Any, name: str) -> Any:
    return whole.get(name) if isinstance(whole, dict) else getattr(whole, name, None)
