"""Both replays of a run, and the explanation that comes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unstuck.detectors.pydantic_deep_rules import SucceededRule
from unstuck.explain import marks
from unstuck.explain.ahead import next_rung
from unstuck.explain.answer import Entry, Exchange, Reset, Rung, Strand
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
    from unstuck.ledger import View
    from unstuck.policy import Loop
    from unstuck.presets import Rules


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
    return tuple(sorted((replay.strand(one) for one in found), key=lambda strand: strand.loop))


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
        left_out = self.journal.left_out(found.agent, first, last)
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
            ladder=evidence.ladder,
            ladder_from=self._ladder_from(found, evidence),
            rungs=rungs,
            entries=_with_rungs(entries, rungs, self.journal),
            left_out=left_out,
            between=sum(first < call < last for call in self.journal.calls.keys() - listed),
            next=next_rung(found, self._now(found), self.rules.policy, self._ended(found)),
        )

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
        chosen: dict[int, Made] = {}
        for _, point in found.findings:
            evidence = point.evidence
            for made in self.journal.calls.values():
                if made.agent != found.agent or made.left_out or not (evidence.first_call or 0) <= made.call <= point.call:
                    continue
                if isinstance(found.detector, SucceededRule) and made.outcome != "ok":
                    continue
                if made.key in evidence.keys if evidence.keys else made.tool in evidence.tools:
                    chosen[made.call] = made
        per = found.points[-1].evidence.period if found.points[-1].evidence.unit == "laps" else 1
        identity_of = self.rules.reading.identity
        return [
            exchange(chosen[call], _pattern(found), identity_of.get(chosen[call].tool), index // per + 1)
            for index, call in enumerate(sorted(chosen))
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
        if self.rules.name in PRESETS:
            for detector in preset(self.rules.name).detectors:
                if detector == found.detector:
                    return f"preset {self.rules.name}"
        return self.changed_by


def _pattern(found: Found) -> str:
    return found.points[0].evidence.pattern


def _with_rungs(entries: list[Entry], rungs: tuple[Rung, ...], journal: Journal) -> tuple[Entry, ...]:
    """*entries* with the decisions where they fell; one that was counted ahead of a call that came out otherwise stands alone."""
    marked = list(entries)
    for rung in rungs:
        level = rung.would or rung.level
        index = _row_of(marked, rung)
        entry = marked[index] if index is not None else None
        if index is not None and isinstance(entry, Exchange):
            marked[index] = entry._replace(decisions=(*entry.decisions, level), before=rung.before)
        elif rung.call in journal.calls:
            made = journal.calls[rung.call]
            row = exchange(made, "", None, rung.repeats)
            row = row._replace(outcome=None, result=None, why="ahead", decisions=(level,), before=rung.before)
            later = (at for at, one in enumerate(marked) if one.call is not None and one.call >= rung.call)
            marked.insert(next(later, len(marked)), row)
    return tuple(marked)


def _row_of(entries: list[Entry], rung: Rung) -> int | None:
    """The latest exchange at which *rung* was reached."""
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if not isinstance(entry, Exchange):
            continue
        here = entry.call == rung.call if rung.call is not None else entry.message == rung.message
        if here and not (rung.before and entry.repeats != rung.repeats):
            return index
    return None
