"""
An exchange that says again what it said, taken up in one step: the same call, alone in its response, with the same answer.

As in `unstuck.fresh`, it leaves behind and shows exactly what the long way through `unstuck.settle` would; `tests/core/test_fresh.py`
holds both ways against each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from unstuck.aims import TELLING
from unstuck.cycles import Step
from unstuck.empties import NEVER_EMPTY, says_nothing
from unstuck.fingerprint import form_digest
from unstuck.ground import cover_ground
from unstuck.ledger_state import LedgerState
from unstuck.patience import goes_on
from unstuck.signs import DIFFERS, PERIOD, SAME
from unstuck.states import CallState, Pending, Round, ToolState
from unstuck.trail import Trail
from unstuck.unrecorded import is_unseen
from unstuck.view import View

_KINDS = frozenset(("read", "shell", "other"))
_tuple = tuple.__new__


def take_again(
    ledger: LedgerState, trail: Trail, round_: Round, pending: Pending, text: str, time: float | None
) -> Sequence[View] | None:
    """
    Take up an exchange if it only says again what it said; return what it showed, `None` where it was not taken up.

    Args: *round_* has one call, *pending*, which succeeded with *text* at *time*.
    """
    key, kind, number = pending.key, pending.kind, round_.number
    state, tool = trail.known(key), trail.tools.get(pending.tool)
    if state is None or tool is None or kind not in _KINDS or not _is_plain_repeat(ledger, trail, state, pending):
        return None
    if (state.same < 2 or state.blind) and is_unseen(kind, pending.tool, pending.value, text):
        return None
    raw = form_digest(text.encode("utf-8", "surrogatepass"))
    if raw != state.raw or not _goes_on(ledger, tool, pending, raw, text):
        return None
    if kind not in NEVER_EMPTY and (trail.full_round == state.round or not says_nothing(text, ledger.empty_words)):
        trail.full_round = number
    call, message = pending.call, pending.message
    trail.recent.append([call, message, key, pending.tool, False])
    if ledger.intervals is not None and state.last < ledger.intervals.started:
        ledger.intervals.step(pending)
    state.same += 1
    if state.stirred != ledger.stirred:
        state.excused += 1
    state.round, state.last, state.time, state.whole = number, call, time, pending.whole
    state.stirred = ledger.stirred
    del trail.calls[key]
    trail.calls[key] = state
    cover_ground(trail, pending)
    trail.ok_round = tool.ok_round = tool.chain_round = number
    trail.failed = 0
    tool.kind, tool.args, tool.chain = kind, pending, tool.chain + 1
    return _shown(ledger, trail, round_, pending, text, (state, tool))


def _is_plain_repeat(ledger: LedgerState, trail: Trail, state: CallState, pending: Pending) -> bool:
    """Whether nothing has come between: no change, no compaction, no waiting, no approval."""
    if (
        state.epoch != ledger.epoch
        or state.compaction != ledger.compaction
        or pending.approved
        or trail.empty
        or pending.slow
        or state.same < 1
    ):
        return False
    return (pending.kind == "read" or pending.key in ledger.written) and not goes_on(trail, state)


def _goes_on(ledger: LedgerState, tool: ToolState, pending: Pending, raw: int, text: str) -> bool:
    """Whether the tool's chain goes on with this answer."""
    if raw != tool.raw or tool.key != pending.key or tool.epoch != ledger.epoch or tool.failed or tool.args is None:
        return False
    return (pending.kind == "read" or len(text) >= TELLING) and pending.key in tool.chain_keys


def _shown(
    ledger: LedgerState,
    trail: Trail,
    round_: Round,
    pending: Pending,
    text: str,
    records: tuple[CallState, ToolState],
) -> Sequence[View]:
    """The round is over: what it and its one exchange show."""
    state, tool = records
    call, message, cycles, deep = pending.call, pending.message, trail.cycles, ledger.delegations
    symbol = state.key ^ state.raw
    cycles.add(_tuple(Step, (symbol, call, message, ((symbol, pending.key, pending.tool),), round_.waits)))
    signs = SAME if state.same > 1 else 0
    if state.differing:
        signs |= DIFFERS
    views: Sequence[View] = ()
    if signs:
        seen = ("result", trail, call, message, state, tool, pending, 0, text, None, None, None, None, signs)
        views = (_tuple(View, seen),)
    signs = trail.signs() if len(trail.redundant) > 1 else 0
    if cycles.turning:
        signs |= PERIOD
    if signs:
        views = (*views, View("round", trail, call, message, delegations=deep, signs=signs))
    signs = tool.signs(round_.number) if len(tool.chain_keys) > 1 or tool.echo > 1 else 0
    if signs:
        views = (*views, View("round", trail, call, message, tool=tool, signs=signs))
    return views
