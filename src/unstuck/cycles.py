"""
Cycles of any period in a sequence of symbols, in amortised constant time per symbol.

A period is followed only from where one of its symbols recurs, and is dropped at the first symbol that breaks it, so the periods
followed at any time are few (two long runs with different periods cannot overlap for long: Fine and Wilf, 1965). A lap may hold a
symbol several times, so of a symbol that recurs the latest few places are tried.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple


class Step(NamedTuple):
    """One round in the sequence: its symbol, where its last call stands, what it is made of, whether it waits."""

    symbol: int
    call: int
    message: int
    symbols: tuple[int, ...]
    keys: tuple[int, ...]
    tools: tuple[str, ...]
    waits: bool


class Cycles:
    """The latest *window* rounds and the periods that hold up to the newest one."""

    MOST_PERIODS = 16
    MOST_PLACES = 4
    """Places where a symbol stood that are tried when it recurs."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.steps: deque[Step] = deque(maxlen=window)
        self.total = 0
        self._seen: dict[int, int] = {}  # symbol -> its latest position, counted from the run's first round
        self._gaps: deque[int] = deque(maxlen=window)  # how far before each step its symbol stood last, 0 for not
        self.matched: dict[int, int] = {}  # period -> how many of the newest symbols equal the one a period earlier
        self.best = (0, 0)

    def add(self, step: Step) -> None:
        """Take up one round."""
        steps, position, symbol = self.steps, self.total, step.symbol
        if len(steps) == self.window and self._seen.get(steps[0].symbol) == position - self.window:
            del self._seen[steps[0].symbol]
        before = self._seen.get(symbol)
        self._seen[symbol] = position
        self.total += 1
        kept = {}
        if self.matched:
            for period, length in self.matched.items():
                if period <= len(steps) and steps[-period].symbol == symbol:
                    kept[period] = length + 1
        steps.append(step)
        self._gaps.append(0 if before is None else position - before)
        if before is not None:
            self._try_places(kept)
        self.matched = kept
        self.best = self._best() if kept else (0, 0)

    def _try_places(self, kept: dict[int, int]) -> None:
        """Begin to follow the periods at which the newest symbol stood before."""
        gaps, period = self._gaps, 0
        for _ in range(self.MOST_PLACES):
            gap = gaps[-1 - period] if period < len(gaps) else 0
            period += gap
            if not gap or period > self.window // 2 or len(kept) >= self.MOST_PERIODS:
                return
            if period not in kept:
                kept[period] = self._length(period)

    def _length(self, period: int) -> int:
        """How many of the newest symbols equal the one a period earlier, looking back one period."""
        steps, length = self.steps, 1
        while (
            length < period and length + period < len(steps) and steps[-1 - length].symbol == steps[-1 - length - period].symbol
        ):
            length += 1
        return length

    def current(self) -> tuple[int, int]:
        """The period with the most laps now and the symbols matched in it; `(0, 0)` where nothing repeats."""
        return self.best

    def _best(self) -> tuple[int, int]:
        best = (0, 0)
        for period, length in self.matched.items():
            if best[0] == 0 or length * best[0] > best[1] * period:
                best = (period, length)
        return best

    def dump(self) -> dict[str, Any]:
        """The state as JSON values."""
        return {"steps": [list(step) for step in self.steps], "total": self.total, "matched": list(self.matched.items())}

    @classmethod
    def load(cls, saved: dict[str, Any], window: int) -> Cycles:
        """The state that was dumped."""
        made = cls(window)
        made.total = saved["total"]
        for symbol, call, message, symbols, keys, tools, waits in saved["steps"]:
            made.steps.append(Step(symbol, call, message, tuple(symbols), tuple(keys), tuple(tools), waits))
        start = made.total - len(made.steps)
        for index, step in enumerate(made.steps, start):
            made._gaps.append(index - made._seen.get(step.symbol, index))
            made._seen[step.symbol] = index
        made.matched = dict(saved["matched"])
        made.best = made._best()
        return made
