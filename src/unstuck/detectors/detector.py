"""What a detector is, and what it reports."""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Self

from unstuck.aims import firm
from unstuck.errors import SettingsError
from unstuck.findings import Level, Unit
from unstuck.ladder import Ladder
from unstuck.signs import ANY
from unstuck.states import CallState
from unstuck.trail import Trail
from unstuck.view import View


class Evidence(NamedTuple):
    """
    One pattern as it stands now, from its lowest rung on.

    *anchors* identify the loop: evidence that shares one belongs to the same loop. *streak* identifies the unbroken stretch.
    *repeats* counts *unit*s in that stretch. Calls after *first_lap* by one of *keys* (or, without keys, of *tools*) are
    repeats. *error* is for the model only.
    """

    pattern: str
    anchors: tuple[int, ...]
    streak: int
    repeats: int
    ladder: Ladder
    tools: tuple[str, ...] = ()
    keys: tuple[int, ...] = ()
    first_call: int | None = None
    first_lap: int = 0
    unit: Unit = "calls"
    period: int = 1
    agent: str | None = None
    error: str | None = None

    @property
    def strand(self) -> str:
        """What its streak is a streak of: the pattern, and the call where it is about one; a loop may hold several."""
        keys = self.keys
        return _strand(self.pattern, keys[0]) if len(keys) == 1 else self.pattern


@lru_cache(maxsize=256)
def _strand(pattern: str, key: int) -> str:
    return f"{pattern} {key}"


class Detector:
    """
    Finds one pattern: a frozen value with thresholds, which looks at what an event showed.

    A subclass names its *pattern*, the *moments* at which it wants to be asked (`call`: before a call runs; `result`: an
    exchange is complete; `round`: a response's calls are; `message`: a response's text), a default *rungs* ladder, and what of
    the ledger it *needs*: `calls`, `tools`, `cycles`, `window`, `texts` (what nobody needs is not followed).
    """

    pattern: ClassVar[str]
    moments: ClassVar[frozenset[str]]
    rungs: ClassVar[Ladder]
    needs: ClassVar[frozenset[str]] = frozenset(("calls", "tools", "cycles"))
    signs: ClassVar[int] = ANY
    """The signs of `unstuck.signs` of which one must have been seen; by default the detector is asked every time."""
    strongest: ClassVar[Level] = Level.STOP
    """The strongest intervention that the pattern can justify."""
    most: ClassVar[int | None] = None
    """The highest count that its evidence can come to, `None` where there is no such bound."""
    __slots__ = ("ladder", "least")
    least: int
    ladder: Ladder

    def __init__(self, ladder: Ladder | None = None) -> None:
        if ladder is not None and not isinstance(ladder, Ladder):
            raise SettingsError(
                f"{self.pattern}.ladder", ladder, "a Ladder is needed", "write Ladder(nudge=..., block=..., stop=...)"
            )
        self._check(ladder or self.rungs)
        object.__setattr__(self, "ladder", ladder or self.rungs)
        object.__setattr__(self, "least", self.ladder.first)

    def with_ladder(self, ladder: Ladder) -> Self:
        """The same detector with another ladder; raises `SettingsError` for a rung that it can never reach."""
        self._check(ladder)
        made = copy(self)
        object.__setattr__(made, "ladder", ladder)
        object.__setattr__(made, "least", ladder.first)
        return made

    def _check(self, ladder: Ladder) -> None:
        if ladder.block is not None and not self.moments & {"call", "text"}:
            problem = "this pattern shows when its calls have run, so nothing is left to block"
            raise SettingsError(f"{self.pattern}.block", ladder.block, problem, "leave it out, or give a nudge or a stop")
        if ladder.stop is not None and self.strongest < Level.STOP:
            problem = "honest work can look like this, so it is never stopped"
            raise SettingsError(f"{self.pattern}.stop", ladder.stop, problem, "leave it out")
        for name, rung in ladder._asdict().items():
            if rung is not None and self.most is not None and rung > self.most:
                problem = f"the count never goes beyond {self.most}"
                way_out = f"give {self.most} or less, or None to leave it out"
                raise SettingsError(f"{self.pattern}.{name}", rung, problem, way_out)

    def look(self, view: View) -> Evidence | None:
        """The pattern as it stands after the event behind *view*, `None` below the lowest rung."""
        raise NotImplementedError

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: make a new one instead of setting {name}")

    def __setstate__(self, state: Any) -> None:
        plain, slots = state if isinstance(state, tuple) else (state, None)
        for name, value in {**(plain or {}), **(slots or {})}.items():
            object.__setattr__(self, name, value)

    def _fields(self) -> tuple[Any, ...]:
        return (self.ladder,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Detector) and type(other) is type(self) and other._fields() == self._fields()

    def __hash__(self) -> int:
        return hash((type(self), self._fields()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.ladder!r})"


def lap_anchors(trail: Trail, symbol: int) -> tuple[int, ...]:
    """*symbol*, and with it the symbols of the cycle it stands in where two laps of one are complete."""
    if not trail.cycles.turning:
        return (symbol,)
    period, matched = trail.cycles.current()
    if period < 2 or matched < period:
        return (symbol,)
    steps = trail.cycles.steps
    found = {symbol}
    for index in range(1, period + 1):
        found.update(steps[-index].symbols)
    return tuple(found) if len(found) <= 32 else (symbol,)


def firm_repeats(view: View, state: CallState, ladder: Ladder) -> int:
    """
    The repeats of a call that its ladder goes by.

    Where something new was done before a repeat and it is not known what it changed, looking again may be right: such repeats
    lead to a nudge and no further.
    """
    repeats, excused = state.same + state.asked + view.ahead, state.excused
    pending = view.pending
    if pending is not None and pending.excused and view.ahead:
        excused += 1
    return firm(repeats, excused, ladder.next_to_nudge)
