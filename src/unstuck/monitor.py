"""The fold: events in, decisions out. The state after n events depends on those n events alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from unstuck.ceiling import Ceiling, Tally
from unstuck.degenerate import TextWatch
from unstuck.detectors.detector import Evidence
from unstuck.errors import StateError
from unstuck.events import MAIN, Call, Compaction, Event, Message, Result, RunEnd, RunStart, User
from unstuck.findings import CONTINUE, Decision, Finding, Level
from unstuck.ladder import Ladder
from unstuck.ledger import Ledger
from unstuck.panel import Panel
from unstuck.policy import BLOCK, NUDGE, OBSERVE, STOP, Loop, Loops, Strand, allowed, finding_of
from unstuck.policy import CONTINUE as CLEAR
from unstuck.trail import Trail
from unstuck.view import View
from unstuck.window_ledger import WindowLedger
from unstuck.wording import model_text

if TYPE_CHECKING:
    from unstuck.presets import Rules

VERSION = 1
"""Of the saved state."""
_NUDGED = int(NUDGE)  # whole numbers are compared in a third of the time that levels are


class _Verdict(NamedTuple):
    level: Level
    finding: Finding
    new: bool  # whether the loop reached a higher level here
    evidence: Evidence
    total: int
    agent: str


class Monitor:
    """
    Watches one run.

    Args: *rules* is a rule set from `unstuck.presets` or `Options.rules()`; default: the preset `default`.
    """

    def __init__(self, rules: Rules | None = None) -> None:
        if rules is None:
            from unstuck.presets import preset

            rules = preset("default")
        self.rules = rules
        detectors = rules.detectors
        self._panel = panel = detectors if isinstance(detectors, Panel) else Panel(detectors)
        kind_of_ledger = WindowLedger if panel.window_only else Ledger
        self.ledger = kind_of_ledger(rules.reading, panel.needs, panel.span, panel.price, panel.always)
        self.loops = Loops()
        self._streams: dict[str, TextWatch] = {}
        self._waiting: list[_Verdict] = []  # nudges that wait until their round is over
        self.on_evidence: Callable[[View, Evidence, Loop, int], None] | None = None
        """Told of all evidence, the loop it belongs to and its repeats so far, before it is judged; never saved."""

    @property
    def calls(self) -> int:
        """Calls so far, whatever their origin."""
        return self.ledger.calls

    @property
    def messages(self) -> int:
        """Responses so far."""
        return self.ledger.messages

    def observe(self, event: Event) -> Decision:
        """
        Take up one event and say what to do about it.

        Before a call runs (`Call`) that may be `block` or `stop`, after it (`Result`, `Message`) `nudge` or `stop`. Never raises
        for what an event holds.
        """
        ledger = self.ledger
        kind = type(event)
        if kind is Result:
            views = ledger.on_result(event)  # type: ignore[arg-type]
        elif kind is Call:
            views = ledger.on_call(event)  # type: ignore[arg-type]
        elif kind is Message:
            views = ledger.on_message(event)  # type: ignore[arg-type]
            if self._streams:
                self._streams.pop(event.agent, None)  # type: ignore[union-attr]
        else:
            return self._other(event)
        if views or self._waiting or ledger.over is not None:
            return self._decide(event, views)
        return CONTINUE

    def stream(self, text: str, agent: str = MAIN) -> Decision:
        """
        Take up the next characters of a response that is still streaming; `block` says to cut it off.

        The response's `Message` event, complete or cut off, ends the stream. Streams are not part of the saved state: one that is
        taken up by another process is watched from there on.
        """
        watch = self._streams.get(agent)
        if watch is None:
            watch = self._streams[agent] = TextWatch()
        found = watch.feed(text)
        if found is None:
            return CONTINUE
        ledger = self.ledger
        view = View("text", ledger.trail(agent), ledger.calls, ledger.messages + 1, repeating=found)
        return self._decide(None, [view])

    def _other(self, event: Event) -> Decision:
        if isinstance(event, User):
            views = self.ledger.on_user(event)
            if event.origin == "user" and self.rules.reading.turns:
                self.loops.re_arm()
                self._waiting.clear()
            return self._decide(event, views)
        if isinstance(event, RunStart):
            unattended = Ceiling(self.rules.policy.ceiling, self.rules.reading.window)
            self.ledger.ceiling = None if event.attended else self.ledger.ceiling or unattended
            self.ledger.over = None
        elif isinstance(event, Compaction):
            return self._decide(event, self.ledger.on_compaction())
        elif isinstance(event, RunEnd):
            return self._decide(event, self.ledger.close_rounds())
        return CONTINUE

    def _decide(self, event: Event | None, views: Sequence[View]) -> Decision:
        verdicts: list[_Verdict] = []
        repeats: list[tuple[int, int]] = []
        asked = self._panel.asked
        for view in views:
            for detector in asked(view.moment, view.signs):
                evidence = detector.look(view)
                if evidence is None:
                    continue
                verdict = self._judge(view, evidence, repeats)
                if verdict is not None:
                    verdicts.append(verdict)
                if self.rules.policy.one_per_round:
                    break
        over = self.ledger.over
        if over is not None and type(event) is Result:
            verdicts.append(self._over_ceiling(over))
        if verdicts or self._waiting:
            return self._combine(verdicts, repeats)
        return _tuple(Decision, (CLEAR, (), None, None, tuple(repeats))) if repeats else CONTINUE

    def _judge(self, view: View, evidence: Evidence, repeats: list[tuple[int, int]]) -> _Verdict | None:
        policy, moment, trail = self.rules.policy, view.moment, view.trail
        ahead = moment == "call"
        loop, strand = self.loops.of(trail.agent, evidence)
        total = loop.total(strand, evidence, ahead)
        if self.on_evidence is not None:
            self.on_evidence(view, evidence, loop, total)
        if not ahead:
            _name_repeats(trail, evidence, strand, repeats)
        level, before = allowed(evidence.ladder.level(total), moment, policy), loop.level
        if before < _NUDGED and (level is BLOCK or level is STOP) and evidence.ladder.nudge is not None:
            level = CLEAR if ahead else NUDGE  # a ladder is climbed from its first rung
        if level is CLEAR or (level is NUDGE and before >= _NUDGED):
            return None
        if ahead and level is BLOCK and view.state is not None and view.state.lift > 0:
            view.state.lift -= 1
            return None
        new = level > before
        if not new and (moment == "result" or moment == "round"):
            return None
        call = None if moment == "message" or moment == "text" else view.call
        finding = finding_of(loop, evidence, level, (call, view.message, trail.agent), policy.shadow)
        if new:
            loop.level = int(level)
            if policy.consume and evidence.keys:  # what has no calls of its own, such as a budget, cannot be counted anew
                loop.level = 0
                trail.consume(evidence.keys)
        return _tuple(_Verdict, (level, finding, new, evidence, total, trail.agent))

    def _over_ceiling(self, tally: Tally) -> _Verdict:
        limit = self.rules.policy.ceiling
        evidence = Evidence(
            "repeated_result",
            (tally.key,),
            tally.first,
            tally.count,
            Ladder(stop=limit),
            (tally.tool,),
            (tally.key,),
            tally.first,
        )
        loop, _ = self.loops.of(tally.agent, evidence)
        new, ledger = loop.level < STOP, self.ledger
        loop.level = int(STOP)
        place = (ledger.calls, ledger.messages, tally.agent)
        finding = finding_of(loop, evidence, STOP, place, self.rules.policy.shadow)
        return _Verdict(STOP, finding, new, evidence, tally.count, tally.agent)

    def _combine(self, verdicts: list[_Verdict], repeats: list[tuple[int, int]]) -> Decision:
        now: list[_Verdict] = []
        if len(verdicts) == 1 and not self._waiting and verdicts[0].level is not NUDGE:
            now = verdicts
        else:
            for verdict in verdicts:
                (self._waiting if verdict.level is NUDGE else now).append(verdict)
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for verdict in waiting:
                (self._waiting if self._round_open(verdict.agent) else now).append(verdict)
        if not now:
            return Decision(repeats=tuple(repeats)) if repeats else CONTINUE
        strongest = now[0] if len(now) == 1 else max(now, key=lambda verdict: verdict.level)
        level, finding, _, evidence, total, _ = strongest
        findings = tuple([verdict.finding for verdict in now if verdict.new])
        if self.rules.policy.shadow:
            return Decision(OBSERVE, findings, None, finding, tuple(repeats))
        text = (self.rules.wording or model_text)(evidence, level, total)
        return _tuple(Decision, (level, findings, text, finding, tuple(repeats)))

    def _round_open(self, agent: str) -> bool:
        trail = self.ledger.trails.get(agent)
        return trail is not None and trail.round is not None

    def dump(self) -> str:
        """The whole state as JSON text: digests and counters, no arguments, results or texts."""
        saved = {
            "version": VERSION,
            "ledger": self.ledger.dump(),
            "loops": self.loops.dump(),
            "waiting": [_row(verdict) for verdict in self._waiting],
        }
        return json.dumps(saved, separators=(",", ":"))

    @classmethod
    def load(cls, text: str, rules: Rules | None = None) -> Monitor:
        """
        The monitor that *text* was dumped from, going on under *rules*.

        Raises `StateError` where *text* is no saved state, or one of a newer version.
        """
        monitor = cls(rules)
        try:
            saved = json.loads(text)
            version = saved["version"]
            if version != VERSION:
                raise StateError(
                    f"saved state has version {version}, this release reads {VERSION}: start anew or upgrade", version
                )
            monitor.ledger.load(saved["ledger"], monitor.rules.policy.ceiling)
            monitor.loops = Loops.load(saved["loops"])
            monitor._waiting = [_verdict(row) for row in saved["waiting"]]
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise StateError(f"this is no saved state of a monitor: {error}") from error
        return monitor


def _row(verdict: _Verdict) -> list[Any]:
    evidence = verdict.evidence._replace(error=None)
    return [verdict.level, verdict.finding, verdict.new, evidence, verdict.total, verdict.agent]


def _verdict(row: list[Any]) -> _Verdict:
    level, finding, new, evidence, total, agent = row
    pattern, anchors, streak, repeats, ladder, tools, keys, *rest = evidence
    restored = Evidence(pattern, tuple(anchors), streak, repeats, Ladder(*ladder), tuple(tools), tuple(keys), *rest)
    return _Verdict(Level(level), _finding(finding), new, restored, total, agent)


def _finding(row: list[Any]) -> Finding:
    finding = Finding(*row)
    return finding._replace(
        tools=tuple(finding.tools),
        fingerprints=tuple(finding.fingerprints),
        level=Level(finding.level),
        would=None if finding.would is None else Level(finding.would),
    )


def _name_repeats(trail: Trail, evidence: Evidence, strand: Strand, repeats: list[tuple[int, int]]) -> None:
    """Add to *repeats* the calls after the first lap that belong to *evidence* and were not named before."""
    recent = trail.recent
    if not recent:
        return
    keys, first_lap, named_to = evidence.keys, evidence.first_lap, strand.named
    named_to = first_lap if first_lap > named_to else named_to  # noqa: FURB136 - max() costs more than the comparison
    newest = recent[-1]
    strand.named = newest[0]
    if len(recent) > 1 and recent[-2][0] <= named_to:  # as always while a loop goes on call by call
        unnamed = [newest] if newest[0] > named_to else []
    else:
        unnamed = list(takewhile(lambda entry: entry[0] > named_to, reversed(recent)))[::-1]
    for entry in unnamed:
        call, message, key, tool, named = entry
        if not named and (key in keys if keys else tool in evidence.tools):
            entry[4] = True
            repeats.append((call, message))


_tuple = tuple.__new__  # a named tuple's own constructor costs three times as much
