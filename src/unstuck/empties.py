"""
Answers in a row that say: there is nothing.

Asked in vain for one thing in ever new words, that is a loop. A list of things each of which turns out not to be there is work: every
call names another one, at one place. Such calls count a third.
"""

from __future__ import annotations

from typing import Protocol

from unstuck.failures import is_empty_answer
from unstuck.settle import Answer
from unstuck.spelling import with_tool
from unstuck.states import CallState, Pending
from unstuck.sweeps import Sweep
from unstuck.trail import Trail
from unstuck.unrecorded import is_unseen

NO_LOOKS = frozenset(("write", "delegate", "talk"))
"""Kinds of tools whose answers say nothing of what is there."""
NEVER_EMPTY = NO_LOOKS | {"shell", "step", "wait"}
"""Kinds of tools whose empty answers say nothing."""


class World(Protocol):
    """`epoch` counts changes of the world; `empty_words` are further answers that say there is nothing."""

    epoch: int
    empty_words: frozenset[str]


def settle_empty(world: World, trail: Trail, pending: Pending, state: CallState, answer: Answer) -> None:
    """
    Count rounds in a row in which every look came back empty; a change of the world and an answer end the row.

    Args: *pending* is none of `NO_LOOKS`.
    """
    _, text, outcome, _, round_ = answer
    if outcome == "ok" and not text and is_unseen(pending.kind, pending.tool, pending.value, text):
        return
    empty = outcome == "ok" and says_nothing(text, world.empty_words)
    asked = state.first != pending.call  # it was, and came to this
    if pending.kind in NEVER_EMPTY and (empty or outcome != "ok" or asked):
        return
    if not empty:
        trail.full_round = round_
        trail.empty, trail.sweep = 0, None
    elif trail.full_round != round_ and not asked:  # the same question again is left to others
        _count(world, trail, pending, round_)


def says_nothing(text: str, extra: frozenset[str]) -> bool:
    """`is_empty_answer` after a look that costs less."""
    return (len(text) <= 120 or text[0] == "<") and is_empty_answer(text, extra)


def _count(world: World, trail: Trail, pending: Pending, round_: int) -> None:
    sweep = trail.sweep
    if sweep is None or sweep.epoch != world.epoch:
        sweep = trail.sweep = Sweep(world.epoch)
        trail.empty, trail.empty_round, trail.empty_first, trail.empty_tools = 0, 0, pending.call, []
    if trail.empty_round != round_:
        trail.empty, trail.empty_round = trail.empty + 1, round_
        sweep.next_round()
    pending.settle()
    sweep.now.append(with_tool(pending.tool, pending.spelt))
    if pending.tool not in trail.empty_tools:
        trail.empty_tools = sorted([*trail.empty_tools[-7:], pending.tool])
