"""
What a run has shown so far: the one place where events become evidence.

A fold without clock, randomness or I/O. Each event leaves a `View` for the detectors: what just happened and which records it
touched. Every value is hashed once; masking and sketches are computed only once something repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unstuck.again import take_again
from unstuck.aims import EDITS
from unstuck.degenerate import SPAN
from unstuck.delegations import Delegations
from unstuck.empties import NO_LOOKS, settle_empty
from unstuck.events import Call, Message, Result, User
from unstuck.fingerprint import arguments, call_fingerprint, flat_form, form_digest, text_of
from unstuck.fresh import take_fresh
from unstuck.intervals import Intervals
from unstuck.kinds import TELLING_FIELDS
from unstuck.ledger_rounds import NONE, LedgerRounds
from unstuck.outcomes import OPENING, OPENINGS, corrected
from unstuck.patience import goes_on, is_patient, note_wait, put_off
from unstuck.records import HEAVY, with_plain_addresses, without
from unstuck.settle import Answer, settle_call, settle_tool
from unstuck.signs import CHAIN, DELEGATED, DIFFERS, ECHO, FAILED, PERIOD, SAME, STILL, SWING
from unstuck.states import CallState, Pending, Round, ToolState
from unstuck.swings import Swing, Swings
from unstuck.talk import settle_text
from unstuck.trail import Trail
from unstuck.view import View
from unstuck.volatile import CLIPPED, clipped, mask
from unstuck.words import REASON_FIELDS, THROWAWAY_FIELDS


class Ledger(LedgerRounds):
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
        if event.text is not None:  # without words a program only sends an answer back
            for trail in self.trails.values():
                trail.prompted = True
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
        _, number, calls, agent, _, text, reasoning, _, _, _ = event
        trail = self.trails.get(agent)
        if trail is None:
            trail = self.trail(agent)
        round_, views = trail.round, NONE
        if round_ is not None:
            trail.round = None
            views = self._finish(trail, round_)
        self.spoke = True
        self.messages = ordinal = self.messages + 1
        if self.spent is not None:
            self.spent.respond(event)
        responses = self.responses
        responses[number] = ordinal
        if len(responses) > self.window:
            responses.popitem(last=False)
        if calls:
            trail.rounds = rounds = trail.rounds + 1
            trail.round = Round(rounds, number, ordinal, calls)
            if trail.talk_count or trail.silent:
                trail.end_talk()
        if self.follows_texts and (not calls or text is not None or reasoning is not None):
            seen = self._read_text(trail, event)
            return [*views, *seen] if seen else views
        return views

    def _read_text(self, trail: Trail, event: Message) -> Sequence[View]:
        texts = [text for text in (event.text, event.reasoning) if text is not None and len(text) >= SPAN]
        views = [View("text", trail, self.calls, self.messages, text=text) for text in texts]
        if event.calls == 0:
            settle_text(trail, event, self.messages)
            for other in self.trails.values() if len(self.trails) > 1 else ():
                other.told = other.told or other is not trail
            views.append(View("message", trail, self.calls, self.messages, text=event.text))
        return views

    def on_call(self, event: Call) -> Sequence[View]:
        """A call about to run."""
        _, id, name, args, number, agent, _, _, _, origin, _, approved, annotations = event
        self.calls = ordinal = self.calls + 1
        trail = self.trails.get(agent)
        if trail is None:
            trail = self.trail(agent)
        if type(args) is not dict and args is not None:
            args = arguments(args)
        aside = origin != "model" or (self._exempt and self.reading.is_exempt(name))
        if aside and number is None:
            self._stand_apart(trail, event, args)
            return NONE
        round_, views = trail.round, NONE
        if round_ is None and number is None:
            trail.rounds = rounds = trail.rounds + 1
            if not self.spoke:
                self.messages += 1
            round_ = trail.round = Round(rounds, None, self.messages, 1)
        elif round_ is None or number is None or number != round_.message:
            views = self._join_round(trail, event)
            round_ = trail.round
            assert round_ is not None
        kind = self._kinds.get(name) if annotations is None else None
        if kind is None:
            pending = self._asked(event, round_, self._kind(event, args), args)
            pending.is_shell = name not in self._kinds
        else:
            if kind == "other" and type(args) is dict and not TELLING_FIELDS.isdisjoint(args):
                kind = self._kind(event, args)
            pending = self._asked(event, round_, kind, args)
        opened = self.open
        if id in opened or len(opened) >= self._most_open:
            self._open(id, pending)
        else:
            opened[id] = pending
        round_.open += 1
        round_.calls += 1
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
        key = call_fingerprint(name, identifying) if form is None else form_digest(form)
        whole = way = key
        if kind in _ALL_COUNTS:
            if kind == "delegate" and type(args) is dict and not REASON_FIELDS.isdisjoint(args):
                way = call_fingerprint(name, without(args, REASON_FIELDS))
        elif type(args) is dict:
            if not THROWAWAY_FIELDS.isdisjoint(args):
                key = call_fingerprint(name, self.reading.identifying(name, without(args, THROWAWAY_FIELDS)))
            elif form is not None and b"?" in form and b"://" in form:
                key = call_fingerprint(name, with_plain_addresses(identifying))
        if self._beside and type(args) is dict:
            args = without(args, self._beside)
        pending = Pending(event, self.calls, round_.response, key, kind, args)
        if form is None or len(form) > HEAVY or args is not identifying:
            pending.lighten()
        if whole != key:
            pending.whole = whole
        if kind == "delegate":
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

    def on_result(self, event: Result) -> Sequence[View]:
        """A result: the exchange is complete and becomes evidence."""
        _, id, content, outcome, time = event
        self.over = None
        pending = self.open.pop(id, None)
        if pending is None:
            self.skipped += 1
            return NONE
        trail = self.trails.get(pending.agent)
        if trail is None:
            trail = self.trail(pending.agent)
        round_ = trail.round
        if round_ is not None:
            if round_.response == pending.message and not pending.apart:
                round_.open -= 1
            else:
                round_ = None
        views = NONE
        if self.spent is not None:
            self.spent.at(time)
        if outcome == "blocked":
            self._refused(trail, round_, pending)
        elif not pending.ignored or (self.ceiling is not None and pending.exempt):
            text = content if type(content) is str else text_of(content)
            if len(text) > CLIPPED:  # so that what is kept does not grow with the payloads
                text = clipped(text)
            if self.follows_calls and (
                outcome == "error" or pending.kind == "write" or pending.is_shell or text[:OPENING] in OPENINGS
            ):
                event = corrected(event, pending, text)
                text = event.content if event.outcome == "ok" != outcome else text
                outcome = event.outcome
            if outcome == "ok" and self._may_be_fresh and round_ is not None and round_.calls == 1 and self.ceiling is None:
                expected = round_.expected
                if expected == 1 or expected is None:
                    take = take_again if pending.key in trail.calls else take_fresh
                    shown = take(self, trail, round_, pending, text, time)
                    if shown is not None:
                        trail.round = None
                        return shown
            views = self._settle(trail, round_, pending, text, event)
        if round_ is not None and round_.open <= 0 and (round_.expected is None or round_.calls >= round_.expected):
            trail.round = None
            closing = self._finish(trail, round_)
            return [*views, *closing] if views else closing
        return views

    def _settle(self, trail: Trail, round_: Round | None, pending: Pending, text: str, event: Result) -> Sequence[View]:
        _, _, content, outcome, time = event
        if self._volatile:
            text = mask(text, self._volatile)
        raw = form_digest(text.encode("utf-8", "surrogatepass"))
        if outcome != "ok":
            raw ^= OUTCOMES[outcome]
        if self.ceiling is not None:
            self.over = self.ceiling.count(pending.key, raw, text, pending.tool, pending.agent, pending.call)
            if pending.ignored:
                return NONE
        key = pending.key
        if trail.window_calls is not None:
            key = pending.whole or key  # the rules of a window tell calls apart by all of their arguments
            trail.window_calls.settle(pending.call, raw, outcome, content is None)
        trail.recent.append([pending.call, pending.message, key, pending.tool, False])
        if self.spent is not None and not pending.approved:
            tally = self.spent.tally(pending.agent, pending.tool)
            if tally is not None:
                tally.count(pending.key, raw, text)
        if self.follows_calls:
            late = round_ is None
            if round_ is None:
                trail.rounds += 1
                round_ = Round(trail.rounds, None, pending.message, 1)
            answer = _tuple(Answer, (raw, text, outcome, time, round_.number))
            views = self._weigh(trail, round_, pending, answer)
            return [*views, *self._finish(trail, round_)] if late and not pending.approved else views
        if round_ is not None:
            round_.join(pending, pending.key)
        return [View("result", trail, pending.call, pending.message, pending=pending)] if "result" in self.always else NONE

    def _weigh(self, trail: Trail, round_: Round, pending: Pending, answer: Answer) -> Sequence[View]:
        """What the exchange says beyond itself: streaks of its call and its tool, changes of the world."""
        if self.intervals is not None:
            self.intervals.step(pending)
        deep = self.delegations
        news = deep is None or not deep.handoffs.total or self.brings_news(pending, answer.raw, answer.text)
        state = settle_call(self, trail, pending, answer)
        if pending.approved:
            return NONE
        _, text, outcome, _, _ = answer
        kind, tool, swing, signs = pending.kind, None, None, 0
        if self.follows_tools:
            tool = settle_tool(self, trail, pending, answer)
            if kind not in NO_LOOKS:
                settle_empty(self, trail, pending, state, answer)
        round_.join(pending, pending.key ^ state.raw)
        if outcome == "ok":
            if news and state.same < 2 and kind != "delegate":
                round_.worked = True
            if kind != "read":
                if state.news and pending.is_shell:
                    self.written.pop(pending.key, None)  # the same command did something else: `git bisect bad`
                swing = self._carried_out(pending, round_)
                if swing is not None:
                    signs = SWING
        elif tool is not None and kind == "write" and tool.fresh_now and EDITS in pending.aims():
            round_.stirs, round_.marked = (*round_.stirs, pending.key), True  # it failed after it had changed something
        if state.same > 1:
            signs |= STILL if kind == "wait" else SAME
        if state.differing:
            signs |= DIFFERS
        if signs or "result" in self.always:
            call, message = pending.call, pending.message
            seen = ("result", trail, call, message, state, tool, pending, 0, text, None, swing, None, None, signs)
            return (_tuple(View, seen),)
        return NONE

    def _carried_out(self, pending: Pending, round_: Round) -> Swing | None:
        """A call succeeded: note what it did, for when the round is over."""
        kind = pending.kind
        if kind == "delegate":
            round_.delegated, round_.marked = (*round_.delegated, pending), True
        key = pending.way or pending.key
        if key not in self.written:
            if kind in ("write", "delegate"):
                round_.written, round_.marked = (*round_.written, key), True
            elif kind in _MAY_CHANGE:
                round_.stirs, round_.marked = (*round_.stirs, pending.key), True
        if kind == "write" and self.swings is not None and pending.told is not None:
            return self.swings.change(pending.told, pending.key, pending.call)
        return None


_tuple = tuple.__new__  # a named tuple's own constructor costs three times as much, on every exchange
_FORESEEN = frozenset(("delegate", "wait"))
"""Kinds of tools whose calls are looked at before they run, also where none was made before."""
_ALL_COUNTS = frozenset(("write", "delegate", "talk"))
"""Kinds of tools of which every argument is part of what they do."""
_MAY_CHANGE = frozenset(("shell", "step", "other"))
"""Kinds of tools whose success, the first time, may have changed the world: looking again after it is no repetition."""
OUTCOMES = {"error": 1, "retry": 2, "denied": 3, "blocked": 4}
