"""Ladders: at how many repeats a loop is nudged, blocked, stopped."""

from __future__ import annotations

from typing import Any, NamedTuple

from unstuck.errors import SettingsError
from unstuck.findings import Level

_CONTINUE, _NUDGE, _BLOCK, _STOP = Level.CONTINUE, Level.NUDGE, Level.BLOCK, Level.STOP  # reading a member costs 30 times this


class _Rungs(NamedTuple):
    nudge: int | None
    block: int | None
    stop: int | None


class Ladder(_Rungs):
    """
    The repeats at which each rung is reached; `None` leaves a rung out.

    Args: *nudge*, *block*, *stop*: counts of at least 2, each above the one before. Raises `SettingsError` where a rung is no
    such number or could never be reached because a later one comes first.
    """

    __slots__ = ()

    def __new__(cls, nudge: int | None = None, block: int | None = None, stop: int | None = None) -> Ladder:
        rungs = (("nudge", nudge), ("block", block), ("stop", stop))
        highest: tuple[str, int] | None = None
        for name, value in rungs:
            if value is None:
                continue
            check_count(name, value, least=2)
            if highest is not None and value <= highest[1]:
                way_out = f"make {name} larger than {highest[0]}={highest[1]}, or None to leave it out"
                raise SettingsError(
                    name, value, f"{highest[0]} comes at {highest[1]} and this rung would come no later", way_out
                )
            highest = (name, value)
        if highest is None:
            raise SettingsError(
                "ladder", None, "no rung is left, so nothing would ever happen", "leave the detector out instead"
            )
        return super().__new__(cls, nudge, block, stop)

    @property
    def first(self) -> int:
        """The lowest rung's count."""
        return next(rung for rung in self if rung is not None)

    @property
    def next_to_nudge(self) -> int | None:
        """The count of the lowest rung that holds a run up, `None` where there is none."""
        return self.stop if self.block is None else self.block

    def level(self, repeats: int) -> Level:
        """The highest level that *repeats* reach."""
        nudge, block, stop = self
        if stop is not None and repeats >= stop:
            return _STOP
        if block is not None and repeats >= block:
            return _BLOCK
        if nudge is not None and repeats >= nudge:
            return _NUDGE
        return _CONTINUE

    def halved(self) -> Ladder:
        """The same ladder with half the counts, rounded up, each still above the one before."""
        rungs: list[int | None] = []
        highest = 1
        for rung in self:
            if rung is not None:
                highest = max(highest + 1, (rung + 1) // 2)
            rungs.append(None if rung is None else highest)
        return Ladder(*rungs)

    def doubled(self) -> Ladder:
        """The same ladder with twice the counts."""
        return Ladder(*(None if rung is None else 2 * rung for rung in self))


def check_count(field: str, value: Any, least: int, most: int | None = None) -> int:
    """*value* if it is a whole number from *least* to *most*; raises `SettingsError` otherwise, for booleans too."""
    off = ", or None to switch it off" if most is None else ""  # what has an upper bound cannot be off
    if type(value) is not int:
        raise SettingsError(field, value, "a whole number is needed", f"give a whole number{off}")
    if value < least:
        raise SettingsError(field, value, f"the least that can work is {least}", f"give {least} or more{off}")
    if most is not None and value > most:
        raise SettingsError(field, value, f"the most that is allowed is {most}", f"give {most} or less")
    return value
