"""`LoopGuard`: what it makes of the turns and calls of an agent."""

from __future__ import annotations

from typing import Any, TypeVar

from unstuck.adapters.praisonai.tuning import tuned
from unstuck.adapters.praisonai.turn import Exchange, Turn, said
from unstuck.adapters.praisonai.watched import watch
from unstuck.events import MAIN, Outcome
from unstuck.findings import Level
from unstuck.guard import Guard, failsafe
from unstuck.live import LiveAgent

A = TypeVar("A")
DENIED = ("approval_denied", "permission_denied", "policy_denied", "guardrail_denied")
"""The marks of a result that says that a call was not let through."""


class LoopGuard(Guard):
    """
    Watches agents; takes the arguments of `unstuck.guard.Guard`.

    An agent's `_loop_detector_config`, set before a run begins, replaces the detectors and thresholds for its runs.
    """

    def attach(self, agent: A) -> A:
        """Watch every run of *agent* from now on; returns the agent. Attached a second time, the later guard holds."""
        watch(agent, self)
        return agent

    def turn(self, agent: Any, autonomous: bool) -> Turn:
        """A turn of *agent* begins: a run of its own, or a part of the one in which it is going on already."""
        config = agent._loop_detector_config  # noqa: SLF001 - the documented place
        if config is not None and not config.enabled:
            return Turn(agent, None, autonomous)
        rules = self.rules if config is None else tuned(self.rules, config)
        return Turn(agent, self.start(agent.name or MAIN, rules=rules), autonomous)

    @failsafe
    def asked(self, place: LiveAgent, exchange: Exchange, tool: str, args: Any) -> dict[str, Any] | None:
        """The answer in place of a call that must not run."""
        decision = place.called(exchange.id, tool, args)
        if decision.level < Level.BLOCK:
            return None
        exchange.blocked = True
        return {"error": decision.text, "loop_blocked": True}

    @failsafe
    def came(self, place: LiveAgent, turn: Turn, exchange: Exchange, result: Any) -> None:
        """What a call that ran came to."""
        outcome: Outcome = "ok"
        if isinstance(result, dict) and result.get("error"):
            outcome = "denied" if any(result.get(name) for name in DENIED) else "error"
        turn.note(place.returned(exchange.id, result, outcome))

    @failsafe
    def refused(self, place: LiveAgent, exchange: Exchange, tool: str, args: Any, result: Any) -> None:
        """A hook, a validator or a person did not let the call through."""
        place.called(exchange.id, tool, args)
        place.returned(exchange.id, result, "denied")

    @failsafe
    def heard(self, place: LiveAgent, turn: Turn, response: Any, model: Any) -> None:
        """The model answered."""
        text, calls, usage = said(response)
        turn.note(place.responded(text, calls, usage=usage, model=model if isinstance(model, str) else None))
