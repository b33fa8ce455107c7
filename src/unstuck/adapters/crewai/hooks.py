"""The hooks of one run: who acts, what is called, what came back."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Any, NamedTuple

from crewai.hooks import HookAborted
from crewai.utilities.i18n import I18N_DEFAULT

from unstuck.errors import LoopStopped as _LoopStopped
from unstuck.events import MAIN
from unstuck.findings import Finding
from unstuck.guard import failsafe
from unstuck.live import MOST_AGENTS, MOST_OPEN, LiveAgent, LiveRun, current

ERROR = "Error executing tool"
"""How CrewAI's answer for a tool that raised begins."""
REMINDER = "\n\n" + I18N_DEFAULT.slice("tools").partition("{")[0]
"""What CrewAI puts behind every third result of an agent that calls its tools in text."""


class LoopStopped(_LoopStopped, HookAborted):
    """A run was ended because it looped; CrewAI lets this exception of a hook out, and no other."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        HookAborted.__init__(self, finding.record, source="unstuck")


class _Open(NamedTuple):
    """A call between its two hooks; *args* is kept so that its `id` stays its own."""

    agent: LiveAgent
    id: str
    args: Any
    refusal: str | None


class _Place:
    """An agent while it executes one task; *owner* is held so that its `id` stays its own."""

    def __init__(self, agent: LiveAgent, owner: Any) -> None:
        self.agent, self.owner = agent, owner
        self.requests = 0


class Hooks:
    """The hooks of one run."""

    def __init__(self, run: LiveRun) -> None:
        self.run = run
        self._lock = Lock()
        self._places: OrderedDict[Hashable, _Place] = OrderedDict()
        self._open: dict[int, _Open] = {}

    def before_model(self, context: Any) -> None:
        place = self._place(context, context.executor is not None and context.iterations == 0)
        place.agent.check(LoopStopped)
        place.requests += 1
        text = place.agent.nudge()
        if text is not None:
            context.messages.append({"role": "user", "content": text})

    def after_model(self, context: Any) -> None:
        place = self._place(context)
        self._heard(place.agent, place.requests, context.response)

    def before_tool(self, context: Any) -> bool | None:
        place = self._place(context)
        refusal = self._called(place.agent, place.requests, context)
        if refusal is not None:
            return False
        place.agent.enter()
        return None

    def after_tool(self, context: Any) -> str | None:
        call = self._open.pop(id(context.tool_input), None)
        if call is None:
            return None
        if call.refusal is None:
            call.agent.leave()
            self._returned(call.agent, call.id, context)
        return call.refusal

    def _place(self, context: Any, begins: bool = False) -> _Place:
        """An agent at one task: it *begins* each, each time, with an empty context. Inside a tool it is a sub-agent."""
        name, above = getattr(context.agent, "role", None) or MAIN, current()
        with self._lock:
            key = (name, id(context.task), above)
            place = self._places.get(key)
            if place is None or (begins and place.requests):
                inside = above is not None and above.run is self.run
                agent = self.run.spawned(name, above) if inside and above else self.run.agent(self.run.free_name(name))
                place = self._places[key] = _Place(agent, context.task)
            self._places.move_to_end(key)
            if len(self._places) > MOST_AGENTS:
                self._places.popitem(last=False)
            return place

    @failsafe
    def _heard(self, agent: LiveAgent, request: int, response: Any) -> None:
        text = response if isinstance(response, str) else None
        calls = None if text is None or "\nAction:" in f"\n{text}" else 0
        agent.heard_once(request, text, calls)

    @failsafe
    def _called(self, agent: LiveAgent, request: int, context: Any) -> str | None:
        agent.heard_once(request or None)
        name = f"call-{next(self.run.ids)}"  # CrewAI does not tell a hook the id of its call
        refusal = agent.refusal(name, context.tool_name, dict(context.tool_input))
        self._open[id(context.tool_input)] = _Open(agent, name, context.tool_input, refusal)
        if len(self._open) > MOST_OPEN:  # where another hook broke off what was between
            del self._open[next(iter(self._open))]
        return refusal

    @failsafe
    def _returned(self, agent: LiveAgent, name: str, context: Any) -> None:
        text = context.tool_result
        failed = isinstance(text, str) and text.startswith(ERROR)
        agent.returned(name, text.partition(REMINDER)[0] if isinstance(text, str) else text, "error" if failed else "ok")
