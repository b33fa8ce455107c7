"""The words for the model: what was measured, and what to do instead. Nothing is claimed that was not counted."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from unstuck.detectors.detector import Evidence
from unstuck.findings import Level

Wording: TypeAlias = Callable[[Evidence, Level, int], str]
"""Makes the text for the model from the evidence, the level and the number of repeats."""

_NAME = re.compile(r"[^A-Za-z0-9_]")

_SEEN = {
    "repeated_result": "You have made the same call to {tools} {n} times and it came to the same outcome each time.",
    "repeated_call": "You have made the same call to {tools} again and again; its answers differ and yet hold little or nothing that earlier ones had not.",
    "alternating_calls": "You have been alternating between {tools} for {n} rounds.",
    "cycle": "You have gone through the same sequence of calls ({tools}) {n} times with the same outcomes.",
    "near_repeat": "Your last {n} calls to {tools} differed only in wording or in a limit and came to the same outcome.",
    "repeated_failure": "Your last {n} calls to {tools} failed in the same way, whatever the arguments were.",
    "recurring_failure": "{tools} has refused the same thing on the same target {n} times in this turn.",
    "failure_cascade": "Your last {n} calls to different tools ({tools}) failed in the same way.",
    "unknown_tool": "There is no tool called {tools}; you have called it {n} times.",
    "empty_answers": "Your last {n} calls ({tools}) all came back empty.",
    "stuck_poll": "You have looked {n} times with {tools} and the reading has not changed.",
    "echoed_change": "The last {n} results of {tools} only repeat what you put into the call; nothing was observed.",
    "oscillation": "You are undoing and redoing the same change with {tools}: {n} times so far.",
    "recovered_ground": "Your last {n} calls ({tools}) read again what you had already read, and nothing has changed since.",
    "delegation_loop": "The same task has been handed on {n} times with {tools}, and nobody has worked on it.",
    "handoff_loop": "The conversation has gone back and forth between the same agents {n} times.",
    "repeated_text": "Your last {n} responses were the same.",
    "monologue": "Your last {n} responses announce the same intention in other words, without acting.",
    "empty_response": "Your last {n} responses were empty.",
    "degenerate_text": "Your response repeats the same passage over and over.",
    "stalled": "Nothing has advanced in the last {n} rounds.",
    "turn_budget": "{n} calls to {tools} in this turn brought nothing that the same calls had not brought before.",
    "budget": "{n} percent of what this run may spend is used up.",
}
_ASKED = {
    "repeated_result": "Counting this one, you have asked for the same call to {tools} {n} times; whenever it ran, the outcome was the same.",
    "repeated_call": "Counting this one, you have asked {n} times for the same call to {tools}; its answers differ and yet hold little or nothing that earlier ones had not.",
    "cycle": "Counting this one, you have begun the same sequence of calls ({tools}) {n} times; its outcomes have been the same.",
    "near_repeat": "Counting this one, {n} calls to {tools} in a row differ only in wording or in a limit; all that ran came to the same outcome.",
    "repeated_failure": "Counting this one, you have called {tools} {n} times in a row; whenever it ran, it failed in the same way.",
    "unknown_tool": "There is no tool called {tools}; counting this one, you have called it {n} times.",
    "stuck_poll": "Counting this one, you have looked {n} times with {tools}; the reading has not changed.",
    "echoed_change": "Counting this one, {n} calls to {tools} in a row only bring back what you put into them.",
    "delegation_loop": "Counting this one, the same task has been handed on {n} times, and nobody has worked on it.",
    "handoff_loop": "Counting this one, the conversation has begun {n} times to go back and forth between the same agents.",
}
"""What is said before a call runs, when it is not known yet what it would come to."""
_ADVICE = {
    "empty_answers": "Take the empty answer as the answer, or say what is missing.",
    "stuck_poll": "Wait longer before you look again, or do something else meanwhile.",
    "unknown_tool": "Use one of the tools you were given.",
    "failure_cascade": "Find the common cause first, or report it.",
    "repeated_failure": "Find the cause of the error before you try again, or report it.",
    "monologue": "Make the call now, or give your final answer.",
    "repeated_text": "Say something new, act, or finish.",
    "empty_response": "Act, or give your final answer.",
    "degenerate_text": "Finish the thought in one sentence.",
    "delegation_loop": "Do the work yourself or report what keeps you from it.",
    "handoff_loop": "Decide now who answers, and answer.",
    "stalled": "Say what the goal still needs, and change your approach if this does not get there.",
    "budget": "Finish with what you have, and say what is missing.",
}
_DEFAULT_ADVICE = "Doing it again will not change that. Change your approach, or say what is blocking you."


@lru_cache(maxsize=1_024)
def plain_name(tool: str) -> str:
    """A tool's name with everything but letters, digits and `_` replaced, so that it cannot carry instructions."""
    return _NAME.sub("_", tool)[:64]


@lru_cache(maxsize=1_024)
def _named(tools: tuple[str, ...]) -> str:
    return ", ".join(f"`{plain_name(tool)}`" for tool in tools[:4]) or "the same tools"


def model_text(evidence: Evidence, level: Level, repeats: int) -> str:
    """What the model reads: what was counted, the first error line where there is one, what to do instead."""
    seen = _seen(evidence.pattern, evidence.tools, level).replace("{n}", str(repeats))
    advice = _ADVICE.get(evidence.pattern, _DEFAULT_ADVICE)
    return f"{seen} The error was: {evidence.error[:200]!r}. {advice}" if evidence.error else f"{seen} {advice}"


@lru_cache(maxsize=1_024)
def _seen(pattern: str, tools: tuple[str, ...], level: Level) -> str:
    """What happens now and what was counted, all but the number."""
    told = _ASKED if level > Level.NUDGE and pattern in _ASKED else _SEEN
    seen = told.get(pattern, "You have repeated the same steps {n} times with {tools}.").replace("{tools}", _named(tools))
    if pattern == "degenerate_text":
        return seen  # it is told where nothing was cut: the response has come in whole
    if level == Level.BLOCK:
        return f"This call was not executed. {seen}"
    return f"The run is stopped. {seen}" if level == Level.STOP else seen
