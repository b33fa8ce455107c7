"""The evidence of a run whose rules look at nothing but the last calls and the texts: the published rules of other projects."""

from __future__ import annotations

from collections.abc import Sequence

from unstuck.degenerate import SPAN
from unstuck.events import Call, Message, Result
from unstuck.fingerprint import arguments, call_fingerprint, flat_form, form_digest, text_of
from unstuck.ledger import OUTCOMES, Ledger
from unstuck.reading import Reading
from unstuck.spent import Price
from unstuck.states import Pending, Round
from unstuck.trail import Trail
from unstuck.view import View
from unstuck.volatile import CLIPPED, clipped
from unstuck.window import Made, Span


class Asked(Pending, Made):
    """A call whose result is not there yet, and the same call as it stands in the window."""

    kind = "other"
    approved = False
    depth = time = None

    def __init__(self, agent: str, tool: str, call: int, message: int, key: int) -> None:
        self.agent, self.tool, self.call, self.message, self.key = agent, tool, call, message, key


class WindowLedger(Ledger):
    """
    A ledger that takes up an exchange in one step: of a call its fingerprint, of a result its digest.

    What is out of the ordinary (calls that are no evidence, unattended runs, results of rounds that are over) is left to `Ledger`.
    """

    def __init__(
        self,
        reading: Reading,
        needs: frozenset[str],
        span: Span,
        price: Price | None = None,
        always: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(reading, needs, span, price, always)
        self._ordinary = not (reading.exempt or reading.identity or self._volatile)

    def on_message(self, event: Message) -> Sequence[View]:
        """See `Ledger.on_message`."""
        _, number, calls, agent, _, text, reasoning, _, _, _ = event
        trail = self.trails.get(agent)
        if not calls or trail is None or trail.round is not None or self.spent is not None:
            return super().on_message(event)
        if (text is not None and len(text) >= SPAN) or (reasoning is not None and len(reasoning) >= SPAN):
            return super().on_message(event)
        self.spoke = True
        self.messages = ordinal = self.messages + 1
        responses = self.responses
        responses[number] = ordinal
        if len(responses) > self.window:
            responses.popitem(last=False)
        trail.rounds += 1
        trail.round = Round(trail.rounds, number, ordinal, calls)
        if self.follows_texts and (trail.talk_count or trail.silent):
            trail.end_talk()
        return ()

    def on_call(self, event: Call) -> Sequence[View]:
        """See `Ledger.on_call`."""
        _, name, tool, args, number, agent, _, _, _, origin, _, approved, _ = event
        trail = self.trails.get(agent)
        if trail is None or origin != "model" or approved or not self._ordinary:
            return super().on_call(event)
        self.calls = call = self.calls + 1
        views: Sequence[View] = ()
        round_ = trail.round
        if round_ is None and number is None:
            trail.rounds = rounds = trail.rounds + 1
            if not self.spoke:
                self.messages += 1
            round_ = trail.round = Round(rounds, None, self.messages, 1)
        elif round_ is None or number is None or number != round_.message:
            views = self._join_round(trail, event)
            round_ = trail.round
            assert round_ is not None
        if type(args) is not dict and args is not None:
            args = arguments(args)
        form = flat_form(tool, args)
        key = call_fingerprint(tool, args) if form is None else form_digest(form)
        asked = Asked(agent, tool, call, round_.response, key)
        opened = self.open
        if name in opened or len(opened) >= self._most_open:
            self._open(name, asked)
        else:
            opened[name] = asked
        round_.open += 1
        round_.calls += 1
        trail.window_calls.take(asked)  # type: ignore[union-attr]  # every rule that this ledger serves looks at the window
        return views

    def on_result(self, event: Result) -> Sequence[View]:
        """See `Ledger.on_result`."""
        _, name, content, outcome, _ = event
        asked = self.open.get(name)
        if type(asked) is not Asked or asked.apart or outcome == "blocked" or self.ceiling is not None:
            return super().on_result(event)
        trail = self.trails.get(asked.agent)
        if trail is None or trail.round is None or trail.round.response != asked.message:
            return super().on_result(event)
        del self.open[name]
        text = content if type(content) is str else text_of(content)
        if len(text) > CLIPPED:
            text = clipped(text)
        raw = form_digest(text.encode("utf-8", "surrogatepass"))
        if outcome != "ok":
            raw ^= OUTCOMES[outcome]
        call, key, tool, window, round_ = asked.call, asked.key, asked.tool, trail.window_calls, trail.round
        assert window is not None
        trail.recent.append([call, asked.message, key, tool, False])
        window.settled = settled = window.settled + 1
        asked.result, asked.outcome, asked.settled = raw, outcome, settled
        if content is None:
            asked.nothing = True
        expected = round_.expected
        if round_.calls == 1 and (expected == 1 or expected is None):
            trail.round = None
            return (View("round", trail, call, round_.response),) if window.busy else ()
        round_.open -= 1
        round_.parts = (*round_.parts, (key, key, tool))
        if call > round_.last_call:  # noqa: PLR1730 - max() costs more than the comparison
            round_.last_call = call
        if round_.open > 0 or (expected is not None and round_.calls < expected):
            return ()
        trail.round = None
        return self._finish(trail, round_) if window.busy else ()

    def _finish(self, trail: Trail, round_: Round) -> Sequence[View]:
        return [View("round", trail, round_.last_call, round_.response)] if round_.parts else ()
