"""What every `LoopGuard` is made with, and how it tells the runs of its framework apart."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from functools import wraps
from threading import RLock
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeAlias, TypeVar, Unpack

from unstuck.config import Options, Settings
from unstuck.errors import SettingsError
from unstuck.events import MAIN, Event
from unstuck.findings import Finding
from unstuck.live import MOST_FINDINGS, LiveAgent, LiveRun, Watchers, current

if TYPE_CHECKING:
    from unstuck.presets import Rules

MOST_RUNS = 1_024
"""Runs of one guard that are remembered at once; the one that was silent longest makes room."""

OnStop: TypeAlias = Literal["error", "end", "answer"]

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


class Guard:
    """
    Watches the runs of one framework; every adapter's `LoopGuard` takes these arguments.

    Args:
        options: an `Options`, or a rule set (default: the preset `default`).
        attended: whether somebody can answer a question while the runs last (default true); if not, the ceiling applies.
        on_stop: `error` raises in the caller (default); where the framework has a way for it, `end` ends the run quietly, and
            `answer` lets the model answer once more without tools.
        on_finding: called with each new finding.
        on_event: called with each event, for instance to write a trace.
        **settings: the settings of `Options`, in place of *options*.

    *findings* holds the latest 1,000 of all runs. Raises `SettingsError` for settings that cannot be.
    """

    stops: tuple[OnStop, ...] = ("error", "end")
    """The ways to stop that the framework has."""

    def __init__(
        self,
        options: Options | Rules | None = None,
        *,
        attended: bool = True,
        on_stop: OnStop = "error",
        on_finding: Callable[[Finding], None] | None = None,
        on_event: Callable[[Event], None] | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        if options is not None and settings:
            problem = "settings stand beside an options object that has its own"
            raise SettingsError("options", options, problem, "put the settings into the options")
        given = Options(**settings) if options is None else options
        self.rules: Rules = given.rules() if isinstance(given, Options) else given
        if on_stop not in self.stops:
            raise SettingsError(
                "on_stop", on_stop, "this guard has no such way to stop", f"give one of {', '.join(self.stops)}"
            )
        self.attended, self.graceful = attended, on_stop == "end"
        self._found: deque[Finding] = deque(maxlen=MOST_FINDINGS)
        self._on_finding, self._on_event = on_finding, on_event
        self._lock = RLock()
        self._runs: OrderedDict[Hashable, tuple[LiveAgent, Any]] = OrderedDict()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all runs so far, oldest first."""
        return tuple(self._found)

    def _note(self, finding: Finding) -> None:
        self._found.append(finding)
        if self._on_finding is not None:
            self._on_finding(finding)

    def start(self, agent: str = MAIN, *, run: str | None = None, rules: Rules | None = None) -> LiveAgent:
        """
        A run begins with *agent*, or a sub-agent in the run whose tool is running here, unless that has other rules.

        *run* is the run's id (default: numbered), *rules* are those to judge it by (default: the guard's).
        """
        rules = rules or self.rules
        above = current()
        if above is not None and above.run.monitor.rules == rules:
            return above.run.spawned(agent, above)
        watchers = Watchers(self._note, self._on_event)
        first = LiveRun(rules, name=run, attended=self.attended, watchers=watchers).agent(agent)
        first.above = above
        return first

    def begin(self, key: Hashable, agent: str = MAIN, owner: Any = None) -> LiveAgent:
        """A run begins that the framework knows by *key*; *owner* is held as long as the run is, so that its `id` stays its own."""
        return self.keep(key, self.start(agent), owner)

    def keep(self, key: Hashable, agent: LiveAgent, owner: Any = None) -> LiveAgent:
        """From here on *agent* is the one known by *key*."""
        with self._lock:
            self._runs[key] = agent, owner
            self._runs.move_to_end(key)
            if len(self._runs) > MOST_RUNS:
                self._runs.popitem(last=False)
        return agent

    def at(self, key: Hashable, agent: str = MAIN, owner: Any = None) -> LiveAgent:
        """The run known by *key*, begun where it is not."""
        with self._lock:
            found = self._runs.get(key)
            if found is not None:
                self._runs.move_to_end(key)
                return found[0]
            return self.begin(key, agent, owner)  # inside the lock: parallel calls may be the first that is seen of a run

    def take_over(self, key: Hashable, name: str) -> LiveAgent:
        """The agent called *name* has the conversation known by *key* now, in the run of whoever had it before; begun where nobody had."""
        with self._lock:
            found = self._runs.get(key)
            if found is None:
                return self.begin(key, name)
            before, owner = found
            return self.keep(key, before.hand_over(name), owner)

    def end(self, key: Hashable, outcome: str | None = None) -> None:
        """The run known by *key* is over; for a sub-agent its part of the run."""
        with self._lock:
            found = self._runs.pop(key, None)
        if found is not None and not found[0].depth:
            found[0].run.end(outcome)


def failsafe(
    translate: Callable[Concatenate[S, LiveAgent, P], T],
) -> Callable[Concatenate[S, LiveAgent, P], T | None]:
    """A method that translates for an agent: where it raises an `Exception` the guard is off for that run and `None` comes back."""

    @wraps(translate)
    def safe(self: S, agent: LiveAgent, /, *args: P.args, **kwargs: P.kwargs) -> T | None:
        if agent.run.off:
            return None
        try:
            return translate(self, agent, *args, **kwargs)
        except Exception as error:
            agent.run.switch_off(error)
            return None

    return safe
