"""
An exchange that is new in every respect, taken up in one step.

Most exchanges of an agent are: a call that was not made before, alone in its response, whose success says something else than the
tool's answer before. It leaves behind exactly what the long way through `unstuck.settle` would, at a third of the cost; the law
that holds both ways against each other stands in `tests/core/test_fresh.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from unstuck.cycles import Step
from unstuck.empties import NEVER_EMPTY
from unstuck.failures import is_empty_answer
from unstuck.fingerprint import form_digest
from unstuck.ledger_state import LedgerState
from unstuck.ranges import MAY_NAME_RANGES, Range, range_of
from unstuck.states import Once, Pending, Round
from unstuck.trail import Trail
from unstuck.view import View

_KINDS = frozenset(("read", "wait", "shell", "other"))
_STIRS = frozenset(("shell", "other"))
_tuple = tuple.__new__


def take_fresh(
    ledger: LedgerState, trail: Trail, round_: Round, pending: Pending, text: str, time: float | None
) -> Sequence[View] | None:
    """
    Take up an exchange if it is new in every respect; return what it showed, which is nothing, `None` where it was not taken up.

    Args: *round_* has one call, *pending*, which was not made before and succeeded with *text* at *time*.
    """
    key, kind, name, value = pending.key, pending.kind, pending.tool, pending.value
    if kind not in _KINDS or pending.approved or trail.empty:
        return None
    tool, cycles = trail.tools.get(name), trail.cycles
    raw = form_digest(text.encode("utf-8", "surrogatepass"))
    if (symbol := key ^ raw) in cycles.seen:
        return None
    if tool is not None:  # nothing that is followed of the tool may go on with this answer
        before = tool.text
        if before is None or tool.args is None or raw == tool.raw or tool.key == key or tool.failed:
            return None
        if before[:6] == text[:6] and abs(len(before) - len(text)) <= 256:
            return None
        if (kind != "read" or pending.is_shell) and 0 < len(text) <= 200 and pending.may_hold(text):
            return None
    call, number, epoch, where = pending.call, round_.number, ledger.epoch, None
    if kind == "read" and (type(value) is not dict or not MAY_NAME_RANGES.isdisjoint(value)):
        where = range_of(value)
        if where is not None and trail.ground.holds(where, (epoch, ledger.stirred, ledger.compaction)):
            return None
    if (len(text) <= 120 or text[0] == "<") and is_empty_answer(text, ledger.empty_words):
        if kind not in NEVER_EMPTY:
            return None
    else:
        trail.full_round = number
    deep, intervals, calls = ledger.delegations, ledger.intervals, trail.calls
    if where is not None or kind in _STIRS or (deep is not None and deep.handoffs.total):
        _take_effect(ledger, trail, pending, (raw, text), where)
    trail.recent.append([call, pending.message, key, name, False])
    if intervals is not None and len(intervals.now) < intervals.MOST:
        intervals.step(pending)
    once = (key, name, kind, call, raw, text, number, epoch, ledger.stirred, pending.whole, ledger.compaction, time)
    if len(calls) >= trail.most:
        trail.make_room()
    calls[key] = _tuple(Once, once)
    if trail.redundant:
        trail.redundant = []
    if tool is None:
        tool = trail.new_tool(name)
    trail.new_round = trail.ok_round = tool.ok_round = tool.chain_round = number
    trail.failed = tool.echo = 0
    if tool.chain != 1:
        tool.chain, tool.chain_asked, tool.loose = 1, 0, False
    tool.raw, tool.text, tool.masked = raw, text, None
    tool.kind, tool.chain_first, tool.chain_keys, tool.epoch = kind, call, (key,), epoch
    tool.args, tool.key = pending, key
    parts = ((symbol, key, name),)
    cycles.add_new(_tuple(Step, (symbol, call, pending.message, parts, round_.waits or +(kind == "wait"))))
    return ()


def _take_effect(ledger: LedgerState, trail: Trail, pending: Pending, answer: tuple[int, str], where: Range | None) -> None:
    """What the exchange is beyond itself: work that somebody did, lines that were read, something that may have changed the world."""
    deep, (raw, text) = ledger.delegations, answer
    if deep is not None and deep.handoffs.total and ledger.brings_news(pending, raw, text):
        deep.work()
    if where is not None:
        trail.ground.add(where, text.count("\n") + 1, (ledger.epoch, ledger.stirred, ledger.compaction))
    if pending.kind in _STIRS and pending.key not in ledger.written:
        ledger.stirred += 1
        ledger.note_write(pending.key)
