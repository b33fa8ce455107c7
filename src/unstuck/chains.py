"""Whether a call of one tool that came to the outcome of the call before is a spelling of it, or asks something else."""

from __future__ import annotations

from unstuck.aims import TELLING, asks_in_words
from unstuck.failures import is_empty_answer, lists_hits, refuses, reports_failure
from unstuck.patience import SLOW
from unstuck.spelling import LONGEST_NAME, between
from unstuck.states import Pending, ToolState
from unstuck.unrecorded import is_unseen

TERSE = 32
"""Characters up to which the answer of a tool that moves something on by one may be a mere receipt."""
REWORDED = 0.2
"""The share of words from which on a question that finds the same as the one before is that question in other words."""
REFUSAL = 24
"""Characters from which on a refusal is so particular that the same one again is no answer to another question."""


def is_spelling_of(tool: ToolState, pending: Pending, text: str, outcome: str) -> bool:
    """
    Whether a call that came to the outcome of the one before is a spelling of it.

    The same long answer says nothing new whatever was asked. A short one is a receipt where the tool does something (an unknown
    command, an unknown tool): the next target is work. Nothing found is found again with every other question. To have waited for a
    minute before a look is none; to have waited for a while is held against nobody.
    """
    if pending.kind != "wait" or outcome != "ok":
        return _goes_on(tool, pending, text, outcome)
    if pending.slow or pending.waits() >= SLOW or not _goes_on(tool, pending, text, outcome):
        return False
    tool.loose = tool.loose or pending.waits() >= PAUSE
    return True


def _goes_on(tool: ToolState, pending: Pending, text: str, outcome: str) -> bool:
    if len(text) >= TELLING:
        tool.loose = tool.loose or not (pending.key in tool.chain_keys or tool.is_alike(pending))
        return True
    if outcome == "ok" and len(text) >= REFUSAL and refuses(text):
        tool.loose = tool.loose or not (pending.key in tool.chain_keys or tool.is_alike(pending))
        return True
    if outcome == "ok" and pending.kind not in ("read", "wait") and not reports_failure(text):
        if pending.key in tool.chain_keys:
            return len(tool.chain_keys) > 1  # the very same call is left to others
        same = _comes_to_the_same(tool, pending, text)
        tool.loose = tool.loose or same
        return same
    if outcome == "ok" and is_unseen(pending.kind, pending.tool, pending.value, text):
        return False
    if pending.key in tool.chain_keys:
        return True
    if outcome == "ok" and is_empty_answer(text):
        return tool.is_alike(pending, 1.0)
    if tool.is_alike(pending):
        another = outcome == "ok" and _is_status(text) and _is_next(tool, pending)
        return not another or _comes_to_the_same(tool, pending, text)
    if outcome == "ok" and pending.kind == "read" and lists_hits(text) and asks_in_words(pending.value):
        tool.loose = tool.loose or tool.is_alike(pending, REWORDED)
        return tool.loose
    if outcome == "ok" and _comes_to_the_same(tool, pending, text):
        tool.loose = True
        return True
    return False


def _is_status(text: str) -> bool:
    """Whether an answer is one short word or two: `active`, `not found`, `200`."""
    return len(text) <= TERSE and "\n" not in text.strip()


def _is_next(tool: ToolState, pending: Pending) -> bool:
    """Whether a call asks the same as the one before about the next of many things: a host, a repository, a file."""
    before = tool.args
    if before is None or pending.kind == "wait" or asks_in_words(pending.value):
        return False
    pending.settle()
    before.settle()
    name = between(before.spelt, pending.spelt)
    return 0 < len(name) <= LONGEST_NAME and any(word >= 0 for word in name)


def _comes_to_the_same(tool: ToolState, pending: Pending, text: str) -> bool:
    """Whether a call is the one before but for noise; of a tool that moves something on, a mere receipt does not say so."""
    if tool.args is None or pending.kind not in _NOISY or (pending.kind == "step" and len(text) <= TERSE):
        return False
    if pending.kind == "wait" and pending.waits() >= PAUSE:
        return False
    return not set(tool.args.gists()).isdisjoint(pending.gists())


PAUSE = 10.0
"""Seconds from which on a command that waits before it looks is a poll."""
_NOISY = frozenset(("read", "wait", "shell", "step", "other"))
