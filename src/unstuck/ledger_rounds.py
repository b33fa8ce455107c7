"""When a ledger's rounds begin and end, and what a whole round says: cycles, changes of the world, work that is passed on."""

from __future__ import annotations

from collections.abc import Sequence

from unstuck.events import Call
from unstuck.ledger_state import LedgerState
from unstuck.signs import DELEGATED, PERIOD
from unstuck.states import Pending, Round
from unstuck.trail import Trail
from unstuck.view import View

NONE: Sequence[View] = ()


class LedgerRounds(LedgerState):
    """The rounds of a ledger."""

    def _join_round(self, trail: Trail, event: Call) -> Sequence[View]:
        """Begin the round of a call; the one before is over."""
        round_, number = trail.round, event.message
        views = self.close_round(trail) if round_ is not None else NONE
        if number is None:
            self._begin_round(trail)
            return views
        trail.rounds += 1
        response = self.responses.get(number)
        if response is None:
            self.messages += 1
            response = self.messages
            self._remember_response(number, response)
        trail.round = Round(trail.rounds, number, response, None)
        return views

    def _begin_round(self, trail: Trail) -> Round:
        """The round of a call that names no response: it has one of its own."""
        trail.rounds = number = trail.rounds + 1
        if not self.spoke:
            self.messages += 1
        round_ = trail.round = Round(number, None, self.messages, 1)
        return round_

    def close_rounds(self) -> list[View]:
        """End the open round of every agent."""
        views: list[View] = []
        for trail in self.trails.values():
            views.extend(self.close_round(trail))
        return views

    def close_round(self, trail: Trail) -> Sequence[View]:
        """End the open round of *trail*: it becomes one step in the sequence in which cycles are looked for."""
        round_ = trail.round
        if round_ is None:
            return ()
        trail.round = None
        return self._finish(trail, round_)

    def _finish(self, trail: Trail, round_: Round) -> Sequence[View]:
        deep, parts = self.delegations, round_.parts
        if deep is not None and round_.worked and deep.handoffs.total:
            deep.work()
        signs = self._carry_out(trail, round_) if round_.marked else 0
        if not parts:
            return NONE
        if trail.empty or trail.failed or trail.redundant or trail.window_calls is not None:
            signs |= trail.signs()
        if self.follows_cycles:
            cycles = trail.cycles
            cycles.add(round_.step())
            if cycles.turning:
                signs |= PERIOD
        last, response, views = round_.last_call, round_.response, NONE
        if signs or "round" in self.always:
            views = (View("round", trail, last, response, None, None, None, 0, None, None, None, deep, None, signs),)
        for name in (parts[0][2],) if len(parts) == 1 else sorted({part[2] for part in parts}):
            tool = trail.tools.get(name)
            signs = tool.signs(round_.number) if tool is not None else 0
            if signs:
                of_tool = View("round", trail, last, response, None, tool, None, 0, None, None, None, None, None, signs)
                views = (*views, of_tool)
        return views

    def _carry_out(self, trail: Trail, round_: Round) -> int:
        """What a round did besides looking comes into effect when it is over; returns its signs."""
        epoch = self.epoch
        if round_.stirs:
            self._stirred(trail, [key for key in round_.stirs if key not in self.written])
        if round_.written:
            self._changed(trail, [key for key in round_.written if key not in self.written])
        for pending in round_.refused:
            self._asked_again(trail, pending)
        if not round_.delegated:
            return 0
        self._passed_on(trail, round_.delegated, epoch)
        if self.delegations is not None:
            self.delegations.delegate(round_.delegated)
        return DELEGATED

    def _stirred(self, trail: Trail, keys: list[int]) -> None:
        """Something was done for the first time of which it is not known whether it changes anything."""
        self.stirred += bool(keys)
        for key in keys:
            state = trail.known(key)
            if state is not None:
                state.stirred = self.stirred
                tool = trail.tools.get(state.tool)
                if tool is not None and tool.failed:
                    tool.stirred = self.stirred  # what a tool did itself excuses none of its failures
            self.note_write(key)

    def _changed(self, trail: Trail, keys: list[int]) -> None:
        """The world was changed by new writes, whose own counts go on."""
        self.epoch += bool(keys)
        for key in keys:
            state = trail.known(key)
            if state is not None:
                state.epoch = self.epoch
            self.note_write(key)

    def _passed_on(self, trail: Trail, delegated: Sequence[Pending], epoch: int) -> None:
        """What was passed on changes nothing for the counts of passing it on, where nothing else changed since *epoch*."""
        for pending in delegated:
            for record in (trail.known(pending.key), trail.tools.get(pending.tool)):
                if record is not None and record.epoch == epoch:
                    record.epoch = self.epoch

    def _refused(self, trail: Trail, round_: Round | None, pending: Pending) -> None:
        """A guard did not let the call run."""
        if self.spent is not None and not (pending.ignored or pending.approved):
            self.spent.refuse(pending.agent, pending.tool)
        if round_ is not None:
            round_.refused, round_.marked = (*round_.refused, pending), True
        else:
            self._asked_again(trail, pending)

    def _asked_again(self, trail: Trail, pending: Pending) -> None:
        """A vetoed call is no evidence, but to have asked for it again is."""
        state, tool = trail.known(pending.key), trail.tools.get(pending.tool)
        if state is not None:
            state.asked += 1
        if tool is not None:
            tool.chain_asked += tool.chain > 1
            tool.failed_asked += tool.failed > 1
