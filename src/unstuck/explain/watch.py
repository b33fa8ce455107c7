"""The second replay: each count, exchange by exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unstuck.events import Compaction, Event, Message, Result
from unstuck.explain import counters, marks
from unstuck.explain.answer import Entry, Exchange, Reset
from unstuck.explain.counters import NOTHING, Subject
from unstuck.explain.journal import Journal, Made
from unstuck.explain.reasons import FAILURES, OF_THE_WORLD, Small, small, why_back, why_not

if TYPE_CHECKING:
    from unstuck.explain.strands import Found, Point
    from unstuck.ledger import Ledger
    from unstuck.reading import Reading as ReadBy


class Stretch:
    """What stands between one reset and the next: the entries, and the numbers of the events at which it began and ended."""

    def __init__(self, at: int, reset: Reset | None) -> None:
        self.began = at
        self.ended: int | None = None
        self.reset = reset
        self.entries: list[Exchange] = []


class Watch:
    """Follows the count of one strand through a run."""

    def __init__(self, found: Found, subject: Subject, read_by: ReadBy) -> None:
        self.found = found
        self.subject = subject
        self.stretches = [Stretch(-1, None)]
        self.now = NOTHING
        self.last: Made | None = None  # the call that counted last
        self._read_by = read_by
        self._was = NOTHING
        self._small = Small()
        self._compacted = 0
        self._refused: Made | None = None

    def before(self, ledger: Ledger, journal: Journal) -> None:
        """An event is about to be observed."""
        self._was = self.now
        self._small = small(ledger, journal.now)

    def after(self, at: int, event: Event, ledger: Ledger, journal: Journal) -> None:
        """It was observed."""
        was, now = self._was, counters.read(ledger, self.subject)
        self.now = now
        made = journal.now if isinstance(event, Result) else None
        back = was.raw > 0 and (now.raw < was.raw or now.mark != was.mark)
        if back:
            self._back(at, event, ledger, journal)
        if now.raw > (0 if back else was.raw):
            self._count(event, ledger, journal)
        elif made is not None and not back and self._could_have_counted(made):
            earlier = self.last.round if self.last is not None and self.last.agent == made.agent else 0
            reason = why_not(self.subject, made, self._small, small(ledger, made), earlier)
            if now.raw == 0 and made.call in journal.changed and self.subject.pattern in OF_THE_WORLD:
                reason = "changed_world"
            self._refused = made if reason == "blocked" else self._refused
            self._add(self._exchange(made, None, reason))
        if isinstance(event, Compaction):
            self._compacted = ledger.calls

    def _could_have_counted(self, made: Made) -> bool:
        if self.subject.pattern in FAILURES and made.outcome == "ok" and self.now.raw == 0:
            return False
        return counters.concerns(self.subject, made)

    def _back(self, at: int, event: Event, ledger: Ledger, journal: Journal) -> None:
        calls: tuple[int, ...] = ()
        if journal.changed and self.now.raw == 0 and self.subject.pattern in OF_THE_WORLD:
            reason, calls = "changed_world", journal.changed
            fell = next((point for point in self.found.points if point.at == at and not point.ahead), None)
            if fell is not None and journal.now is not None:  # its own round changed the world after it had counted
                self._add(self._exchange(journal.now, fell.evidence.repeats, None))
        else:
            reason = why_back(self.subject, event, journal, self._small, small(ledger, journal.now))
            calls = (journal.now.call,) if journal.now is not None and reason not in ("person", "forgotten") else ()
        tools = tuple(dict.fromkeys(journal.calls[call].tool for call in calls))
        message = journal.calls[calls[-1]].message if calls else ledger.messages
        self.stretches[-1].ended = at
        self.stretches.append(Stretch(at, Reset(calls[-1] if calls else ledger.calls or None, message, reason, calls, tools)))
        self.last = None

    def _count(self, event: Event, ledger: Ledger, journal: Journal) -> None:
        """The count rose: say by what."""
        now, pattern = self.now, self.subject.pattern
        if isinstance(event, Message) and pattern in ("repeated_text", "monologue", "empty_response"):
            text = marks.shown(journal.texts.get(ledger.messages, ""))
            self._add(Exchange(None, ledger.messages, self.subject.agent, result=text, repeats=now.repeats))
            return
        if pattern == "stalled":
            self._add(self._interval(ledger, journal))
            return
        made = journal.calls.get(now.call) if now.call is not None else journal.now or self._refused
        if made is None:
            return
        if self._entries and self._entries[-1].call == made.call and self._entries[-1].repeats is None:
            self._entries.pop()  # a call that was blocked counts when its round is over
        why = "asked_again" if made.outcome == "blocked" else None
        if why is None and now.weight > 1:
            why = "passing_error"
        self.last = made
        self._add(self._exchange(made, now.repeats, why))

    def _interval(self, ledger: Ledger, journal: Journal) -> Exchange:
        first, last = self._compacted + 1, ledger.calls
        tools = dict.fromkeys(journal.calls[call].tool for call in range(first, last + 1) if call in journal.calls)
        text = marks.shown(f"calls {first} to {last}: {', '.join(tools)}; then a compaction")
        return Exchange(last, ledger.messages, self.subject.agent, result=text, repeats=self.now.repeats)

    def _exchange(self, made: Made, repeats: int | None, why: str | None) -> Exchange:
        return exchange(made, self.subject.pattern, self._read_by, repeats)._replace(why=why)

    def _add(self, entry: Exchange) -> None:
        self._entries.append(entry)

    @property
    def _entries(self) -> list[Exchange]:
        return self.stretches[-1].entries

    def entries(self) -> list[Entry]:
        """The stretches in which evidence fell, each with what began it, and what ended the last."""
        kept: list[Entry] = []
        chosen = [stretch for stretch in self.stretches if self._holds_evidence(stretch)]
        for stretch in chosen:
            if stretch.reset is not None:
                carried = next(point.carried for point in self.found.points if self._holds(stretch, point))
                kept.append(stretch.reset._replace(carried=carried))
            kept += stretch.entries
        if chosen:
            after = self.stretches.index(chosen[-1]) + 1
            if after < len(self.stretches):
                last = self.stretches[after].reset
                assert last is not None
                kept.append(last)
        return kept

    def _holds_evidence(self, stretch: Stretch) -> bool:
        return any(self._holds(stretch, point) for point in self.found.points)

    def _holds(self, stretch: Stretch, point: Point) -> bool:
        return point.at > stretch.began and (stretch.ended is None or point.at <= stretch.ended)


def exchange(made: Made, pattern: str, reading: ReadBy, repeats: int | None) -> Exchange:
    """*made* as it is shown."""
    return Exchange(
        call=made.call,
        message=made.message,
        agent=made.agent,
        tool=made.tool,
        args=marks.arguments_shown(made.args),
        outcome=made.outcome if made.settled else None,
        result=marks.result_shown(made, pattern, reading.kinds.words.volatile_fields) if made.settled else None,
        repeats=repeats,
        earlier=made.earlier,
        ignored=marks.not_compared(made, pattern, reading),
    )
