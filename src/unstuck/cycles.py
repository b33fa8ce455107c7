"""
Cycles of any period in a sequence of symbols, in amortised constant time per symbol.

A period is followed only from where one of its symbols recurs, and is dropped at the first symbol that breaks it, so the periods
followed at any time are few (two long runs with different periods cannot overlap for long: Fine and Wilf, 1965). A lap may hold a
symbol several times, so of a symbol that recurs the latest few places are tried.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

Part: TypeAlias = tuple[int, int, str]
"""One exchange of a round: its symbol, the fingerprint of its call, its tool."""


class Step(NamedTuple):
    """One round in the sequence: its symbol, where its last call stands, its response, what it is made of, whether it waits."""

    symbol: int
    call: int
    message: int
    parts: Sequence[Part]
    waits: int

    @property
    def symbols(self) -> tuple[int, ...]:
        """The different symbols that it is made of."""
        return self._column(0)

    @property
    def keys(self) -> tuple[int, ...]:
        """The different calls that it is made of."""
        return self._column(1)

    @property
    def tools(self) -> tuple[str, ...]:
        """The different tools that it used."""
        return self._column(2)

    def _column(self, index: int) -> tuple[Any, ...]:
        parts = self.parts
        return (parts[0][index],) if len(parts) == 1 else tuple(sorted({part[index] for part in parts}))


WAITS, WAITS_LONG = 1, 2
"""That a round waits; that a minute and more passed before or in it."""


def is_one_call(lap: Sequence[Step]) -> bool:
    """Whether a lap is one call that waits or steps, with several answers: a program that is stepped through goes round itself."""
    return len(lap) > 1 and lap[0].waits > 0 and len({key for step in lap for key in step.keys}) == 1


def weighed(laps: int, steps: Sequence[Step]) -> int:
    """The *laps* that count where one lap is *steps*: half where something waits, a quarter of `is_one_call`, a tenth of long waits."""
    waits = max(step.waits for step in steps)
    if not waits:
        return laps
    if waits == WAITS_LONG:
        return 1 + (laps - 1) // 10
    return (laps + 3) // 4 if is_one_call(steps) else (laps + 1) // 2


class Cycles:
    """
    The latest *window* rounds and the periods that hold up to the newest one.

    *turning* tells whether several calls repeat: the rounds of a period above 1, or those of one round.
    """

    MOST_PERIODS = 16
    MOST_PLACES = 4
    """Places where a symbol stood that are tried when it recurs."""
    turning = False

    def __init__(self, window: int) -> None:
        self.window = window
        self.steps: deque[Step] = deque(maxlen=window)
        self.total = 0
        self.most = 4 * window
        self.seen: dict[
            int, int
        ] = {}  # symbol -> its latest position, counted from the run's first round; old ones go at times
        self._gaps: deque[int] = deque(maxlen=window)  # how far before each step its symbol stood last, 0 for not
        self.matched: dict[int, int] = {}  # period -> how many of the newest symbols equal the one a period earlier
        self.best = (0, 0)

    def add(self, step: Step) -> None:
        """Take up one round."""
        steps, position, symbol, seen = self.steps, self.total, step[0], self.seen
        before = seen.get(symbol)
        if before is None or before + self.window <= position:
            self.add_new(step)
            return
        seen[symbol] = position
        self.total = position + 1
        if len(self.matched) == 1 and self._goes_on(step, position - before):
            return
        kept = {}
        for period, length in self.matched.items():
            if period <= len(steps) and steps[-period][0] == symbol:
                kept[period] = length + 1
        steps.append(step)
        self._gaps.append(position - before)
        self._try_places(kept)
        self.matched = kept
        self._weigh()

    def add_new(self, step: Step) -> None:
        """Take up a round that is none of the latest ones."""
        position, seen = self.total, self.seen
        seen[step[0]] = position
        if len(seen) > self.most:
            self._forget(position)
        self.total = position + 1
        self.steps.append(step)
        self._gaps.append(0)
        if self.matched:
            self.matched, self.best, self.turning = {}, (0, 0), False

    def _forget(self, position: int) -> None:
        """Drop the symbols of rounds that are no longer among the latest ones."""
        self.seen = {symbol: place for symbol, place in self.seen.items() if place + self.window > position}

    def _goes_on(self, step: Step, gap: int) -> bool:
        """Whether the one period that is followed goes on, and no other can begin: the places to try are its multiples."""
        ((period, length),) = self.matched.items()
        if period != gap or length + 1 < self.MOST_PLACES * period:
            return False
        self.steps.append(step)
        self._gaps.append(gap)
        self.matched[period] = length = length + 1
        self.best = period, length
        return True

    def _try_places(self, kept: dict[int, int]) -> None:
        """Begin to follow the periods at which the newest symbol stood before, multiples of what is followed left out."""
        gaps = self._gaps
        shortest = gaps[-1]
        laps = kept.get(shortest, 0)
        tried = laps // shortest  # the places within those laps
        period = tried * shortest
        for _ in range(self.MOST_PLACES - tried):
            gap = gaps[-1 - period] if period < len(gaps) else 0
            period += gap
            if not gap or period > self.window // 2 or len(kept) >= self.MOST_PERIODS:
                return
            if period not in kept:
                kept[period] = self._length(period)

    def _length(self, period: int) -> int:
        """How many of the newest symbols equal the one a period earlier, looking back one period."""
        steps, length = self.steps, 1
        while length < period and length + period < len(steps) and steps[-1 - length][0] == steps[-1 - length - period][0]:
            length += 1
        return length

    def current(self) -> tuple[int, int]:
        """The period with the most laps now and the symbols matched in it; `(0, 0)` where nothing repeats."""
        return self.best

    def _weigh(self) -> None:
        best, laps = 0, 0
        for period, length in self.matched.items():
            if best == 0 or length * best > laps * period:
                best, laps = period, length
        self.best = (best, laps)
        self.turning = best > 1 or (best == 1 and len(self.steps[-1].parts) > 1)

    def dump(self) -> dict[str, Any]:
        """The state as JSON values."""
        return {"steps": [list(step) for step in self.steps], "total": self.total, "matched": list(self.matched.items())}

    @classmethod
    def load(cls, saved: dict[str, Any], window: int) -> Cycles:
        """The state that was dumped."""
        made = cls(window)
        made.total = saved["total"]
        for symbol, call, message, parts, waits in saved["steps"]:
            taken = [(part, key, tool) for part, key, tool in parts]
            made.steps.append(Step(symbol, call, message, taken, waits))
        start = made.total - len(made.steps)
        for index, step in enumerate(made.steps, start):
            made._gaps.append(index - made.seen.get(step.symbol, index))
            made.seen[step.symbol] = index
        made.matched = dict(saved["matched"])
        made._weigh()
        return made
