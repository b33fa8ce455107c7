"""
CrewAI: `with LoopGuard().watching(): crew.kickoff()`, with `kickoff_async` and `akickoff` too.

A stop blocks the call and is raised before the next model call: that is where CrewAI lets an exception of a hook out. Its hooks are not
told of responses that hold calls, nor of tokens; responses are counted by the requests that lead to them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple

from unstuck.errors import LoopStopped as _LoopStopped
from unstuck.errors import MissingDependencyError
from unstuck.events import MAIN
from unstuck.findings import Finding
from unstuck.guard import Guard, OnStop, failsafe
from unstuck.live import LiveAgent, LiveRun, current

try:
    from crewai.hooks import HookAborted, InterceptionPoint
    from crewai.hooks.dispatch import scoped_hooks
except ImportError as error:
    raise MissingDependencyError("crewai", "crewai") from error

__all__ = ("LoopGuard", "LoopStopped")

ERROR = "Error executing tool"
"""How CrewAI's answer for a tool that raised begins."""


class LoopStopped(_LoopStopped, HookAborted):
    """A run was ended because it looped; CrewAI lets this exception of a hook out, and no other."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        HookAborted.__init__(self, finding.record, source="unstuck")


class LoopGuard(Guard):
    """Hooks that watch crews and agents; takes the arguments of `unstuck.guard.Guard`, without `on_stop="end"`."""

    stops: tuple[OnStop, ...] = ("error",)

    @contextmanager
    def watching(self) -> Iterator[LoopGuard]:
        """What is kicked off inside is one run of this guard, in this thread or task and those it starts."""
        hooks = _Hooks(self.start().run)
        points: dict[InterceptionPoint, list[Any]] = {
            InterceptionPoint.PRE_MODEL_CALL: [hooks.before_model],
            InterceptionPoint.POST_MODEL_CALL: [hooks.after_model],
            InterceptionPoint.PRE_TOOL_CALL: [hooks.before_tool],
            InterceptionPoint.POST_TOOL_CALL: [hooks.after_tool],
        }
        with scoped_hooks(points):
            yield self
        hooks.run.end()


class _Open(NamedTuple):
    """A call between its two hooks; *args* is kept so that its `id` stays its own."""

    agent: LiveAgent
    id: str
    args: Any
    refusal: str | None


class _Hooks:
    """The hooks of one run."""

    def __init__(self, run: LiveRun) -> None:
        self.run = run
        self._lock = Lock()
        self._agents: dict[Hashable, LiveAgent] = {}
        self._requests: dict[LiveAgent, int] = {}
        self._open: dict[int, _Open] = {}

    def before_model(self, context: Any) -> None:
        agent = self._agent(context)
        agent.check(LoopStopped)
        self._requests[agent] = self._requests.get(agent, 0) + 1
        text = agent.nudge()
        if text is not None:
            context.messages.append({"role": "user", "content": text})

    def after_model(self, context: Any) -> None:
        self._heard(self._agent(context), context.response)

    def before_tool(self, context: Any) -> bool | None:
        agent = self._agent(context)
        refusal = self._called(agent, context)
        if refusal is not None:
            return False
        agent.enter()
        return None

    def after_tool(self, context: Any) -> str | None:
        call = self._open.pop(id(context.tool_input), None)
        if call is None:
            return None
        if call.refusal is None:
            call.agent.leave()
            self._returned(call.agent, call.id, context)
        return call.refusal

    def _agent(self, context: Any) -> LiveAgent:
        """An agent at one task: it begins each with an empty context. Inside a tool it is a sub-agent."""
        name, above = getattr(context.agent, "role", None) or MAIN, current()
        with self._lock:
            key = (name, id(context.task), above)
            agent = self._agents.get(key)
            if agent is None:
                inside = above is not None and above.run is self.run
                new = self.run.spawned(name, above) if inside and above else self.run.agent(self.run.free_name(name))
                agent = self._agents[key] = new
            return agent

    @failsafe
    def _heard(self, agent: LiveAgent, response: Any) -> None:
        text = response if isinstance(response, str) else None
        calls = None if text is None or "\nAction:" in f"\n{text}" else 0
        agent.heard_once(self._requests.get(agent), text, calls)

    @failsafe
    def _called(self, agent: LiveAgent, context: Any) -> str | None:
        agent.heard_once(self._requests.get(agent))
        name = f"call-{next(self.run.ids)}"  # CrewAI does not tell a hook the id of its call
        refusal = agent.refusal(name, context.tool_name, dict(context.tool_input))
        self._open[id(context.tool_input)] = _Open(agent, name, context.tool_input, refusal)
        return refusal

    @failsafe
    def _returned(self, agent: LiveAgent, name: str, context: Any) -> None:
        failed = isinstance(context.tool_result, str) and context.tool_result.startswith(ERROR)
        agent.returned(name, context.tool_result, "error" if failed else "ok")
