"""What one agent has shown so far in one turn: distinct calls, tools, rounds, failures, texts."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any

from unstuck.cycles import Cycles
from unstuck.ranges import Ground
from unstuck.signs import CASCADE, EMPTY, GROUND, WINDOW
from unstuck.states import CallState, Once, Round, ToolState
from unstuck.sweeps import Sweep
from unstuck.window import NO_SPAN, CallWindow, Span

if TYPE_CHECKING:
    from unstuck.spent import Spent


class Trail:
    """
    The records of one agent.

    Args: *window*: rounds that are looked back on (four to five times as many distinct calls are remembered); *span*: what the
    window rules look at.
    """

    def __init__(self, agent: str, window: int, span: Span = NO_SPAN) -> None:
        self.agent = agent
        self.window = window
        self.most = 5 * window
        self.window_calls = CallWindow(span) if span.calls else None
        self.calls: dict[int, CallState | Once] = {}
        self.tools: dict[str, ToolState] = {}
        self.cycles = Cycles(window)
        self.recent: deque[list[Any]] = deque(maxlen=window)  # call, message, key, tool, named as a repeat
        self.talk: set[int] = set()
        self.empty_tools: list[str] = []
        self.failed_tools: list[str] = []
        self.redundant: list[int] = []
        self.ground = Ground()

    spent: Spent | None = None
    round: Round | None = None
    rounds = 0
    empty = empty_first = empty_round = 0
    sweep: Sweep | None = None
    """What was asked, while nothing is found."""
    failure = failed = failed_first = failed_round = 0
    failed_before = (0, 0, 0)
    failed_classes: tuple[int, ...] = ()
    aims: tuple[int, ...] = ()
    """Names that its failing calls held."""
    aim_round = fresh = fresh_before = stirred = 0
    fresh_now = False
    paused = paused_before = 0
    """The latest two rounds in which a tool that waits was called."""
    slept = slept_before = 0
    """Those in which it said that it waits for a minute and more."""
    waited = 0
    """The latest round before which the agent did nothing for a minute and more."""
    moved = stepped = paged = 0
    """The latest round in which a call that was made before brought something new."""
    ok_round = full_round = new_round = 0
    """The latest rounds with a success, an answer, anything new."""
    redundant_first = 0
    inside = 0
    """Where the latest run of redundant reads began in which some only lay inside what was read."""
    text = 0
    """The digest of the latest response without calls."""
    text_count = text_first = silent = talk_count = talk_first = 0
    talk_numbers: tuple[float, ...] = ()
    talk_steps = 0
    """Such repeats in which a number rose."""
    told = False
    """Whether another agent spoke since the latest response."""
    text_due = talk_due = 0
    """Such repeats that a program had asked for."""
    prompted = False
    """Whether a program spoke since the latest response."""
    spoke_at: float | None = None

    _PLAIN = (
        *("rounds", "empty", "empty_first", "empty_round", "empty_tools", "failure", "failed", "failed_first", "failed_round"),
        *("failed_tools", "redundant", "redundant_first", "inside", "text", "text_count", "text_first", "silent", "talk_count"),
        *("talk_first", "failed_before", "failed_classes", "ok_round", "full_round", "new_round", "moved", "stepped", "paged"),
        *("text_due", "talk_due", "prompted", "spoke_at", "talk_numbers", "talk_steps", "told"),
        *("paused", "paused_before", "slept", "slept_before"),
        *("waited", "aims", "aim_round", "fresh", "fresh_before", "fresh_now", "stirred"),
    )

    def known(self, key: int) -> CallState | None:
        """What is known of a call, `None` where it was not made."""
        found = self.calls.get(key)
        if type(found) is Once:
            found = self.calls[key] = CallState(found)
        return found  # type: ignore[return-value]  # the type checkers do not narrow by `type() is`

    def note(self, made: Once, covered: bool = False) -> None:
        """A call was made for the first time. *covered*: it found nothing new."""
        if len(self.calls) >= self.most:
            self.make_room()
        self.calls[made[0]] = made
        if covered:
            return
        self.new_round = made[6]
        if self.redundant:
            self.redundant = []

    def make_room(self) -> None:
        """Forget the calls that were used longest ago; one by one the first would have to be looked for each time."""
        for old in list(islice(self.calls, self.window)):
            del self.calls[old]

    def new_tool(self, name: str) -> ToolState:
        """A record of the tool called *name*; the one that was made longest ago makes room."""
        made = self.tools[name] = ToolState(name)
        if len(self.tools) > self.window:
            del self.tools[next(iter(self.tools))]
        return made

    @property
    def fruitless(self) -> int:
        """Rounds in a row in which nothing was found; three that name another thing each count as one."""
        sweep = self.sweep
        return self.empty - 2 * (sweep.named + sweep.names_others) // 3 if sweep is not None else self.empty

    def signs(self) -> int:
        """What the latest round may be a sign of, whichever tools it used."""
        signs = EMPTY if self.empty > 1 else 0
        if self.failed > 1:
            signs |= CASCADE
        if len(self.redundant) > 1:
            signs |= GROUND
        return signs | WINDOW if self.window_calls is not None and self.window_calls.busy else signs

    def end_talk(self) -> None:
        """The agent acted."""
        self.text_count = self.silent = self.talk_count = 0
        self.talk.clear()

    def consume(self, keys: tuple[int, ...]) -> None:
        """Count what formed a reported loop no more."""
        if self.window_calls is not None:
            self.window_calls.consume(keys)
        if self.text in keys:
            self.text_count = 0

    def dump(self) -> dict[str, Any]:
        """The trail as JSON values."""
        return {
            "agent": self.agent,
            "calls": [(state if isinstance(state, CallState) else CallState(state)).row() for state in self.calls.values()],
            "tools": [state.row() for state in self.tools.values()],
            "cycles": self.cycles.dump(),
            "window": self.window_calls.dump() if self.window_calls is not None else None,
            "round": self.round.row() if self.round else None,
            "recent": list(self.recent),
            "talk": sorted(self.talk),
            "sweep": self.sweep.row() if self.sweep is not None else None,
            "ground": self.ground.dump(),
            "plain": [getattr(self, name) for name in self._PLAIN],
        }

    @classmethod
    def load(cls, saved: dict[str, Any], window: int, span: Span) -> Trail:
        """The trail that was dumped."""
        trail = cls(saved["agent"], window, span)
        if span.calls and saved["window"] is not None:
            trail.window_calls = CallWindow.load(saved["window"], span)
        for row in saved["calls"]:
            state = CallState.from_row(row)
            trail.calls[state.key] = state
        for row in saved["tools"]:
            tool = ToolState.from_row(row)
            trail.tools[tool.tool] = tool
        trail.cycles = Cycles.load(saved["cycles"], window)
        trail.round = Round.from_row(saved["round"]) if saved["round"] else None
        trail.recent.extend(saved["recent"])
        trail.talk = set(saved["talk"])
        trail.sweep = Sweep.from_row(saved["sweep"]) if saved["sweep"] is not None else None
        trail.ground = Ground.load(saved["ground"])
        for name, value in zip(cls._PLAIN, saved["plain"], strict=True):
            setattr(trail, name, value)
        return trail
