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
from unstuck.ranges import MAY_NAME_RANGES, range_of
from unstuck.states import Once, Pending, Round, ToolState
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
    symbol = key ^ raw
    if (tool is not None and not _says_something_else(tool, pending, raw, text)) or symbol in cycles.seen:
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
    if deep is not None and deep.handoffs.total and ledger.brings_news(pending, raw, text):
        deep.work()
    if where is not None:
        trail.ground.add(where, text.count("\n") + 1, (epoch, ledger.stirred, ledger.compaction))
    trail.recent.append([call, pending.message, key, name, False])
    if intervals is not None and len(intervals.now) < intervals.MOST:
        intervals.step(pending)
    if kind in _STIRS and key not in ledger.written:
        ledger.stirred += 1
        ledger.note_write(key)
    once = (key, name, kind, call, raw, text, number, epoch, ledger.stirred, pending.whole, ledger.compaction, time)
    if len(calls) < trail.most and not trail.redundant:
        calls[key] = _tuple(Once, once)
    else:
        trail.note(_tuple(Once, once))
    if tool is None:
        tool = trail.new_tool(name)
    trail.new_round = trail.ok_round = tool.ok_round = tool.chain_round = number
    trail.failed = tool.echo = 0
    if tool.chain != 1:
        tool.chain, tool.chain_asked, tool.loose = 1, 0, False
    tool.raw, tool.text, tool.masked = raw, text, None
    tool.kind, tool.chain_first, tool.chain_keys, tool.epoch = kind, call, (key,), epoch
    tool.args, tool.key = pending, key
    waits = 1 if kind == "wait" else 0
    cycles.add_new(_tuple(Step, (symbol, call, pending.message, ((symbol, key, name),), round_.waits or waits)))
    return ()


def _says_something_else(tool: ToolState, pending: Pending, raw: int, text: str) -> bool:
    """Whether nothing that is followed of *tool* goes on with this answer."""
    before = tool.text
    if before is None or tool.args is None or raw == tool.raw or tool.key == pending.key or tool.failed:
        return False
    if before[:6] == text[:6] and abs(len(before) - len(text)) <= 256:
        return False
    return not ((pending.kind != "read" or pending.is_shell) and 0 < len(text) <= 200 and pending.may_hold(text))
