"""
One delivery and what is kept of its session: the decision, and what to keep from now on.

This is where events get what a coding agent does not tell: ids for calls without one, and which calls belong to one response.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from unstuck.errors import StateError
from unstuck.events import Call, Message, Result, RunStart, User
from unstuck.findings import Decision, Finding, Level
from unstuck.fingerprint import call_fingerprint, hexed, text_digest, text_of
from unstuck.monitor import VERSION, Monitor

if TYPE_CHECKING:
    from unstuck.hooks.dialect import Delivered
    from unstuck.presets import Rules

TOGETHER = 1.0
"""Seconds within which calls that run at the same time are taken for parts of one response."""
LONGEST = 256 * 1024
"""Characters of a result or of a response that are looked at."""
REMEMBERED = 64
"""Deliveries that are remembered, for those that come twice."""
MARK = "[unstuck] "
"""What every text begins with that a hook puts into a conversation; readers know it by that, as they know that of adapters."""
REFUSED = (
    "Every further call is refused until the person speaks. "
    "End your turn now: say what you have found out and what is blocking you."
)
"""What the model reads beside the reason where a run is over."""


class Verdict(NamedTuple):
    """What to do: *level*, the words for the model, the finding that decided, the new findings; *note* is for the log."""

    level: Level = Level.CONTINUE
    text: str = ""
    finding: Finding | None = None
    findings: tuple[Finding, ...] = ()
    call: int = 0
    note: str | None = None


class Memory:
    """What the hook remembers beside the monitor's state."""

    def __init__(self, saved: str | None = None) -> None:
        kept: dict[str, Any] = json.loads(saved) if saved else {}
        self.seen: list[str] = kept.get("seen", [])
        self.number: int = kept.get("number", 0)
        self.began: float = kept.get("began", 0.0)
        self.loop: list[Any] | None = kept.get("loop")
        self.ended: bool = kept.get("ended", False)

    def dump(self) -> str:
        """The saved form: digests, numbers, and the record of the loop that was found last."""
        return json.dumps(vars(self), separators=(",", ":"))

    def is_new(self, key: str | None) -> bool:
        """Whether the delivery *key* was not seen yet; from now on it was."""
        if key is None:
            return True
        digest = hexed(text_digest(key))
        if digest in self.seen:
            return False
        self.seen.append(digest)
        del self.seen[:-REMEMBERED]
        return True


class Guard:
    """
    Judges what one agent of one session does.

    Args: *rules* to judge by; *state* and *memory* as they were saved (`None`: this is the first event). Raises `StateError` where a
    newer release has written them; a state that is broken otherwise is begun anew, and *note* says so.
    """

    def __init__(self, rules: Rules, state: str | None = None, memory: str | None = None) -> None:
        self.note: str | None = None
        self.is_first = state is None
        try:
            self.memory = Memory(memory)
            self.monitor = Monitor.load(state, rules) if state else Monitor(rules)
        except (StateError, ValueError, AttributeError) as error:
            version = getattr(error, "version", None)
            if isinstance(version, int) and version > VERSION:
                raise
            self.note = f"the saved state of this session was broken and is begun anew: {error}"
            self.memory, self.monitor = Memory(), Monitor(rules)

    def judge(self, delivered: Delivered) -> Verdict | None:
        """What to do about *delivered*; `None` where it was delivered before."""
        if not self.memory.is_new(delivered.key):
            return None
        event = delivered.event
        if self.is_first and not delivered.attended:
            self.monitor.observe(RunStart(delivered.session, attended=False))
        if isinstance(event, Call):
            return self._call(delivered, event)
        if isinstance(event, Result):
            event = self._paired(delivered, event)
            return self._verdict(self.monitor.observe(event._replace(content=bounded(event.content))))
        if isinstance(event, Message):
            self.memory.number += 1
            event = event._replace(message=self.memory.number, text=None if event.text is None else bounded(event.text))
        elif isinstance(event, User) and event.origin == "user":
            self.memory.ended = False
        return self._verdict(self.monitor.observe(event))

    def _call(self, delivered: Delivered, event: Call) -> Verdict:
        memory, now = self.memory, event.time or 0.0
        # A call without a result (interrupted, or its event lost) must not keep a response open for ever: hence the clock.
        if not self.monitor.ledger.open or not 0 <= now - memory.began < TOGETHER:
            memory.number += 1
            memory.began = now
        event = event._replace(id=event.id or self._free_id(event.tool, event.args), message=memory.number)
        verdict = self._verdict(self.monitor.observe(event))
        if memory.ended and verdict.level < Level.STOP:
            verdict = self._over(verdict)
        if verdict.level >= Level.BLOCK:
            # The agent sends nothing about a call that it did not run.
            after = self.monitor.observe(Result(event.run, event.id, None, "blocked", event.time))
            verdict = verdict._replace(findings=(*verdict.findings, *after.findings))
        return verdict

    def _over(self, verdict: Verdict) -> Verdict:
        finding = verdict.finding or self._last()
        text = f"This call was not executed. The run was stopped{f' ({finding.record})' if finding else ''}. {REFUSED}"
        return verdict._replace(level=Level.STOP, text=text, finding=finding)

    def _last(self) -> Finding | None:
        if self.memory.loop is None:
            return None
        last = Finding(*self.memory.loop)
        return last._replace(tools=tuple(last.tools), fingerprints=tuple(last.fingerprints), level=Level(last.level))

    def _verdict(self, decision: Decision) -> Verdict:
        memory = self.memory
        if decision.finding is not None:
            memory.loop = list(decision.finding)
        memory.ended = memory.ended or decision.level is Level.STOP
        note, self.note = self.note, None
        finding = decision.finding
        if finding is None and decision.level >= Level.BLOCK:
            finding = self._last()  # the loop was reported earlier
        return Verdict(decision.level, decision.text or "", finding, decision.findings, self.monitor.calls, note)

    def _free_id(self, tool: str, args: Any) -> str:
        base, n = hexed(call_fingerprint(tool, args)), 0
        while f"{base}.{n}" in self.monitor.ledger.open:
            n += 1
        return f"{base}.{n}"

    def _paired(self, delivered: Delivered, event: Result) -> Result:
        """The result with the id of its call: the oldest open one with these arguments, else of this tool."""
        open_calls = self.monitor.ledger.open
        if event.id or delivered.call is None:
            return event
        base = f"{hexed(call_fingerprint(*delivered.call))}."
        alike = [id for id in open_calls if id.startswith(base)]
        same_tool = [id for id, pending in open_calls.items() if pending.tool == delivered.call[0]]
        found = (alike or same_tool or [""])[0]
        return event._replace(id=found)


def bounded(content: Any) -> str:
    """*content* as text; of a very long one both ends and its length, so that it takes no longer than a hook may."""
    text = text_of(content)
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}\n({len(text)})\n{text[-LONGEST // 2 :]}"
