"""The last calls of an agent, as the published rules look at them: no masking, no notion of what a call changes."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple


class Made(NamedTuple):
    """
    One call in the window; `result` is the digest of outcome and content, `None` while there is none.

    `settled` numbers the results in the order in which they came; `nothing` says that the result was no value at all.
    """

    key: int
    call: int
    message: int
    tool: str
    result: int | None = None
    outcome: str | None = None
    settled: int = 0
    nothing: bool = False


class CallWindow:
    """
    The last *span* calls in the order in which they were made.

    *busy* counts how many of them have an equal one before them: where it is 0 no rule can apply.
    """

    def __init__(self, span: int) -> None:
        self.span = span
        self.made: deque[Made] = deque()
        self.counts: dict[int, int] = {}
        self.busy = 0
        self.settled = 0

    def add(self, key: int, call: int, message: int, tool: str) -> None:
        """A call was made."""
        if len(self.made) == self.span:
            self._drop(self.made.popleft().key)
        self.made.append(Made(key, call, message, tool))
        count = self.counts[key] = self.counts.get(key, 0) + 1
        self.busy += count > 1

    def _drop(self, key: int) -> None:
        count = self.counts[key] - 1
        self.busy -= count >= 1
        if count:
            self.counts[key] = count
        else:
            del self.counts[key]

    def settle(self, call: int, result: int, outcome: str, nothing: bool) -> None:
        """A call's result arrived."""
        made = self.made
        self.settled += 1
        for index in range(len(made) - 1, -1, -1):
            if made[index].call == call:
                key, _, message, tool, *_ = made[index]
                made[index] = Made(key, call, message, tool, result, outcome, self.settled, nothing)
                return

    def last(self, span: int) -> list[Made]:
        """The newest *span* calls, oldest first."""
        made = self.made
        return list(made) if span >= len(made) else [made[index] for index in range(len(made) - span, len(made))]

    def consume(self, keys: tuple[int, ...]) -> None:
        """Forget the calls that formed a reported loop."""
        kept = [entry for entry in self.made if entry.key not in keys]
        self.made, self.counts, self.busy = deque(), {}, 0
        for entry in kept:
            self.add(entry.key, entry.call, entry.message, entry.tool)
            self.made[-1] = entry

    def dump(self) -> list[Any]:
        """The window as JSON values."""
        return [self.settled, *(list(entry) for entry in self.made)]

    @classmethod
    def load(cls, saved: list[Any], span: int) -> CallWindow:
        """The window that was dumped."""
        window = cls(span)
        for row in saved[1:]:
            entry = Made(*row)
            window.add(entry.key, entry.call, entry.message, entry.tool)
            window.made[-1] = entry
        window.settled = saved[0]
        return window
