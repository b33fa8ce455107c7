"""
A run that is going on now: one monitor, its lock, the nudges that wait, and the fail-safe.

Adapters translate their framework's moments into the methods of `LiveAgent` and carry out what these answer. Nothing here waits or
does I/O, so one set of methods serves threads and tasks alike.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from unstuck.errors import LoopStopped
from unstuck.events import MAIN, Call, Event, Message, Outcome, Result, RunEnd, RunStart, User
from unstuck.findings import CONTINUE, Decision, Finding, Level
from unstuck.monitor import Monitor

if TYPE_CHECKING:
    from unstuck.presets import Rules

MARK = "[unstuck] "
"""What every text begins with that the guard puts into a conversation, so that it can be told from a person's."""
MOST_FINDINGS = 1_000
MOST_OPEN = 256
"""Calls of one agent without a result that are remembered."""
MOST_TOLD = 64
"""Nudges of one agent that are put into each of its requests."""
MOST_AGENTS = 1_024
"""Agents of one run that are remembered; the one that was silent longest makes room."""
_NUMBERS = count(1)
T = TypeVar("T")


class Watchers(NamedTuple):
    """Who is told what while a run goes on: of each new finding, and of each event (to write a trace that `unstuck scan` reads)."""

    finding: Callable[[Finding], None] | None = None
    event: Callable[[Event], None] | None = None


class LiveRun:
    """
    One run. *name* is its id in events (default: numbered), *attended* says whether somebody can answer a question.

    *findings* holds the latest 1,000; *first* names the agent that began the run; *stopped* is the finding that ended it, *over* says
    that it has ended. Once anything in the guard raised, *off* is true and every decision is `continue`: the failure is logged once,
    and the host goes on.
    """

    def __init__(
        self, rules: Rules | None = None, *, name: str | None = None, attended: bool = True, watchers: Watchers | None = None
    ) -> None:
        self.name = name or f"run-{next(_NUMBERS)}"
        self.lock = RLock()
        self.monitor = Monitor(rules)
        self.findings: deque[Finding] = deque(maxlen=MOST_FINDINGS)
        self.stopped: Finding | None = None
        self.stop_text: str | None = None
        self.off = self.over = False
        self.agents: OrderedDict[str, LiveAgent] = OrderedDict()
        self._named: OrderedDict[str, int] = OrderedDict()
        self.messages = 0
        self.first: str | None = None
        self.ids = count(1)
        self._watchers = watchers or Watchers()
        self.observe(RunStart(self.name, attended))

    def observe(self, event: Event) -> Decision:
        """What the monitor decides about *event*; `continue` where the guard is off or fails."""
        with self.lock:
            if self.off:
                return CONTINUE
            try:
                decision = self.monitor.observe(event)
                if decision.text is not None:
                    decision = decision._replace(text=MARK + decision.text)
                self._note(decision, event)
                self._tell(event, decision)
            except Exception as error:
                self.switch_off(error)
                return CONTINUE
            return decision

    def stream(self, text: str, agent: str = MAIN) -> Decision:
        """What the monitor decides about the next characters of a response of *agent* that is still coming in."""
        with self.lock:
            if self.off:
                return CONTINUE
            try:
                decision = self.monitor.stream(text, agent)
                if decision.findings:
                    self._note(decision)
                    self._tell(None, decision)
            except Exception as error:
                self.switch_off(error)
                return CONTINUE
            return decision

    def _note(self, decision: Decision, event: Event | None = None) -> None:
        self.findings += decision.findings
        told = decision.level is Level.NUDGE or (decision.level is Level.BLOCK and isinstance(event, Message))
        if decision.level is Level.STOP and self.stopped is None:
            self.stopped, self.stop_text = decision.finding, decision.text
        elif told and decision.text and decision.finding is not None:  # of a response that has come in nothing is left to block
            agent = self.agents.get(decision.finding.agent) or self.agent(MAIN)
            agent.nudges[decision.text] = None

    def _tell(self, event: Event | None, decision: Decision) -> None:
        finding, told = self._watchers
        if told is not None and event is not None:
            told(event)
        if finding is not None:
            for found in decision.findings:
                finding(found)

    def switch_off(self, error: Exception) -> None:
        """Stop guarding this run because of *error*; says so once, without the error's text, which may quote arguments."""
        with self.lock:
            if self.off:
                return
            self.off = True
            from logging import getLogger

            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            where = f" in {place.tb_frame.f_code.co_qualname}, line {place.tb_lineno}" if place is not None else ""
            text = "%s raised%s while it watched run %s; the guard is off for this run, and the run goes on"
            getLogger("unstuck").warning(text, type(error).__name__, where, self.name)

    def agent(self, name: str = MAIN, parent: str | None = None, depth: int | None = None) -> LiveAgent:
        """The agent called *name* in this run; what it was made with the first time holds."""
        with self.lock:
            agent = self.agents.get(name)
            if agent is None:
                agent = LiveAgent(self, name, parent, depth)
                self.first = self.first or name
            self.keep(agent)
            return agent

    def keep(self, agent: LiveAgent) -> None:
        """*agent* acts: it is the last to make room for another."""
        _keep(self.agents, agent.name, agent)

    def spawned(self, name: str, by: LiveAgent) -> LiveAgent:
        """A sub-agent that *by* starts; where the name is taken it gets a number, since it begins with an empty context."""
        with self.lock:
            agent = self.agent(self.free_name(name), by.name, (by.depth or 0) + 1)
            agent.above = by
            return agent

    def free_name(self, name: str) -> str:
        """*name*, with a number where an agent of this run has had it already."""
        nth = self._named.get(name, int(name in self.agents)) + 1
        while (free := name if nth == 1 else f"{name}#{nth}") in self.agents:
            nth += 1
        _keep(self._named, name, nth)
        return free

    def user(self, text: str | None = None, origin: str = "user") -> None:
        """Somebody spoke; a person's request begins a new turn, and takes back a stop."""
        with self.lock:
            if origin == "user":
                self.stopped, self.over = None, False
                for agent in self.agents.values():
                    agent.nudges.clear()
            self.observe(User(self.name, text, origin))

    def end(self, outcome: str | None = None) -> None:
        """The run is over; said again it changes nothing. What is told afterwards is still judged."""
        with self.lock:
            if not self.over:
                self.over = True
                self.observe(RunEnd(self.name, outcome))


class LiveAgent:
    """One agent of a run: where its responses, calls and results come in, and where the nudges for it wait."""

    def __init__(self, run: LiveRun, name: str = MAIN, parent: str | None = None, depth: int | None = None) -> None:
        self.run = run
        self.name, self.parent, self.depth = name, parent, depth
        self.above: LiveAgent | None = None
        self.message: int | None = None
        self.heard: Any = None
        self.pending: Any = None  # a response of which an adapter has not seen the end
        self.nudges: dict[str, None] = {}
        self._told: dict[str, str] = {}  # by the call behind whose result it stands
        self._asked: dict[str, Decision] = {}
        self._open: dict[str, None] = {}

    def responded(self, text: str | None = None, calls: int | None = None, **rest: Any) -> Decision:
        """The model answered; *rest* are further fields of `Message` (usage, model, reasoning)."""
        run = self.run
        with run.lock:
            run.keep(self)
            run.messages += 1
            self.message = run.messages
            self._asked.clear()
            event = Message(run.name, run.messages, calls, self.name, self.parent, text, time=time.time(), **rest)
            return run.observe(event)

    def heard_once(self, response: Any, text: str | None = None, calls: int | None = None, **rest: Any) -> None:
        """The same as `responded`, for frameworks that show a response with each of its calls: *response* tells it from others."""
        with self.run.lock:
            if response is None or response != self.heard:
                self.heard = response
                self.responded(text, calls, **rest)

    def called(self, id: str, tool: str, args: Any, **rest: Any) -> Decision:
        """
        A call is about to run. At `block` and `stop` do not run it: answer it with the decision's text, nothing else is to be reported.

        An *id* that was asked for in the same response already is the same call executed again: it is answered as before and counts
        once. *rest* are further fields of `Call` (approved, annotations).
        """
        run = self.run
        with run.lock:
            run.keep(self)
            before = self._asked.get(id)
            if before is not None and (self.message is not None or id in self._open):
                return before
            if run.stopped is not None:
                return Decision(Level.STOP, (), run.stop_text, run.stopped)
            event = Call(
                run.name, self._own(id), tool, args, self.message, self.name, self.parent, self.depth, time.time(), **rest
            )
            decision = run.observe(event)
            if decision.level >= Level.BLOCK:
                run.observe(Result(run.name, self._own(id), decision.text, "blocked", time.time()))
            else:
                self._open[id] = None
                if len(self._open) > MOST_OPEN:
                    oldest = next(iter(self._open))
                    del self._open[oldest]
                    self._asked.pop(oldest, None)
            if self.message is not None or id in self._open:
                self._asked[id] = decision
            return decision

    def refusal(self, id: str, tool: str, args: Any, **rest: Any) -> str | None:
        """The same as `called`: the words in place of the result where the call must not run, else `None`."""
        decision = self.called(id, tool, args, **rest)
        return decision.text if decision.level >= Level.BLOCK else None

    def returned(self, id: str, content: Any, outcome: Outcome = "ok") -> Decision:
        """What came back for the call *id*; for one that is not open (blocked, or executed again) nothing happens."""
        run = self.run
        with run.lock:
            if id not in self._open:
                return CONTINUE
            run.keep(self)
            del self._open[id]
            if self.message is None:
                self._asked.pop(id, None)
            return run.observe(Result(run.name, self._own(id), content, outcome, time.time()))

    def _own(self, id: str) -> str:
        """The id in events: two agents may use the same one at the same time."""
        return id if self.name == self.run.first else f"{self.name}/{id}"

    def failed(self, id: str, error: BaseException) -> Decision:
        """The call *id* raised *error*."""
        try:
            text = f"{type(error).__name__}: {error}"
        except Exception:
            text = type(error).__name__
        return self.returned(id, text, "error")

    def nudge(self) -> str | None:
        """The words that wait for this agent's model, once; to be put after the results of the round."""
        with self.run.lock:
            if not self.nudges:
                return None
            text = "\n".join(self.nudges)
            self.nudges.clear()
            return text

    def tell(self, items: list[T], answered: Callable[[T], str | None], said: Callable[[str], T]) -> None:
        """
        Put the words that wait for this agent's model into a request, for frameworks that make each request anew from what they keep.

        They stand behind the latest result, and behind the same one in every request that follows: the model is not to forget them.

        Args:
            items: the request.
            answered: the id of the call whose result an item holds (of the last where it holds some), else `None`.
            said: makes an item of words.
        """
        text = self.nudge()
        if text is None and not self._told:
            return
        places = {id: place for place, item in enumerate(items, 1) if (id := answered(item)) is not None}
        if text is not None and not places:
            items.append(said(text))
        elif text is not None:
            last = max(places, key=places.__getitem__)
            self._told[last] = "\n".join(filter(None, (self._told.get(last), text)))
            if len(self._told) > MOST_TOLD:
                del self._told[next(iter(self._told))]
        for place, text in sorted(((places[id], text) for id, text in self._told.items() if id in places), reverse=True):
            items.insert(place, said(text))

    def check(self, stop: type[LoopStopped] = LoopStopped) -> None:
        """Raise *stop* where the run was stopped."""
        if self.run.stopped is not None:
            raise stop(self.run.stopped)

    def halt(self, stop: type[LoopStopped] = LoopStopped) -> None:
        """The same between two rounds, where nothing else goes on: what is raised to the run's first agent ends the run."""
        if self.run.stopped is not None and not self.depth:
            self.run.end("stopped")
        self.check(stop)

    def hand_over(self, name: str) -> LiveAgent:
        """The agent called *name* goes on with this one's conversation; a sub-agent of that name is another one."""
        own, nth = name, 1
        while (found := self.run.agents.get(own)) is not None and found.depth != self.depth:
            nth += 1
            own = f"{name}#{nth}"
        agent = self.run.agent(own, self.name if self.name != own else self.parent, self.depth)
        agent.above = self.above
        return agent

    def enter(self) -> None:
        """A tool of this agent runs from here on, in this thread or task: agents that begin in there are its sub-agents."""
        CURRENT.set(self)

    def leave(self) -> None:
        """The tool has run."""
        if CURRENT.get() is self:  # runs in one task may be left in another order than they were entered
            CURRENT.set(self.above)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """`enter` and `leave` around a tool, for frameworks that let a guard stand around it."""
        self.enter()
        try:
            yield
        finally:
            self.leave()

    @contextmanager
    def running(self, id: str, *signals: type[BaseException]) -> Iterator[None]:
        """The same, where what the tool raises is what came of the call *id*; *signals* are exceptions that say something else."""
        try:
            with self.inside():
                yield
        except signals:
            raise
        except Exception as error:
            self.failed(id, error)
            raise


CURRENT: ContextVar[LiveAgent | None] = ContextVar("unstuck_agent", default=None)
"""The agent whose tool is running here."""


def current() -> LiveAgent | None:
    """The agent whose tool is running here; none where its run is over, as for what a tool left behind in the background."""
    agent = CURRENT.get()
    return None if agent is None or agent.run.over else agent


def _keep(kept: OrderedDict[str, T], name: str, value: T) -> None:
    kept[name] = value
    kept.move_to_end(name)
    if len(kept) > MOST_AGENTS:
        kept.popitem(last=False)
