"""
Where the ledger keeps the count of each pattern.

A detector speaks from its lowest rung on; an explanation has to know the count before that as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from unstuck.explain.journal import Made

if TYPE_CHECKING:
    from unstuck.ledger import Ledger
    from unstuck.states import CallState, ToolState
    from unstuck.trail import Trail


class Subject(NamedTuple):
    """What is counted: a pattern, and the agent, call, tool or target it is about."""

    pattern: str
    agent: str
    key: int = 0
    tool: str = ""
    anchor: int = 0
    ceiling: bool = False


class Reading(NamedTuple):
    """
    A count as it stands: *raw* steps of which *weight* make one repeat, counted since *streak*, all of one *mark*.

    *call* is the call that raised it, where that is not the one whose result just came.
    """

    raw: int = 0
    streak: int = 0
    mark: Any = None
    weight: int = 1
    call: int | None = None

    @property
    def repeats(self) -> int:
        """The repeats."""
        return self.raw // self.weight


NOTHING = Reading()
Counter: TypeAlias = Callable[["Ledger", "Trail", Subject], Reading]


def _state(ledger: Ledger, trail: Trail, subject: Subject) -> CallState | None:
    state = trail.known(subject.key)
    return state if state is not None and state.epoch == ledger.epoch else None


def _same(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    state = _state(ledger, trail, subject)
    return Reading(state.same + state.asked, state.first, state.raw) if state is not None else NOTHING


def _differing(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    state = _state(ledger, trail, subject)
    return Reading(state.differing + state.asked, state.varied) if state is not None else NOTHING


def _tool(trail: Trail, subject: Subject) -> ToolState | None:
    return trail.tools.get(subject.tool)


def _chain(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    tool = _tool(trail, subject)
    if tool is None or tool.epoch != ledger.epoch:
        return NOTHING
    return Reading(tool.chain + tool.chain_asked, tool.chain_first, tool.chain_first)


def _failed(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    tool = _tool(trail, subject)
    if tool is None or tool.failed == 0 or tool.failed_epoch != ledger.epoch:
        return NOTHING
    raw, weight = tool.failed + tool.failed_asked, 2 if tool.transient and not tool.unknown else 1
    return Reading(raw, tool.failed_first, tool.failure, weight)


def _mistakes(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    tool = _tool(trail, subject)
    for what, count, first, _, _ in tool.mistakes if tool is not None else ():
        if what == subject.anchor:
            return Reading(count, first)
    return NOTHING


def _echoes(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    tool = _tool(trail, subject)
    return Reading(tool.echo, tool.echo_first, tool.echo_first) if tool is not None else NOTHING


def _cascade(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    return Reading(trail.failed, trail.failed_first, trail.failure)


def _empty(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    sweep = trail.sweep
    if sweep is None or sweep.epoch != ledger.epoch:
        return NOTHING
    return Reading(trail.fruitless, trail.empty_first, trail.empty_first)


def _ground(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    return Reading(len(trail.redundant), trail.redundant_first, trail.redundant_first if trail.redundant else 0)


def _returns(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    swing = ledger.swings.targets.get(subject.anchor) if ledger.swings is not None else None
    return Reading(swing.returns, swing.first, swing.first) if swing is not None else NOTHING


def _handed_on(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    chain = ledger.delegations
    if chain is None or chain.said is None:
        return NOTHING
    return Reading(chain.length, chain.first, chain.first, call=chain.handoffs.steps[-1].call if chain.handoffs.steps else None)


def _texts(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    return Reading(trail.text_count, trail.text_first, trail.text_first)


def _talk(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    return Reading(trail.talk_count, trail.talk_first, trail.talk_first)


def _silence(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    return Reading(trail.silent)


def _intervals(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    intervals = ledger.intervals
    return Reading(intervals.alike, intervals.first, intervals.first) if intervals is not None else NOTHING


def _turn(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    tally = ledger.spent.tally(subject.agent, subject.tool) if ledger.spent is not None else None
    return Reading(1 + tally.repeats + tally.asked, tally.first) if tally is not None and tally.outcomes else NOTHING


def _ceiling(ledger: Ledger, trail: Trail, subject: Subject) -> Reading:
    for tally in ledger.ceiling.tallies.get(subject.key, ()) if ledger.ceiling is not None else ():
        if tally.first == subject.anchor:
            return Reading(tally.count, tally.first)
    return NOTHING


def _is_call(subject: Subject, made: Made) -> bool:
    return made.agent == subject.agent and made.key == subject.key


def _is_of_tool(subject: Subject, made: Made) -> bool:
    return made.agent == subject.agent and made.tool == subject.tool


def _is_of_target(subject: Subject, made: Made) -> bool:
    return made.told is not None and made.told[0] == subject.anchor


def _is_passed_on(subject: Subject, made: Made) -> bool:
    return made.kind == "delegate"


def _is_none(subject: Subject, made: Made) -> bool:
    return False


COUNTERS: Mapping[str, tuple[Counter, Callable[[Subject, Made], bool]]] = {
    "repeated_result": (_same, _is_call),
    "stuck_poll": (_same, _is_call),
    "repeated_call": (_differing, _is_call),
    "near_repeat": (_chain, _is_of_tool),
    "repeated_failure": (_failed, _is_of_tool),
    "unknown_tool": (_failed, _is_of_tool),
    "recurring_failure": (_mistakes, _is_none),
    "echoed_change": (_echoes, _is_of_tool),
    "failure_cascade": (_cascade, _is_none),
    "empty_answers": (_empty, _is_none),
    "recovered_ground": (_ground, _is_none),
    "oscillation": (_returns, _is_of_target),
    "delegation_loop": (_handed_on, _is_passed_on),
    "repeated_text": (_texts, _is_none),
    "monologue": (_talk, _is_none),
    "empty_response": (_silence, _is_none),
    "stalled": (_intervals, _is_none),
    "turn_budget": (_turn, _is_of_tool),
}
"""For each pattern of the default rules how its count is read, and which calls could have raised it."""


def read(ledger: Ledger, subject: Subject) -> Reading:
    """The count of *subject* now."""
    trail = ledger.trails.get(subject.agent) or next(iter(ledger.trails.values()), None)
    if trail is None or (trail.agent != subject.agent and subject.pattern not in ("delegation_loop", "stalled", "oscillation")):
        return NOTHING
    counter = _ceiling if subject.ceiling else COUNTERS[subject.pattern][0]
    return counter(ledger, trail, subject)


def concerns(subject: Subject, made: Made) -> bool:
    """Whether *made* is a call that could have raised the count of *subject*."""
    return (_is_call if subject.ceiling else COUNTERS[subject.pattern][1])(subject, made)
