"""What a ledger takes up of a call before it runs: its fingerprint, its kind, and what it would be a sign of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unstuck.events import Call
from unstuck.fingerprint import arguments, call_fingerprint, flat_form, form_digest
from unstuck.kinds import TELLING_FIELDS
from unstuck.ledger_rounds import NONE, LedgerRounds
from unstuck.patience import goes_on, is_patient, note_wait, put_off
from unstuck.records import HEAVY, with_plain_addresses, without
from unstuck.signs import CHAIN, DELEGATED, DIFFERS, ECHO, FAILED, PERIOD, SAME, STILL
from unstuck.states import CallState, Pending, Round, ToolState
from unstuck.trail import Trail
from unstuck.view import View
from unstuck.words import REASON_FIELDS, THROWAWAY_FIELDS


class LedgerCalls(LedgerRounds):
    """The calls of a ledger."""

    def on_call(self, event: Call) -> Sequence[View]:
        """A call about to run."""
        _, id, name, args, number, agent, _, _, _, origin, _, approved, annotations = event
        self.calls = ordinal = self.calls + 1
        trail = self.trails.get(agent)
        if trail is None:
            trail = self.trail(agent)
        if type(args) is not dict and args is not None:
            args = arguments(args)
        aside = False
        if origin != "model" or self._exempt:
            aside = origin != "model" or self.reading.is_exempt(name)
            if aside and number is None:
                self._stand_apart(trail, event, args)
                return NONE
        round_, views = trail.round, NONE
        if round_ is None and number is None:
            trail.rounds = rounds = trail.rounds + 1
            if not self.spoke:
                self.messages += 1
            round_ = trail.round = Round(rounds, None, self.messages, 1)
            round_.open = round_.calls = 1
        else:
            if round_ is None or number is None or number != round_.message:
                views = self._join_round(trail, event)
                round_ = trail.round
                assert round_ is not None
            round_.open += 1
            round_.calls += 1
        kind = self._kinds.get(name) if annotations is None else None
        if kind is None:
            pending = self._asked(event, round_, self._kind(event, args), args)
            pending.is_shell = name not in self._kinds
        else:
            if kind == "other" and type(args) is dict and not TELLING_FIELDS.isdisjoint(args):
                kind = self._kind(event, args)
            pending = self._asked(event, round_, kind, args)
        opened = self.open
        if opened and (id in opened or len(opened) >= self._most_open):
            self._open(id, pending)
        else:
            opened[id] = pending
        if aside or approved:
            self._set_aside(trail, pending, event)
            return views
        if trail.window_calls is not None:
            trail.window_calls.add(pending.whole or pending.key, ordinal, round_.response, name)
        if self.spent is not None:
            self.spent.call(agent, name, ordinal, event.time)
        key, tool = pending.key, trail.tools.get(name)
        state = trail.known(key) if key in trail.calls else None
        quiet = tool is None or (tool.chain < 2 and tool.failed < 2 and tool.echo < 2)
        if quiet and state is None and pending.kind not in _FORESEEN and "call" not in self.always:
            return views
        seen = self._foreseen(trail, round_, pending, state, tool)
        return [*views, *seen] if views else seen

    def _asked(self, event: Call, round_: Round, kind: str, args: Any) -> Pending:
        """The record of a call: its fingerprint leaves out what only tells one call from another."""
        name = event.tool
        identifying = self.reading.identifying(name, args) if self._identity else args
        form = flat_form(name, identifying)
        whole = key = call_fingerprint(name, identifying) if form is None else form_digest(form)
        way = 0
        if kind in _ALL_COUNTS:
            if kind == "delegate":
                said = without(args, REASON_FIELDS) if type(args) is dict and not REASON_FIELDS.isdisjoint(args) else None
                way = call_fingerprint(name, said) if said is not None else key
        elif type(args) is dict:
            if not THROWAWAY_FIELDS.isdisjoint(args):
                key = call_fingerprint(name, self.reading.identifying(name, without(args, THROWAWAY_FIELDS)))
            elif form is not None and b"?" in form and b"://" in form:
                key = call_fingerprint(name, with_plain_addresses(identifying))
        if self._beside and type(args) is dict:
            args = without(args, self._beside)
        pending = Pending(event, self.calls, round_.response, key, kind, args)
        if form is None or len(form) > HEAVY or self._identity:
            pending.lighten()
        if whole != key:
            pending.whole = whole
        if way:
            pending.way = way
        return pending

    def _foreseen(
        self, trail: Trail, round_: Round, pending: Pending, state: CallState | None, tool: ToolState | None
    ) -> Sequence[View]:
        """What a call about to run would be a sign of if it came to what it came to before."""
        key, epoch = pending.key, self.epoch
        if pending.kind == "wait":
            note_wait(trail, pending)
        signs = DELEGATED if pending.kind == "delegate" else 0
        if state is not None:
            if pending.time is not None or trail.paused:
                pending.slow = put_off(trail, state, pending)
            pending.excused = state.stirred != self.stirred or is_patient(pending)
            if self._would_count(trail, state, pending):
                signs |= STILL if pending.kind == "wait" else SAME
                if state.differing:
                    signs |= DIFFERS
            if trail.cycles.turning:
                signs |= PERIOD
        if tool is not None:  # a change of the world ended the streaks of before
            if tool.chain > 1 and tool.epoch == epoch and (len(tool.chain_keys) > 1 or key != tool.chain_keys[0]):
                signs |= CHAIN
            if tool.failed > 1 and tool.failed_epoch == epoch:
                signs |= FAILED
            if tool.echo > 1:
                signs |= ECHO
        if not signs and "call" not in self.always:
            return NONE
        ahead = 0 if state is not None and round_.parts and round_.holds(key) else 1
        deep, call, response = self.delegations, pending.call, round_.response
        seen = ("call", trail, call, response, state, tool, pending, ahead, None, None, None, deep, None, signs)
        return (_tuple(View, seen),)

    def _would_count(self, trail: Trail, state: CallState, pending: Pending) -> bool:
        """Whether the call counts if it comes to the outcome it had: not once the world changed, the free re-read, a slow look."""
        if state.epoch != self.epoch or (state.compaction != self.compaction and state.fresh_read != self.epoch):
            return False
        if goes_on(trail, state) or (pending.kind == "delegate" and self.worked_since(pending)):
            return False
        return not pending.slow or (state.slow + 1) % pending.slow == 0

    def _kind(self, event: Call, args: Any) -> str:
        """The tool's kind; remembered where it depends on the name alone."""
        if not self.follows_calls:
            return "other"
        kinds, tool = self.reading.kinds, event.tool
        if event.annotations is None:
            by_name = kinds.by_name(tool)
            if by_name is not None:
                if len(self._kinds) < 1_024:
                    self._kinds[tool] = by_name
                if by_name != "other":
                    return by_name
        return kinds.of(tool, args, event.annotations)

    def _stand_apart(self, trail: Trail, event: Call, args: Any) -> None:
        """A call that is no evidence and names no response: it neither begins a round nor ends one."""
        self.messages += not self.spoke and event.origin == "model"  # what a program puts in is no response
        pending = Pending(event, self.calls, self.messages, call_fingerprint(event.tool, args), "other", args)
        pending.lighten()
        pending.apart = True
        self._open(event.id, pending)
        self._set_aside(trail, pending, event)

    def _set_aside(self, trail: Trail, pending: Pending, event: Call) -> None:
        """A call that is no evidence: made by a program, sent again, exempt, or approved by a person."""
        pending.exempt = event.origin == "model" and self.reading.is_exempt(event.tool)
        pending.ignored = event.origin != "model" or pending.exempt
        state = trail.known(pending.key)
        if event.approved and state is not None:
            state.lift = self.reading.approved_repeats


_tuple = tuple.__new__  # a named tuple's own constructor costs three times as much, on every exchange
_FORESEEN = frozenset(("delegate", "wait"))
"""Kinds of tools whose calls are looked at before they run, also where none was made before."""
_ALL_COUNTS = frozenset(("write", "delegate", "talk"))
"""Kinds of tools of which every argument is part of what they do."""
