"""Both replays of a run, and the explanation that comes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unstuck.detectors.pydantic_deep_rules import SucceededRule
from unstuck.explain import marks
from unstuck.explain.ahead import next_rung
from unstuck.explain.answer import Decided, Entry, Exchange, Reset, Rung, Strand
from unstuck.explain.counters import NOTHING, Reading
from unstuck.explain.journal import Journal, Made
from unstuck.explain.rounds import RoundWatch
from unstuck.explain.strands import IN_ROUNDS, Found, Id, Listening, identity, is_own
from unstuck.explain.watch import Watch, exchange
from unstuck.monitor import Monitor
from unstuck.presets import PRESETS, preset

if TYPE_CHECKING:
    from unstuck.detectors.detector import Evidence
    from unstuck.events import Event
    from unstuck.policy import Loop
    from unstuck.presets import Rules
    from unstuck.view import View


def explain(events: Sequence[Event], rules: Rules | None = None, changed_by: str = "the settings") -> tuple[Strand, ...]:
    """
    Why each loop of a run was found.

    Args:
        events: the events of one run, in order.
        rules: a rule set (default: the preset `default`).
        changed_by: what changed a ladder that is not the preset's, for instance the name of a file.

    Returns one strand for each loop and each pattern by which it was seen, in the order in which they began.
    """
    rules = rules if rules is not None else preset("default")
    found = Listening(rules).replay(events)
    if not found:
        return ()
    replay = _Replay(rules, found, changed_by)
    replay.run(events)
    strands = sorted((replay.strand(one) for one in found), key=lambda strand: strand.loop)
    return tuple(strand._replace(elsewhere=_elsewhere(strand, strands)) for strand in strands)


def _elsewhere(strand: Strand, strands: Sequence[Strand]) -> tuple[tuple[str, Rung], ...]:
    """The rungs that the loop of *strand* reached by others of *strands*."""
    others = (other for other in strands if other.loop == strand.loop and other is not strand)
    return tuple((other.pattern, rung) for other in others for rung in other.rungs)


class _Replay:
    def __init__(self, rules: Rules, found: list[Found], changed_by: str) -> None:
        self.rules = rules
        self.changed_by = changed_by
        self.journal = Journal()
        self.monitor = Monitor(rules)
        self.monitor.on_evidence = self._hear
        self.counts = {id(one): Watch(one, one.subject, rules.reading) for one in found if one.subject is not None}
        self.rounds = {
            id(one): RoundWatch(one, rules.reading) for one in found if _pattern(one) in IN_ROUNDS and is_own(one.detector)
        }
        self.texts: dict[int, list[Exchange]] = {}
        self.turns: list[int] = []  # events at which a person spoke
        self._found: dict[Id, Found] = {}
        self._heard: list[tuple[Found, Evidence]] = []
        for one in found:
            self._found[identity(one.loop, one.points[0].evidence)] = one

    def run(self, events: Sequence[Event]) -> None:
        """Replay the run beside the watches."""
        ledger, journal = self.monitor.ledger, self.journal
        for at, event in enumerate(events):
            self._heard.clear()
            journal.before(event, ledger)
            for watch in self.counts.values():
                watch.before(ledger, journal)
            loops = len(self.monitor.loops.found)
            self.monitor.observe(event)
            if loops and not self.monitor.loops.found:
                self.turns.append(at)
            journal.after(event, ledger)
            for watch in self.counts.values():
                watch.after(at, event, ledger, journal)
            for rounds in self.rounds.values():
                rounds.follow(ledger)
            for found, evidence in self._heard:
                if id(found) in self.rounds:
                    self.rounds[id(found)].evidence(evidence)

    def _hear(self, view: View, evidence: Evidence, loop: Loop, total: int) -> None:
        found = self._found.get(identity(loop, evidence))
        if found is None:
            return
        if view.moment == "text":
            block = marks.shown(marks.block_of(view.text or ""))
            row = Exchange(None, view.message, view.trail.agent, result=block, repeats=evidence.repeats)
            self.texts.setdefault(id(found), []).append(row)
        elif view.moment != "call":
            self._heard.append((found, evidence))

    def strand(self, found: Found) -> Strand:
        """What is to be said about *found*."""
        rungs = tuple(
            Rung(finding.level, finding.call, finding.message, finding.repeats, point.carried, point.ahead, finding.would)
            for finding, point in found.findings
        )
        entries = self._entries(found)
        calls = [entry.call for entry in entries if isinstance(entry, Exchange) and entry.call is not None]
        first, last = (min(calls), max(calls)) if calls else (0, 0)
        counted = {entry.call or 0 for entry in entries if isinstance(entry, Exchange) and entry.repeats is not None}
        left_out = self.journal.left_out(found.agent, first, last, counted)
        listed = {*calls, *(call for group in left_out for call in group.calls)}
        listed.update(call for entry in entries if isinstance(entry, Reset) for call in entry.calls)
        evidence = found.points[-1].evidence
        return Strand(
            loop=found.loop.number,
            pattern=evidence.pattern,
            agent=found.agent or found.findings[0][0].agent,
            tools=tuple(dict.fromkeys(tool for finding, _ in found.findings for tool in finding.tools)),
            unit=evidence.unit,
            period=evidence.period,
            rule=_rule(found),
            ladder=evidence.ladder,
            ladder_from=self._ladder_from(found, evidence),
            rungs=rungs,
            entries=self._with_rungs(found, entries, rungs),
            left_out=left_out,
            between=sum(first < call < last for call in self.journal.calls.keys() - listed),
            next=next_rung(found, self._now(found), self.rules.policy, self._ended(found)),
        )

    def _with_rungs(self, found: Found, entries: list[Entry], rungs: tuple[Rung, ...]) -> tuple[Entry, ...]:
        """*entries* with the decisions where they fell; one that was counted ahead of a call that came out otherwise stands alone."""
        followed = id(found) in self.counts or id(found) in self.rounds
        marked = list(entries)
        for rung in rungs:
            decided = Decided(rung.would or rung.level, rung.before)
            index = _row_of(marked, rung, ahead=rung.before and followed)
            entry = marked[index] if index is not None else None
            if index is not None and isinstance(entry, Exchange):
                if (
                    not (followed and rung.before) or entry.repeats is None
                ):  # what decided: less than was counted, where some is excused
                    entry = entry._replace(repeats=rung.repeats, why=None)
                marked[index] = entry._replace(decisions=(*entry.decisions, decided))
            else:
                self._insert(found, marked, rung, followed=followed)
        return tuple(marked)

    def _insert(self, found: Found, entries: list[Entry], rung: Rung, *, followed: bool) -> None:
        """Put *rung* among *entries* as one of its own: it fell where none of them stands."""
        decisions = (Decided(rung.would or rung.level, rung.before),)
        if rung.call is None:
            text = marks.shown(self.journal.texts.get(rung.message, ""))
            entries.append(Exchange(None, rung.message, found.agent, result=text, repeats=rung.repeats, decisions=decisions))
            return
        row = exchange(self.journal.calls[rung.call], _pattern(found), self.rules.reading, rung.repeats)
        if followed:
            row = row._replace(outcome=None, result=None, why="ahead")
        later = (at for at, one in enumerate(entries) if one.call is not None and one.call >= rung.call)
        entries.insert(next(later, len(entries)), row._replace(decisions=decisions))

    def _entries(self, found: Found) -> list[Entry]:
        if id(found) in self.counts:
            return self.counts[id(found)].entries()
        if id(found) in self.rounds:
            return self.rounds[id(found)].entries(self.journal)
        if id(found) in self.texts:
            return list(self.texts[id(found)])
        return list(self._named(found))

    def _named(self, found: Found) -> list[Exchange]:
        """The calls that the evidence of another rule names: by their keys, or by tools, from its first call on."""
        counts: dict[int, int] = {}
        for _, point in found.findings:
            span = range(point.evidence.first_call or 1, point.call + 1)
            made = [self.journal.calls[call] for call in span if _is_named(found, point.evidence, self.journal.calls[call])]
            per = point.evidence.period if point.evidence.unit == "laps" else 1
            for index, one in enumerate(made):
                counts.setdefault(one.call, index // per + 1)
        return [
            exchange(self.journal.calls[call], _pattern(found), self.rules.reading, counts[call]) for call in sorted(counts)
        ]

    def _now(self, found: Found) -> Reading | None:
        if id(found) in self.counts:
            return self.counts[id(found)].now
        if id(found) in self.rounds:
            laps = self.rounds[id(found)].laps()
            return Reading(laps, found.points[-1].evidence.streak) if laps else NOTHING
        return None

    def _ended(self, found: Found) -> str | None:
        return "person" if any(turn > found.points[-1].at for turn in self.turns) else None

    def _ladder_from(self, found: Found, evidence: Evidence) -> str:
        if found.detector is None:
            return "ceiling"
        doubled = ", doubled for this kind of tool" if evidence.ladder == found.detector.ladder.doubled() else ""
        if self.rules.name in PRESETS:
            for detector in preset(self.rules.name).detectors:
                if detector == found.detector:
                    return f"preset {self.rules.name}{doubled}"
        return f"{self.changed_by}{doubled}"


def _pattern(found: Found) -> str:
    return found.points[0].evidence.pattern


def _is_named(found: Found, evidence: Evidence, made: Made) -> bool:
    """Whether *made* is one of the calls that *evidence* is about."""
    if made.agent != found.agent:
        return False
    if made.left_out not in (None, "blocked", "no_result"):  # these stand in the window too
        return False
    if isinstance(found.detector, SucceededRule) and made.outcome != "ok":
        return False
    return made.key in evidence.keys if evidence.keys else made.tool in evidence.tools


def _rule(found: Found) -> str:
    """What a rule that does not go by the ledger's counters looks for, in the words of its detector."""
    if found.detector is None:
        return "The same exchange again and again in a run that nobody attends."
    if is_own(found.detector):
        return ""
    return " ".join((type(found.detector).__doc__ or "").strip().partition("\n\n")[0].replace("`", "").split())


def _row_of(entries: list[Entry], rung: Rung, *, ahead: bool) -> int | None:
    """The latest exchange at which *rung* was reached; *ahead*: it came to the count that it had been given before it ran."""
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if not isinstance(entry, Exchange):
            continue
        here = entry.call == rung.call and (rung.call is not None or entry.message == rung.message)
        if here and not (ahead and entry.repeats != rung.repeats):
            return index
    return None
