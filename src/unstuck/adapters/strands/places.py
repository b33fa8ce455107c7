"""Who acts in an invocation: one agent, or those of a swarm or graph, which share its state."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from unstuck.live import LiveAgent

KEY = "unstuck"
"""Where the state of an invocation holds its agents."""


class Places:
    """
    The agents that share the state of an invocation.

    *agents* says where each is in its run, by the id of the framework's object; *working* are those that have not ended, in a graph
    some at the same time; *latest* is the one that began last.
    """

    def __init__(self) -> None:
        self.agents: dict[int, LiveAgent] = {}
        self.working: set[int] = set()
        self.latest: LiveAgent | None = None

    def begin(self, agent: Any, place: LiveAgent) -> LiveAgent:
        """The framework's *agent* begins to work at *place*."""
        self.agents[id(agent)] = self.latest = place
        self.working.add(id(agent))
        return place


def places_in(state: MutableMapping[str, Any]) -> Places:
    """The agents of the invocation with this *state*."""
    found = state.get(KEY)
    if not isinstance(found, Places):
        found = state[KEY] = Places()
    return found
