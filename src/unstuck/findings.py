"""What detectors report and what the policy makes of it."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal, NamedTuple, TypeAlias


class Level(IntEnum):
    """How far an intervention goes; the order is the order of severity."""

    CONTINUE = 0
    OBSERVE = 1
    NUDGE = 2
    BLOCK = 3
    STOP = 4

    @property
    def label(self) -> LevelName:
        """The name in reports and settings."""
        return _LABELS[self]

    @classmethod
    def named(cls, label: str) -> Level:
        """The level with that *label*; raises `KeyError` for another word."""
        return _NAMED[label]


LevelName: TypeAlias = Literal["continue", "observe", "nudge", "block", "stop"]
_LABELS: dict[Level, LevelName] = {
    Level.CONTINUE: "continue",
    Level.OBSERVE: "observe",
    Level.NUDGE: "nudge",
    Level.BLOCK: "block",
    Level.STOP: "stop",
}
_NAMED: dict[str, Level] = {label: level for level, label in _LABELS.items()}

Unit: TypeAlias = Literal["calls", "laps", "responses", "repeats", "hand-offs", "percent"]
"""What a finding's count counts."""


class _Finding(NamedTuple):
    loop: int
    pattern: str
    call: int | None
    message: int
    first_call: int | None
    repeats: int
    tools: tuple[str, ...]
    agent: str
    level: Level
    fingerprints: tuple[str, ...]
    unit: Unit = "calls"
    period: int = 1
    would: Level | None = None


class Finding(_Finding):
    """
    One loop reaching one level: the record that reports, telemetry and logs show.

    It holds no arguments, results or text. *loop* is the loop's number in its run; *call* and *message* are the 1-based
    ordinals at which the decision fell (*call* is `None` for text); *first_call* is where the loop began; *repeats* is how
    many *unit*s were seen; *level* is what was decided, *would* what would have been outside shadow mode.
    """

    __slots__ = ()

    @property
    def count(self) -> int:  # type: ignore[override]
        """The repeats, under the name that they have in reports."""
        return self.repeats

    @property
    def record(self) -> str:
        """One line for logs and exception texts, free of arguments, results and text."""
        tools = ", ".join(self.tools)
        return f"{self.pattern}: {self.repeats} {self.unit}" + (f" of {tools}" if tools else "")


class Decision(NamedTuple):
    """
    What the host should do about the event that was just observed.

    *level* is the strongest of *findings*, which lists the loops that moved to a higher level here; *text* holds the words
    for the model where there are any. *finding* is the loop that decided, as it stands now; where a `block` or a `stop` goes on, it was
    reported before and is not among *findings*. *repeats* holds `(call, message)` ordinals that turned out
    here to be repeats (second lap or later) of a found loop, each named once in a run.
    """

    level: Level = Level.CONTINUE
    findings: tuple[Finding, ...] = ()
    text: str | None = None
    finding: Finding | None = None
    repeats: tuple[tuple[int, int], ...] = ()

    @property
    def name(self) -> LevelName:
        """The level's name: `continue`, `observe`, `nudge`, `block` or `stop`."""
        return self.level.label


CONTINUE = Decision()
"""The decision for an event that shows nothing."""
