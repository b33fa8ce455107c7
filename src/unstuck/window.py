"""The last calls of an agent, as the published rules look at them: no masking, no notion of what a call changes."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple


class Span(NamedTuple):
    """How many calls rules look back on, 0 where no rule does, and how many of them must be equal before any rule can apply."""

    calls: int
    least: int = 2


NO_SPAN = Span(0)


class Made:
    """
    One call in the window; `result` is the digest of outcome and content, `None` while there is none.

    `settled` numbers the results in the order in which they came; `nothing` says that the result was no value at all.
    """

    result: int | None = None
    outcome: str | None = None
    settled = 0
    nothing = False

    def __init__(self, key: int, call: int, message: int, tool: str) -> None:
        self.key, self.call, self.message, self.tool = key, call, message, tool


def _row(made: Made) -> list[Any]:
    return [made.key, made.call, made.message, made.tool, made.result, made.outcome, made.settled, made.nothing]


def _made(row: list[Any]) -> Made:
    made = Made(*row[:4])
    made.result, made.outcome, made.settled, made.nothing = row[4:]
    return made


class CallWindow:
    """
    The last calls, as many as *span* says, in the order in which they were made.

    *busy* counts how many of them have so many equal ones before them that they make up `span.least`: where it is 0 no rule
    can apply.
    """

    def __init__(self, span: Span) -> None:
        self.span = span
        self.most, self.least = span
        self.made: deque[Made] = deque()
        self.counts: dict[int, int] = {}
        self.busy = 0
        self.settled = 0
        # In the order in which their results came. One that succeeded before twice as many others is no longer among the last.
        self._succeeded: deque[Made] = deque(maxlen=2 * self.most)

    def add(self, key: int, call: int, message: int, tool: str) -> None:
        """A call was made."""
        self.take(Made(key, call, message, tool))

    def take(self, entry: Made) -> None:
        """Take up the record of a call."""
        made, counts, key = self.made, self.counts, entry.key
        if len(made) == self.most:
            oldest = made.popleft().key
            left = counts[oldest] - 1
            if left:
                counts[oldest] = left
                if left >= self.least - 1:
                    self.busy -= 1
            else:
                del counts[oldest]
        made.append(entry)
        if key in counts:
            count = counts[key] = counts[key] + 1
            if count >= self.least:
                self.busy += 1
        else:
            counts[key] = 1

    def settle(self, call: int, result: int, outcome: str, nothing: bool) -> None:
        """A call's result arrived."""
        self.settled += 1
        for made in reversed(self.made):
            if made.call == call:
                made.result, made.outcome, made.settled, made.nothing = result, outcome, self.settled, nothing
                if outcome == "ok":
                    self._succeeded.append(made)
                return

    def succeeded(self, span: int) -> list[Made]:
        """Those of the newest *span* calls that succeeded, in the order in which their results came."""
        made = self.made
        if not made:
            return []
        first = made[-min(span, len(made))].call
        return [entry for entry in self._succeeded if entry.call >= first]

    def last(self, span: int) -> list[Made]:
        """The newest *span* calls, oldest first."""
        made = self.made
        return list(made) if span >= len(made) else [made[index] for index in range(len(made) - span, len(made))]

    def consume(self, keys: tuple[int, ...]) -> None:
        """Forget the calls that formed a reported loop."""
        kept = [entry for entry in self.made if entry.key not in keys]
        self.made.clear()
        self.counts.clear()
        self._succeeded.clear()
        self.busy = 0
        for entry in kept:
            self.take(entry)
        self._order()

    def _order(self) -> None:
        self._succeeded.extend(sorted((one for one in self.made if one.outcome == "ok"), key=lambda one: one.settled))

    def dump(self) -> list[Any]:
        """The window as JSON values."""
        return [self.settled, *(_row(entry) for entry in self.made)]

    @classmethod
    def load(cls, saved: list[Any], span: Span) -> CallWindow:
        """The window that was dumped."""
        window = cls(span)
        for row in saved[1:]:
            window.take(_made(row))
        window.settled = saved[0]
        window._order()
        return window
