"""
Finished runs: which of them looped, where, and what that cost.

A replay cannot know what a nudge would have changed, so it goes on as if each had been ignored. Memory is bounded per open run: one
monitor, the tokens of the latest responses and the findings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from unstuck import cost
from unstuck.events import Call, Event, Message, Result, RunEnd, RunStart, Usage
from unstuck.findings import Decision, Finding, Level, Unit
from unstuck.readers import read

if TYPE_CHECKING:
    from unstuck.detectors.detector import Evidence
    from unstuck.presets import Rules
    from unstuck.traces.source import Source
    from unstuck.view import View

RECENT = 2048
"""Responses whose tokens are remembered, for repeats that are found later; twice the largest window of the rules."""
MODELS = 16
"""Model names that a report holds."""
CALLS = 256
"""Calls whose arguments are remembered for `content`."""

Prices: TypeAlias = Callable[[str | None, Usage, float | None], float | None]
"""Model, tokens and time (seconds since 1970) -> US dollars, `None` where unknown."""


class Repeated(NamedTuple):
    """
    What went into repeats: calls from the second lap of each loop on, and the responses that hold them.

    *tokens* is `None` where the trace tells none; *usd* where a price is missing as well.
    """

    calls: int = 0
    tokens: int | None = None
    usd: float | None = None


class Loop(NamedTuple):
    """
    One loop of a run, from its findings: the *level* it reached, and how far it went on after that.

    *pattern* is the one by which it came furthest, *repeats* how many *unit*s of that there were in the end, *others* are further
    patterns that saw it. *first_call* and *last_call* are ordinals of calls, `None` for loops of text. *would*: in shadow mode the
    level that it would have reached.
    """

    number: int
    pattern: str
    tools: tuple[str, ...]
    agent: str
    level: Level
    first_call: int | None
    last_call: int | None
    repeats: int = 0
    unit: Unit = "calls"
    others: tuple[str, ...] = ()
    would: Level | None = None

    @property
    def strength(self) -> Level:
        """The level, in shadow mode the one that it would have reached."""
        return self.level if self.would is None else self.would


class RunReport(NamedTuple):
    """
    One run, finished or cut off.

    *started* and *ended* are seconds as the trace counts them; *tokens* and *usd* are those of the whole run, `None` where unknown.
    *contents* holds, for each finding, the arguments and results behind it, where they were asked for.
    """

    run: str
    source: str
    format: str
    calls: int
    messages: int
    findings: tuple[Finding, ...] = ()
    loops: tuple[Loop, ...] = ()
    repeated: Repeated = Repeated()
    models: tuple[str, ...] = ()
    tokens: int | None = None
    usd: float | None = None
    started: float | None = None
    ended: float | None = None
    attended: bool = True
    contents: tuple[dict[str, Any], ...] | None = None

    @property
    def level(self) -> Level:
        """The strongest decision of the run."""
        return max((finding.level for finding in self.findings), default=Level.CONTINUE)

    def first(self, level: Level) -> Finding | None:
        """The earliest finding at exactly *level*."""
        return next((finding for finding in self.findings if finding.level is level), None)


class Scan:
    """
    Turns sources into run reports.

    *rules* are the detectors and the policy (`None`: the preset `default`); *content* keeps arguments and results beside the
    findings; *prices* says what a response cost. Ids of runs are unique within one scan: where a run has none, or one that is
    taken, it is called after its file, with `#n`.
    """

    def __init__(self, rules: Rules | None = None, *, content: bool = False, prices: Prices = cost.usd) -> None:
        self._rules = rules
        self._content = content
        self._prices = prices
        self._taken: set[str] = set()

    def runs(self, source: Source, format: str | None = None) -> Iterator[RunReport]:
        """
        The runs of *source* in the order they began, each as soon as it and those before it are over.

        *format* forces a reader. Raises `ReadError` (`UnknownFormatError`) where nothing of the source can be read.
        """
        from unstuck.monitor import Monitor

        format, events = read(source, format)
        order: deque[_Run] = deque()
        live: dict[str, _Run] = {}
        begun = 0
        for event in events:
            run = live.get(event.run)
            if run is None:
                begun += 1
                name = self._name(event.run, source.name, begun)
                run = live[event.run] = _Run(name, event.run, Monitor(self._rules), self._prices, content=self._content)
                order.append(run)
            run.observe(event)
            if isinstance(event, RunEnd):
                del live[event.run]
                run.over = True
                while order and order[0].over:
                    yield order.popleft().report(source, format)
        while order:
            run = order.popleft()
            if not run.over:
                run.observe(RunEnd(run.own))  # what waited for the end of a round is said now
            yield run.report(source, format)

    def _name(self, given: str, source: str, nth: int) -> str:
        name, file = given, Path(source).name
        while not name or name in self._taken:
            name, nth = f"{file}#{nth}", nth + 1
        self._taken.add(name)
        return name


class _Run:
    """An open run: its monitor, and what the report will say."""

    def __init__(self, name: str, own: str, monitor: Any, prices: Prices, *, content: bool) -> None:
        self.name = name
        self.own = own
        self.over = False
        self._monitor = monitor
        self._monitor.on_evidence = self._hear
        self._prices = prices
        self._attended = True
        self._models: list[str] = []
        self._findings: list[Finding] = []
        self._contents: list[dict[str, Any]] | None = [] if content else None
        self._started: float | None = None
        self._ended: float | None = None
        self._bill = _Bill()
        self._repeats = _Bill()
        self._seen: dict[int, _Seen] = {}
        self._repeated = 0
        self._recent: dict[int, tuple[int, float | None]] = {}
        self._calls: dict[str, Call] = {}

    def observe(self, event: Event) -> None:
        """Take one event of the run."""
        time = getattr(event, "time", None)
        if time is not None:
            self._ended = time
            self._started = time if self._started is None else self._started
        decision: Decision = self._monitor.observe(event)
        if isinstance(event, Message):
            self._respond(event)
        elif isinstance(event, RunStart):
            self._attended = event.attended
        if decision.findings or decision.repeats:
            self._note(decision)
        if self._contents is not None:
            self._keep(event, self._contents, len(decision.findings))

    def report(self, source: Source, format: str) -> RunReport:
        """The run as it stands."""
        by_turn = source.usage.pop(self.own, None)
        responses_told = self._bill.known
        if by_turn and not responses_told:
            usage, model = by_turn
            self._bill.add(usage.total, self._prices(model, usage, self._started))
        repeated = Repeated(self._repeated)
        if responses_told:
            repeated = Repeated(repeated.calls, self._repeats.tokens, self._repeats.usd if self._bill.priced else None)
        return RunReport(
            run=self.name,
            source=source.name,
            format=format,
            calls=self._monitor.calls,
            messages=self._monitor.messages,
            findings=tuple(self._findings),
            loops=tuple(self._told()),
            repeated=repeated,
            models=tuple(self._models),
            tokens=self._bill.tokens if self._bill.known else None,
            usd=self._bill.usd if self._bill.known else None,
            started=self._started,
            ended=self._ended,
            attended=self._attended,
            contents=None if self._contents is None else tuple(self._contents),
        )

    def _respond(self, event: Message) -> None:
        if event.model and event.model not in self._models and len(self._models) < MODELS:
            self._models.append(event.model)
        if event.usage is None:
            return
        model = event.model or (self._models[-1] if self._models else None)
        bill = (event.usage.total, self._prices(model, event.usage, event.time))
        self._bill.add(*bill)
        self._recent[self._monitor.messages] = bill
        if len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]

    def _note(self, decision: Decision) -> None:
        self._findings += decision.findings
        self._repeated += len(decision.repeats)
        for _, response in decision.repeats:
            # Each response is paid for once, however many of its calls are repeats.
            bill = self._recent.pop(response, None)
            if bill:
                self._repeats.add(*bill)

    def _hear(self, view: View, evidence: Evidence, loop: Any, total: int) -> None:
        """Keep how far a loop has come; that goes on when it has reached its last rung."""
        if view.moment == "call":
            return  # the call has not run yet
        seen = self._seen.setdefault(loop.number, _Seen())
        seen.counts[evidence.pattern] = max(total, seen.counts.get(evidence.pattern, 0))
        if view.moment not in ("message", "text"):
            keys, tools = evidence.keys, evidence.tools
            for call, _, key, tool, *_ in reversed(view.trail.recent):
                if key in keys if keys else tool in tools:
                    seen.last_call = max(call, seen.last_call)
                    break

    def _told(self) -> Iterator[Loop]:
        """The loops in the order of their first findings."""
        by_loop: dict[int, list[Finding]] = {}
        for finding in self._findings:
            by_loop.setdefault(finding.loop, []).append(finding)
        for number, findings in by_loop.items():
            # Of equals the first: it brought the loop there.
            best = max(findings, key=lambda finding: finding.would or finding.level)
            seen = self._seen.get(number, _Seen())
            patterns = dict.fromkeys(finding.pattern for finding in findings)
            firsts = [finding.first_call for finding in findings if finding.first_call is not None]
            lasts = [finding.call for finding in findings if finding.call is not None]
            own = [finding.repeats for finding in findings if finding.pattern == best.pattern]
            yield Loop(
                number,
                best.pattern,
                tuple(dict.fromkeys(tool for finding in findings if finding.pattern == best.pattern for tool in finding.tools)),
                best.agent,
                max(finding.level for finding in findings),
                min(firsts, default=None),
                max(*lasts, seen.last_call) if lasts else None,
                max(*own, seen.counts.get(best.pattern, 0)),
                best.unit,
                tuple(pattern for pattern in patterns if pattern != best.pattern),
                best.would,
            )

    def _keep(self, event: Event, contents: list[dict[str, Any]], found: int) -> None:
        if isinstance(event, Call):
            self._calls[event.id] = event
            if len(self._calls) > CALLS:
                del self._calls[next(iter(self._calls))]
        if not found:
            return
        content: dict[str, Any] = {}
        call = event if isinstance(event, Call) else self._calls.get(event.id) if isinstance(event, Result) else None
        if call:
            content |= {"tool": call.tool, "args": call.args}
        if isinstance(event, Result):
            content["result"] = event.content
        if isinstance(event, Message):
            content["text"] = event.text
        contents.extend([content] * found)


class _Seen:
    """How far a loop has come: the highest count by pattern, and its last call."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.last_call = 0


class _Bill:
    """Tokens and money that add up; money is unknown as soon as one price is."""

    def __init__(self) -> None:
        self.known = False
        self.priced = False
        self.tokens = 0
        self.usd: float | None = 0.0

    def add(self, tokens: int, usd: float | None) -> None:
        self.known = True
        self.tokens += tokens
        self.priced = self.priced or usd is not None
        self.usd = None if usd is None or self.usd is None else self.usd + usd
