"""
Finished runs: which of them looped, where, and what that cost.

A replay cannot know what a nudge would have changed, so it goes on as if each had been ignored. Memory is bounded per open run: one
monitor, the tokens of the latest responses and the findings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unstuck import cost
from unstuck.events import Call, Event, Message, Result, RunEnd, RunStart, Usage
from unstuck.findings import Decision, Finding, Level
from unstuck.readers import read

if TYPE_CHECKING:
    from unstuck.presets import Rules
    from unstuck.readers.source import Source

RECENT = 1024
"""Responses whose tokens are remembered, for repeats that are found later; more than any window of the rules."""
MODELS = 16
"""Model names that a report holds."""
OPEN_CALLS = 256
"""Calls whose arguments are remembered for `content`."""


class Repeated(NamedTuple):
    """
    What went into repeats: calls from the second lap of each loop on, and the responses that hold them.

    *tokens* is `None` where the trace tells none; *usd* where a price is missing as well.
    """

    calls: int = 0
    tokens: int | None = None
    usd: float | None = None


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

    def __init__(
        self,
        rules: Rules | None = None,
        *,
        content: bool = False,
        prices: Callable[[str | None, Usage, float | None], float | None] = cost.usd,
        monitor: Callable[[], Any] | None = None,
    ) -> None:
        if monitor is None:
            from unstuck.monitor import Monitor

            def monitor() -> Any:
                return Monitor(rules)

        self._monitor = monitor
        self._content = content
        self._prices = prices
        self._taken: set[str] = set()

    def runs(self, source: Source, format: str | None = None) -> Iterator[RunReport]:
        """
        The runs of *source* in the order they began, each as soon as it and those before it are over.

        *format* forces a reader. Raises `ReadError` (`UnknownFormatError`) where nothing of the source can be read.
        """
        format, events = read(source, format)
        order: deque[_Run] = deque()
        live: dict[str, _Run] = {}
        begun = 0
        for event in events:
            run = live.get(event.run)
            if run is None:
                begun += 1
                run = live[event.run] = _Run(
                    self._name(event.run, source.name, begun), event.run, self._monitor(), self._content
                )
                order.append(run)
            run.observe(event, self._prices)
            if isinstance(event, RunEnd):
                run.over = live.pop(event.run) is run
                while order and order[0].over:
                    yield order.popleft().report(source, format)
        while order:
            yield order.popleft().report(source, format)

    def _name(self, given: str, source: str, nth: int) -> str:
        name, file = given, Path(source).name
        while not name or name in self._taken:
            name, nth = f"{file}#{nth}", nth + 1
        self._taken.add(name)
        return name


class _Run:
    def __init__(self, name: str, own: str, monitor: Any, content: bool) -> None:
        self.name = name
        self.own = own
        self.over = False
        self.monitor = monitor
        self.attended = True
        self.models: list[str] = []
        self.findings: list[Finding] = []
        self.contents: list[dict[str, Any]] | None = [] if content else None
        self.times: tuple[float | None, float | None] = (None, None)
        self.total = _Bill()
        self.repeats = _Bill()
        self.repeated_calls = 0
        self._recent: dict[int, tuple[int, float | None]] = {}
        self._calls: dict[str, Call] = {}

    def observe(self, event: Event, prices: Callable[[str | None, Usage, float | None], float | None]) -> None:
        time = getattr(event, "time", None)
        if time is not None:
            self.times = (time if self.times[0] is None else self.times[0], time)
        decision: Decision = self.monitor.observe(event)
        if isinstance(event, Message):
            self._respond(event, prices)
        elif isinstance(event, RunStart):
            self.attended = event.attended
        for _, message in decision.repeats:
            self.repeated_calls += 1
            bill = self._recent.pop(message, None)
            if bill:
                self.repeats.add(*bill)
        self.findings.extend(decision.findings)
        if self.contents is not None:
            self._keep(event, len(decision.findings))

    def report(self, source: Source, format: str) -> RunReport:
        for_turns = source.usage.pop(self.own, None)
        if for_turns and not self.total.known:
            self.total.add(for_turns[0].total, cost.usd(for_turns[1], for_turns[0], self.times[0]))
        repeated = Repeated(self.repeated_calls)
        if self._counted:
            repeated = Repeated(self.repeated_calls, self.repeats.tokens, self.repeats.usd if self.total.priced else None)
        return RunReport(
            run=self.name,
            source=source.name,
            format=format,
            calls=self.monitor.calls,
            messages=self.monitor.messages,
            findings=tuple(self.findings),
            repeated=repeated,
            models=tuple(self.models),
            tokens=self.total.tokens if self.total.known else None,
            usd=self.total.usd if self.total.known else None,
            started=self.times[0],
            ended=self.times[1],
            attended=self.attended,
            contents=None if self.contents is None else tuple(self.contents),
        )

    _counted = False

    def _respond(self, event: Message, prices: Callable[[str | None, Usage, float | None], float | None]) -> None:
        if event.model and event.model not in self.models and len(self.models) < MODELS:
            self.models.append(event.model)
        if event.usage is None:
            return
        self._counted = True
        bill = (event.usage.total, prices(event.model or (self.models[-1] if self.models else None), event.usage, event.time))
        self.total.add(*bill)
        self._recent[self.monitor.messages] = bill
        if len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]

    def _keep(self, event: Event, found: int) -> None:
        assert self.contents is not None
        if isinstance(event, Call):
            self._calls[event.id] = event
            if len(self._calls) > OPEN_CALLS:
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
        self.contents.extend([content] * found)


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
