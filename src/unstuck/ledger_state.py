"""What a ledger keeps, and how it is saved: digests and counters, bounded by the window."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from unstuck.ceiling import Ceiling, Tally
from unstuck.delegations import Delegations, is_task
from unstuck.intervals import Intervals
from unstuck.reading import Reading
from unstuck.spent import Price, Spent
from unstuck.states import Pending
from unstuck.swings import Swings
from unstuck.trail import Trail
from unstuck.window import Span


class LedgerState:
    """Everything that is kept of one run; how events change it stands in `unstuck.ledger`."""

    MOST_AGENTS = 32

    def __init__(
        self,
        reading: Reading,
        needs: frozenset[str],
        span: Span,
        price: Price | None = None,
        always: frozenset[str] = frozenset(),
    ) -> None:
        self.reading = reading
        self.span = span
        self.window = reading.window
        self.follows_calls = bool(needs & {"calls", "tools", "cycles"})
        self.follows_tools = "tools" in needs
        self.follows_cycles = "cycles" in needs
        self.follows_texts = "texts" in needs
        added = reading.kinds.words
        self._volatile = added.volatile_fields
        self._beside = added.remark_fields | added.limit_fields
        self.empty_words = added.empty
        self._exempt = bool(reading.exempt)
        self._identity = bool(reading.identity)
        self._most_open = 4 * reading.window
        self.swings = Swings(reading.window) if "tools" in needs else None
        self.delegations = Delegations(reading.window) if "delegations" in needs else None
        self.intervals = Intervals() if "intervals" in needs else None
        self.spent = Spent(price) if "spent" in needs else None
        self.calls = 0
        self.messages = 0
        self.epoch = 1  # how often the world was changed
        self.stirred = 0  # how often something was done that may have changed it
        self.compaction = 0
        self.trails: OrderedDict[str, Trail] = OrderedDict()
        self.open: dict[str, Pending] = {}
        self._kinds: dict[str, str] = {}  # of tools whose name alone tells it
        self.always = always  # moments at which some detector is asked even where nothing repeats
        self._may_be_fresh = (
            self.follows_tools
            and self.follows_cycles
            and not (self._volatile or span.calls or "spent" in needs or always & {"result", "round"})
        )
        self.responses: OrderedDict[int, int] = OrderedDict()
        self.written: OrderedDict[int, None] = OrderedDict()
        self.spoke = False  # whether responses come as events of their own
        self.skipped = 0  # results that belong to no open call
        self.ceiling: Ceiling | None = None
        self.over: Tally | None = None  # the exchange that reached the ceiling just now

    def dump(self) -> dict[str, Any]:
        """The evidence as JSON values: digests and counters only."""
        return {
            "counts": [self.calls, self.messages, self.epoch, self.compaction, self.spoke, self.skipped, self.stirred],
            "trails": [trail.dump() for trail in self.trails.values()],
            "open": [[name, pending.row()] for name, pending in self.open.items()],
            "responses": list(self.responses.items()),
            "written": list(self.written),
            "swings": self.swings.dump() if self.swings is not None else None,
            "delegations": self.delegations.dump() if self.delegations is not None else None,
            "intervals": self.intervals.row() if self.intervals is not None else None,
            "ceiling": self.ceiling.dump() if self.ceiling is not None else None,
            "spent": self.spent.dump() if self.spent is not None else None,
        }

    def load(self, saved: dict[str, Any], ceiling: int) -> None:
        """Take up what was dumped."""
        counts = saved["counts"]
        self.calls, self.messages, self.epoch, self.compaction, self.spoke, self.skipped, self.stirred = counts
        for row in saved["trails"]:
            trail = Trail.load(row, self.reading.window, self.span)
            self.trails[trail.agent] = trail
        self.open.update((name, Pending.from_row(row)) for name, row in saved["open"])
        self.responses.update(saved["responses"])
        self.written.update((key, None) for key in saved["written"])
        if self.swings is not None and saved["swings"] is not None:
            self.swings.load(saved["swings"])
        if self.delegations is not None and saved["delegations"] is not None:
            self.delegations = Delegations.load(saved["delegations"], self.reading.window)
        if self.intervals is not None and saved["intervals"] is not None:
            self.intervals = Intervals.from_row(saved["intervals"])
        if saved["ceiling"] is not None:
            self.ceiling = Ceiling.load(saved["ceiling"], ceiling, self.reading.window)
        if self.spent is not None and saved.get("spent") is not None:
            self.spent = Spent.load(saved["spent"], self.spent.price)
            for trail in self.trails.values():
                trail.spent = self.spent

    def trail(self, agent: str) -> Trail:
        """The trail of *agent*, made where there is none; the agent that was silent longest makes room."""
        trail = self.trails.get(agent)
        if trail is None:
            trail = self.trails[agent] = Trail(agent, self.reading.window, self.span)
            trail.spent = self.spent
            if len(self.trails) > self.MOST_AGENTS:
                self.trails.popitem(last=False)
        return trail

    def brings_news(self, pending: Pending, raw: int, text: str) -> bool:
        """Whether no agent made this call before with this outcome."""
        key = pending.key
        if pending.kind == "write" and key in self.written:
            return False
        return all((state := trail.known(key)) is None or not state.says(raw, text) for trail in self.trails.values())

    def worked_since(self, pending: Pending) -> bool:
        """Whether somebody worked since a conversation was handed over in this way; of a task with words of its own never."""
        deep = self.delegations
        return deep is not None and not is_task(pending) and not deep.knows(pending)

    def note_write(self, key: int) -> None:
        """Something was done for the first time that changes the world, or may."""
        self.written[key] = None
        if len(self.written) > 4 * self.reading.window:
            del self.written[next(iter(self.written))]

    def _remember_response(self, number: int, ordinal: int) -> None:
        self.responses[number] = ordinal
        if len(self.responses) > self.reading.window:
            self.responses.popitem(last=False)

    def _open(self, name: str, pending: Pending) -> None:
        if name in self.open:
            del self.open[name]
        self.open[name] = pending
        if len(self.open) > 4 * self.reading.window:
            del self.open[next(iter(self.open))]
