"""
What a run has shown so far: the one place where events become evidence.

A fold without clock, randomness or I/O. Each event leaves a `View` for the detectors: what just happened and which records it
touched. Every value is hashed once; masking and sketches are computed only once something repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unstuck.degenerate import SPAN
from unstuck.delegations import Delegations
from unstuck.events import Call, Message, Result, User
from unstuck.fingerprint import arguments, call_fingerprint, text_digest, text_of
from unstuck.intervals import Intervals
from unstuck.kinds import kind_of_name
from unstuck.ledger_state import LedgerState
from unstuck.settle import SLOW, Answer, settle_call, settle_empty, settle_text, settle_tool
from unstuck.signs import CHAIN, DELEGATED, DIFFERS, ECHO, FAILED, PERIOD, SAME, SWING
from unstuck.states import CallState, Pending, Round
from unstuck.swings import Swing, Swings
from unstuck.trail import Trail
from unstuck.view import View
from unstuck.volatile import CLIPPED, clipped, mask
from unstuck.words import THROWAWAY_FIELDS


class Ledger(LedgerState):
    """The evidence of one run, bounded by the window whatever the run's length."""

    def on_user(self, event: User) -> Sequence[View]:
        """A turn begins where a person speaks; anything else in the user's role only ends the open rounds."""
        views = self.close_rounds()
        if event.origin == "user" and self.reading.turns:
            if self.spent is not None:
                self.spent.new_turn()
            for pending in self.open.values():
                pending.ignored = pending.apart = True  # what comes back now was asked for in the turn before
            self.trails.clear()
            self.written.clear()
            if self.swings is not None:
                self.swings = Swings(self.reading.window)
            if self.delegations is not None:
                self.delegations = Delegations(self.reading.window)
            if self.intervals is not None:
                self.intervals = Intervals()
            self.epoch += 1
            return []
        return views

    def on_compaction(self) -> list[View]:
        """The context was compacted: one re-read of each thing is fair."""
        self.compaction += 1
        if self.intervals is None or not self.trails:
            return []
        self.intervals.compacted(self.calls)
        trail = next(reversed(self.trails.values()))
        return [View("compaction", trail, self.calls, self.messages, intervals=self.intervals)]

    def on_message(self, event: Message) -> Sequence[View]:
        """A response: the round before it is over, and its text is looked at."""
        trail = self.trail(event.agent)
        views = self.close_round(trail)
        self.spoke = True
        self.messages += 1
        if self.spent is not None:
            self.spent.respond(event)
        self._remember_response(event.message, self.messages)
        if event.calls:
            trail.rounds += 1
            trail.round = Round(trail.rounds, event.message, self.messages, event.calls)
        if self.follows_texts:
            seen = self._read_text(trail, event)
            return [*views, *seen] if seen else views
        return views

    def _read_text(self, trail: Trail, event: Message) -> Sequence[View]:
        if event.calls:
            trail.end_talk()
        texts = [text for text in (event.text, event.reasoning) if text is not None and len(text) >= SPAN]
        views = [View("text", trail, self.calls, self.messages, text=text) for text in texts]
        if event.calls == 0:
            settle_text(trail, event.text or "", event.reasoning or "", self.messages)
            views.append(View("message", trail, self.calls, self.messages, text=event.text))
        return views

    def on_call(self, event: Call) -> Sequence[View]:
        """A call about to run."""
        self.calls += 1
        trail = self.trails.get(event.agent) or self.trail(event.agent)
        name, args, number = event.tool, event.args, event.message
        if type(args) is not dict and args is not None:
            args = arguments(args)
        if number is None and (event.origin != "model" or (self.reading.exempt and self.reading.is_exempt(name))):
            self._stand_apart(trail, event, args)
            return ()
        views: Sequence[View] = ()
        round_ = trail.round
        if round_ is None or number is None or number != round_.message:
            views = self._join_round(trail, event)
            round_ = trail.round
            assert round_ is not None
        kind = self._kinds.get(name) if event.annotations is None else None
        if kind is None:
            kind = self._kind(event, args)
        key = call_fingerprint(name, self.reading.identifying(name, args) if self.reading.identity else args)
        whole = key
        if type(args) is dict:
            if kind not in _ALL_COUNTS and not THROWAWAY_FIELDS.isdisjoint(args):
                key = call_fingerprint(name, self.reading.identifying(name, _without(args, THROWAWAY_FIELDS)))
            if self._beside:
                args = _without(args, self._beside)
        pending = Pending(event, self.calls, round_.response, key, kind, args)
        pending.is_shell = self._kinds.get(name) is None
        pending.whole = whole
        self._open(event.id, pending)
        round_.open += 1
        round_.calls += 1
        if event.origin != "model" or event.approved or (self.reading.exempt and self.reading.is_exempt(name)):
            self._set_aside(trail, pending, event)
            return views
        if trail.window_calls is not None:
            trail.window_calls.add(whole, self.calls, round_.response, name)
        if self.spent is not None:
            self.spent.call(event.agent, name, self.calls, event.time)
        state, tool = trail.calls.get(key), trail.tools.get(name)
        signs = DELEGATED if kind == "delegate" else 0
        if state is not None:
            pending.excused = state.stirred != self.stirred
            if self._would_count(state, pending):
                signs |= (SAME | DIFFERS) if state.differing else SAME
            if trail.cycles.matched:
                signs |= PERIOD
        if tool is not None:
            epoch = self.epoch  # a change of the world ended the streaks of before
            chain, failed = tool.chain > 1 and tool.epoch == epoch, tool.failed > 1 and tool.failed_epoch == epoch
            signs |= (CHAIN * chain) | (FAILED * failed) | (ECHO * (tool.echo > 1))
        if signs or "call" in self.always:
            ahead = 0 if state is not None and round_.holds(key) else 1
            deep = self.delegations
            view = View(
                "call", trail, self.calls, round_.response, state, tool, pending, ahead, None, None, None, deep, None, signs
            )
            return [*views, view] if views else [view]
        return views

    def _would_count(self, state: CallState, pending: Pending) -> bool:
        """Whether the call counts if it comes to the outcome it had: not once the world changed, the free re-read, a slow look."""
        if state.epoch != self.epoch or (state.compaction != self.compaction and state.fresh_read != self.epoch):
            return False
        if pending.kind != "wait" or pending.time is None or state.time is None or pending.time - state.time < SLOW:
            return True
        return (state.slow + 1) % 10 == 0

    def _kind(self, event: Call, args: Any) -> str:
        """The tool's kind; remembered where it depends on the name alone."""
        if not self.follows_calls:
            kind: str = "other"
        else:
            kind = self.reading.kinds.of(event.tool, args, event.annotations)
            if event.annotations is not None or kind_of_name(event.tool, self.reading.kinds.words) == "shell":
                return kind
        if len(self._kinds) < 1_024:
            self._kinds[event.tool] = kind
        return kind

    def _stand_apart(self, trail: Trail, event: Call, args: Any) -> None:
        """A call that is no evidence and names no response: it neither begins a round nor ends one."""
        self.messages += not self.spoke and event.origin == "model"  # what a program puts in is no response
        pending = Pending(event, self.calls, self.messages, call_fingerprint(event.tool, args), "other", args)
        pending.apart = True
        self._open(event.id, pending)
        self._set_aside(trail, pending, event)

    def _set_aside(self, trail: Trail, pending: Pending, event: Call) -> None:
        """A call that is no evidence: made by a program, sent again, exempt, or approved by a person."""
        pending.exempt = event.origin == "model" and self.reading.is_exempt(event.tool)
        pending.ignored = event.origin != "model" or pending.exempt
        state = trail.calls.get(pending.key)
        if event.approved and state is not None:
            state.lift = self.reading.approved_repeats

    def _join_round(self, trail: Trail, event: Call) -> Sequence[View]:
        """Begin the round of a call; the one before is over."""
        round_, number = trail.round, event.message
        views = self.close_round(trail) if round_ is not None else ()
        trail.rounds += 1
        if number is None:
            if not self.spoke:
                self.messages += 1
            trail.round = Round(trail.rounds, None, self.messages, 1)
            return views
        response = self.responses.get(number)
        if response is None:
            self.messages += 1
            response = self.messages
            self._remember_response(number, response)
        trail.round = Round(trail.rounds, number, response, None)
        return views

    def on_result(self, event: Result) -> Sequence[View]:
        """A result: the exchange is complete and becomes evidence."""
        self.over = None
        pending = self.open.pop(event.id, None)
        if pending is None:
            self.skipped += 1
            return ()
        trail = self.trails.get(pending.agent) or self.trail(pending.agent)
        round_ = trail.round
        if round_ is not None:
            if round_.response == pending.message and not pending.apart:
                round_.open -= 1
            else:
                round_ = None
        views: Sequence[View] = ()
        if self.spent is not None:
            self.spent.at(event.time)
        if event.outcome == "blocked":
            if self.spent is not None and not (pending.ignored or pending.approved):
                self.spent.refuse(pending.agent, pending.tool)
            if round_ is not None:
                round_.refused = (*round_.refused, pending)
            else:
                self._asked_again(trail, pending)
        elif not pending.ignored or (self.ceiling is not None and pending.exempt):
            views = self._settle(trail, round_, pending, event)
        if round_ is not None and round_.open <= 0 and (round_.expected is None or round_.calls >= round_.expected):
            closing = self.close_round(trail)
            return [*views, *closing] if views else closing
        return views

    def _asked_again(self, trail: Trail, pending: Pending) -> None:
        """A vetoed call is no evidence, but to have asked for it again is."""
        state, tool = trail.calls.get(pending.key), trail.tools.get(pending.tool)
        if state is not None:
            state.asked += 1
        if tool is not None:
            tool.chain_asked += tool.chain > 1
            tool.failed_asked += tool.failed > 1

    def _settle(self, trail: Trail, round_: Round | None, pending: Pending, event: Result) -> Sequence[View]:
        content, outcome = event.content, event.outcome
        text = content if type(content) is str else text_of(content)
        if len(text) > CLIPPED:  # so that what is kept does not grow with the payloads
            text = clipped(text)
        if self._volatile:
            text = mask(text, self._volatile)
        raw = text_digest(text)
        if outcome != "ok":
            raw ^= OUTCOMES[outcome]
        if self.ceiling is not None:
            self.over = self.ceiling.count(pending.key, raw, text, pending.tool, pending.agent, pending.call)
            if pending.ignored:
                return ()
        trail.recent.append([pending.call, pending.message, pending.key, pending.tool, False])
        if trail.window_calls is not None:
            trail.window_calls.settle(pending.call, raw, outcome, content is None)
        if self.spent is not None and not pending.approved:
            tally = self.spent.tally(pending.agent, pending.tool)
            if tally is not None:
                tally.count(pending.key, raw, text)
        if self.follows_calls:
            return self._weigh(trail, round_, pending, raw, text, event)
        if round_ is not None:
            round_.join(pending, pending.key)
        return [View("result", trail, pending.call, pending.message, pending=pending)] if "result" in self.always else ()

    def _weigh(
        self, trail: Trail, round_: Round | None, pending: Pending, raw: int, text: str, event: Result
    ) -> Sequence[View]:
        """What the exchange says beyond itself: streaks of its call and its tool, changes of the world."""
        if self.intervals is not None:
            self.intervals.step(pending)
        late = round_ is None
        if round_ is None:
            trail.rounds += 1
            round_ = Round(trail.rounds, None, pending.message, 1)
        outcome = event.outcome
        answer = Answer(raw, text, outcome, event.time, round_.number)
        state = settle_call(self, trail, pending, answer)
        if pending.approved:
            return ()
        tool = None
        if self.follows_tools:
            tool = settle_tool(self, trail, pending, answer)
            settle_empty(trail, pending, answer, self.reading.kinds.words.empty)
        round_.join(pending, state.symbol)
        swing = self._carried_out(pending, round_) if outcome == "ok" else None
        signs = (SAME if state.same > 1 else 0) | (DIFFERS if state.differing else 0) | (SWING if swing is not None else 0)
        views: Sequence[View] = ()
        if signs or "result" in self.always:
            call, message = pending.call, pending.message
            views = [View("result", trail, call, message, state, tool, pending, 0, text, None, swing, None, None, signs)]
        return [*views, *self._finish(trail, round_)] if late else views

    def _carried_out(self, pending: Pending, round_: Round) -> Swing | None:
        """A call succeeded: note what it did, for when the round is over."""
        kind = pending.kind
        if kind == "delegate":
            round_.delegated = (*round_.delegated, pending)
        else:
            round_.worked = True
        if pending.key not in self.written:
            if kind in ("write", "delegate"):
                round_.written = (*round_.written, pending.key)
            elif kind in _MAY_CHANGE:
                round_.stirs = (*round_.stirs, pending.key)
        if kind == "write" and self.swings is not None and pending.told is not None:
            return self.swings.change(pending.told, pending.key, pending.call)
        return None

    def _stirred(self, trail: Trail, keys: list[int]) -> None:
        """Something was done for the first time of which it is not known whether it changes anything."""
        self.stirred += bool(keys)
        for key in keys:
            state = trail.calls.get(key)
            if state is not None:
                state.stirred = self.stirred
            self._note_write(key)

    def _note_write(self, key: int) -> None:
        self.written[key] = None
        if len(self.written) > 4 * self.reading.window:
            del self.written[next(iter(self.written))]

    def _changed(self, trail: Trail, keys: list[int]) -> None:
        """The world was changed by new writes, whose own counts go on."""
        self.epoch += bool(keys)
        for key in keys:
            state = trail.calls.get(key)
            if state is not None:
                state.epoch = self.epoch
            self._note_write(key)

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
        if round_.stirs:
            self._stirred(trail, [key for key in round_.stirs if key not in self.written])
        if round_.written:
            self._changed(trail, [key for key in round_.written if key not in self.written])
        deep = self.delegations
        if deep is not None:
            if round_.worked:
                deep.work()
            if round_.delegated:
                deep.delegate(round_.delegated)
        for pending in round_.refused:
            self._asked_again(trail, pending)
        parts = round_.parts
        if not parts:
            return ()
        signs = trail.signs() | (DELEGATED if round_.delegated else 0)
        if self.follows_cycles:
            trail.cycles.add(round_.step())
            if trail.cycles.matched:
                signs |= PERIOD
        views: list[View] = []
        last, response = round_.last_call, round_.response
        if signs or "round" in self.always:
            views.append(View("round", trail, last, response, None, None, None, 0, None, None, None, deep, None, signs))
        for name in (parts[0][2],) if len(parts) == 1 else sorted({part[2] for part in parts}):
            tool = trail.tools.get(name)
            signs = tool.signs(round_.number) if tool is not None else 0
            if signs:
                views.append(View("round", trail, last, response, None, tool, None, 0, None, None, None, None, None, signs))
        return views


def _without(args: dict[Any, Any], fields: frozenset[str]) -> dict[Any, Any]:
    return {name: value for name, value in args.items() if type(name) is not str or name.lower() not in fields}


_ALL_COUNTS = frozenset(("write", "delegate", "talk"))
"""Kinds of tools of which every argument is part of what they do."""
_MAY_CHANGE = frozenset(("shell", "step", "other"))
"""Kinds of tools whose success, the first time, may have changed the world: looking again after it is no repetition."""
OUTCOMES = {"error": 1, "retry": 2, "denied": 3, "blocked": 4}
