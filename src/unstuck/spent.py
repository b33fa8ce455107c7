"""What a run and a person's turn have used up: the evidence of the budgets, followed only where one is set."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Self, TypeAlias

from unstuck.events import Message, Usage
from unstuck.fingerprint import text_digest
from unstuck.records import Row
from unstuck.volatile import mask

Price: TypeAlias = Callable[[str | None, Usage], float | None]
"""What one response costs, from its model's name and its tokens; `None` where the price is unknown. Must be pure."""


class ToolTally(Row):
    """One tool in one turn: how many of its calls brought nothing that the same call had not brought before."""

    FIELDS = ("asked", "first", "outcomes", "repeats")

    def __init__(self, first: int) -> None:
        self.first = first
        self.repeats = self.asked = 0
        self.outcomes: OrderedDict[int, list[int | None]] = OrderedDict()  # call: digest of its outcome, and masked

    MOST_CALLS = 256

    def count(self, key: int, raw: int, text: str) -> None:
        """Take up one exchange; the outcome is masked from the second of a call on."""
        before = self.outcomes.pop(key, None)
        now: list[int | None] = [raw, None]
        if before is not None:
            same = before[0] == raw
            now[1] = before[1] if same else text_digest(mask(text))
            self.repeats += same or now[1] == before[1]
        self.outcomes[key] = now
        if len(self.outcomes) > self.MOST_CALLS:
            self.outcomes.popitem(last=False)

    def row(self) -> list[Any]:
        saved = super().row()
        saved[self.FIELDS.index("outcomes")] = [[key, *outcome] for key, outcome in self.outcomes.items()]
        return saved

    @classmethod
    def from_row(cls, row: list[Any]) -> Self:
        """See `Row.from_row`."""
        made = super().from_row(row)
        rows: Any = made.outcomes
        made.outcomes = OrderedDict((key, [raw, masked]) for key, raw, masked in rows)
        return made


class Spent:
    """
    Calls, tokens, money and time of a run, and the tallies of the tools in the present turn.

    Money is added up response by response with *price*; a price that is missing or raises leaves the response out and counts
    it in `unpriced`.
    """

    MOST_TOOLS = 64

    def __init__(self, price: Price | None = None) -> None:
        self.price = price
        self.calls = self.tokens = self.unpriced = self.asked = 0
        self.money = 0.0
        self.began: float | None = None
        self.latest: float | None = None
        self.turn: OrderedDict[tuple[str, str], ToolTally] = OrderedDict()

    @property
    def minutes(self) -> float:
        """Minutes between the earliest and the latest event that said its time."""
        return 0.0 if self.began is None or self.latest is None else (self.latest - self.began) / 60

    def at(self, time: float | None) -> None:
        """An event said its time."""
        if time is None or time != time:  # noqa: PLR0124 - NaN is no time
            return
        self.began = time if self.began is None else min(self.began, time)
        self.latest = time if self.latest is None else max(self.latest, time)

    def respond(self, event: Message) -> None:
        """A response: its tokens and what they cost."""
        self.at(event.time)
        if event.usage is None:
            return
        self.tokens += event.usage.total
        if self.price is None:
            return
        try:
            cost = self.price(event.model, event.usage)
        except Exception:
            cost = None
        if cost is None:
            self.unpriced += 1
        else:
            self.money += cost

    def call(self, agent: str, tool: str, number: int, time: float | None) -> None:
        """A call of the model is about to run."""
        self.at(time)
        self.calls += 1
        if (agent, tool) not in self.turn:
            self.turn[agent, tool] = ToolTally(number)
            if len(self.turn) > self.MOST_TOOLS:
                self.turn.popitem(last=False)

    def tally(self, agent: str, tool: str) -> ToolTally | None:
        """The tally of a tool in this turn."""
        return self.turn.get((agent, tool))

    def refuse(self, agent: str, tool: str) -> None:
        """The call did not run: it spent nothing, and asking was no advance."""
        self.calls -= 1
        self.asked += 1
        tally = self.tally(agent, tool)
        if tally is not None:
            tally.asked += 1

    def new_turn(self) -> None:
        """A person speaks: the tallies begin anew, what the run has spent stays."""
        self.turn.clear()
        self.asked = 0

    def dump(self) -> dict[str, Any]:
        """The figures as JSON values."""
        figures = [self.calls, self.tokens, self.unpriced, self.asked, self.money, self.began, self.latest]
        return {"figures": figures, "turn": [[agent, tool, tally.row()] for (agent, tool), tally in self.turn.items()]}

    @classmethod
    def load(cls, saved: dict[str, Any], price: Price | None) -> Spent:
        """The figures that were dumped."""
        made = cls(price)
        made.calls, made.tokens, made.unpriced, made.asked, made.money, made.began, made.latest = saved["figures"]
        for agent, tool, row in saved["turn"]:
            made.turn[agent, tool] = ToolTally.from_row(row)
        return made
