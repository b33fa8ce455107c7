"""
What a run has shown so far: the one place where events become evidence.

A fold without clock, randomness or I/O. Each event leaves a `View` for the detectors: what just happened and which records it
touched. Every value is hashed once; masking and sketches are computed only once something repeats.
"""

from __future__ import annotations

from collections.abc import Sequence

from unstuck.again import take_again
from unstuck.aims import EDITS
from unstuck.degenerate import SPAN
from unstuck.delegations import Delegations
from unstuck.empties import NO_LOOKS, settle_empty
from unstuck.events import Message, Result, User
from unstuck.fingerprint import form_digest, text_of
from unstuck.fresh import take_fresh
from unstuck.intervals import Intervals
from unstuck.ledger_calls import LedgerCalls
from unstuck.ledger_rounds import NONE
from unstuck.outcomes import OPENING, OPENINGS, corrected
from unstuck.settle import Answer, settle_call, settle_tool
from unstuck.signs import DIFFERS, SAME, STILL, SWING
from unstuck.states import Pending, Round
from unstuck.swings import Swing, Swings
from unstuck.talk import settle_text
from unstuck.trail import Trail
from unstuck.view import View
from unstuck.volatile import CLIPPED, clipped, mask


class Ledger(LedgerCalls):
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
_MAY_CHANGE = frozenset(("shell", "step", "other"))
"""Kinds of tools whose success, the first time, may have changed the world: looking again after it is no repetition."""
OUTCOMES = {"error": 1, "retry": 2, "denied": 3, "blocked": 4}
