"""One job that is given to others again, in other words, and comes back with what it came back with before."""

from __future__ import annotations

from typing import Protocol

from unstuck.delegations import is_task
from unstuck.records import ALIKE, Said
from unstuck.sketch import Sketch, likeness, sketch, words_of
from unstuck.spelling import differs_at_the_start, is_next_of_many
from unstuck.states import Pending, ToolState
from unstuck.volatile import mask

SAME_JOB = 0.3
"""The share of words from which on two tasks may be one: a sentence that is put another way keeps hardly more than its nouns."""
TOLD = 12
"""Different words from which on an answer tells something; shorter ones are receipts."""
SAME_ORDER = 0.55
"""The share of words from which on two tasks are one where all that came back is a receipt."""
MOST_WORDS = 64


class World(Protocol):
    """`epoch` counts changes of the world."""

    epoch: int

    def worked_since(self, pending: Pending) -> bool:
        """Whether somebody worked since a conversation was handed over in this way."""


def settle_task(world: World, tool: ToolState, pending: Pending, text: str, round_: int) -> None:
    """Count delegations in a row whose tasks are one task in other words and whose answers say the same."""
    heard, before = _heard(text), tool.args
    if (
        tool.epoch == world.epoch
        and before is not None
        and _says_the_same(tool, before, pending, heard)
        and _is_one_job(world, tool, before, pending)
    ):
        # Where only the beginning differs it may be another verb or another name: such a task neither counts nor ends the chain.
        tool.chain += tool.chain_round != round_ and not differs_at_the_start(before.spelt, pending.spelt)
        tool.loose = True
        if pending.key not in tool.chain_keys:
            tool.chain_keys = (*tool.chain_keys[-15:], pending.key)
    else:
        tool.chain, tool.chain_first, tool.chain_asked, tool.loose = 1, pending.call, 0, False
        tool.chain_keys, tool.epoch, tool.heard, tool.raw = (pending.key,), world.epoch, heard, pending.key
    tool.chain_round, tool.args, tool.key = round_, pending, pending.key


def _heard(text: str) -> Sketch:
    """The words of an answer, without numbers and identifiers."""
    return sketch((word for word in words_of(mask(text)) if not any(sign.isdigit() for sign in word)), MOST_WORDS)


def _says_the_same(tool: ToolState, before: Said, pending: Pending, heard: Sketch) -> bool:
    """Whether an answer is alike, and what is new in it is not what the task names anew: then it is about something else."""
    if likeness(tool.heard, heard) < ALIKE:
        return False
    before.settle()
    pending.settle()
    return (heard - tool.heard).isdisjoint((pending.chosen or frozenset()) - (before.chosen or frozenset()))


def _is_one_job(world: World, tool: ToolState, before: Said, pending: Pending) -> bool:
    if not is_task(pending):
        before.settle()
        return before.spelt == pending.spelt and not world.worked_since(pending)
    if pending.key == tool.key:
        return True
    least = SAME_JOB if len(tool.heard) >= TOLD else SAME_ORDER
    return before.is_like(pending, least) and not is_next_of_many(before.spelt, pending.spelt)
