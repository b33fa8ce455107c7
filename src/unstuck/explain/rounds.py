"""The second replay for what repeats in rounds: cycles and hand-offs, lap by lap."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from unstuck.cycles import weighed
from unstuck.explain.answer import Entry, Exchange, Reset
from unstuck.explain.watch import exchange

if TYPE_CHECKING:
    from unstuck.cycles import Cycles, Step
    from unstuck.detectors.detector import Evidence
    from unstuck.explain.journal import Journal
    from unstuck.explain.strands import Found
    from unstuck.ledger import Ledger
    from unstuck.reading import Reading


class Span(NamedTuple):
    """A stretch of rounds in which one sequence came over and over: *steps* from *first* up to *end*, in laps of *period*."""

    steps: list[Step]
    first: int
    end: int
    period: int

    def laps(self, end: int) -> int:
        """The laps complete before *end*; those in which something waits count less, as in `Cycle`."""
        laps = (end - self.first) // self.period
        return weighed(laps, self.steps[self.first : self.first + self.period])


class RoundWatch:
    """Follows the rounds behind one strand of `cycle` or `handoff_loop`."""

    def __init__(self, found: Found, read_by: Reading) -> None:
        self.found = found
        self.spans: dict[tuple[int, int], Span] = {}
        self._read_by = read_by
        self._cycles: Cycles | None = None
        self._steps: list[Step] = []
        self._turn = 0

    def follow(self, ledger: Ledger) -> None:
        """An event was observed: keep the rounds that ended with it."""
        trail = ledger.trails.get(self.found.agent)
        whole = ledger.delegations.handoffs if ledger.delegations is not None else None
        cycles = whole if self._handed else trail.cycles if trail is not None else None
        if cycles is not self._cycles:
            self._cycles, self._steps, self._turn = cycles, [], self._turn + 1
        if cycles is not None and cycles.total > len(self._steps):
            self._steps += list(cycles.steps)[len(self._steps) - cycles.total :]

    @property
    def _handed(self) -> bool:
        return self.found.points[0].evidence.pattern == "handoff_loop"

    def evidence(self, evidence: Evidence) -> None:
        """Evidence of the strand fell at the event observed last."""
        key = (self._turn, evidence.streak)
        self.spans[key] = Span(self._steps, evidence.streak, len(self._steps), evidence.period)

    def laps(self) -> int:
        """The laps that the sequence has come to by now, 0 where it was left."""
        last = self._latest
        if last is None or last.steps is not self._steps or last.end < len(self._steps):
            return 0
        return last.laps(last.end)

    @property
    def _latest(self) -> Span | None:
        return next(reversed(self.spans.values()), None)

    def entries(self, journal: Journal) -> list[Entry]:
        """The rounds of each stretch, and what ended it."""
        entries: list[Entry] = []
        spans = [span for span in self.spans.values() if not any(_covers(other, span) for other in self.spans.values())]
        for span in spans:
            for index in range(span.first, span.end):
                entries += self._round(span.steps[index], span.laps(index + span.period), journal)
            if span.end < len(span.steps):
                step = span.steps[span.end]
                entries.append(Reset(step.call, step.message, "other_round", (step.call,), step.tools))
            elif span.steps is not self._steps:
                step = span.steps[-1]
                entries.append(Reset(step.call, step.message, "worked" if self._handed else "person"))
        return entries

    def _round(self, step: Step, lap: int, journal: Journal) -> list[Exchange]:
        """The calls of one round."""
        pattern = self.found.points[0].evidence.pattern
        last = journal.calls[step.call]
        made = [last]
        if not self._handed:
            made = [
                one
                for one in journal.responses[step.message]
                if one.agent == last.agent and one.key in step.keys and one.left_out is None
            ]
        return [exchange(one, pattern, self._read_by, lap) for one in made or [last]]


def _covers(other: Span, span: Span) -> bool:
    """Whether *span* is a shorter view of what *other* shows."""
    if other is span or other.steps is not span.steps:
        return False
    within = other.first <= span.first and span.end <= other.end
    return within and (other.end - other.first) > (span.end - span.first)
