"""What one event showed: the only thing that a detector looks at."""

from __future__ import annotations

from typing import NamedTuple

from unstuck.degenerate import Degenerate
from unstuck.delegations import Delegations
from unstuck.intervals import Intervals
from unstuck.signs import ANY
from unstuck.states import CallState, Pending, ToolState
from unstuck.swings import Swing
from unstuck.trail import Trail


class View(NamedTuple):
    """What one event showed: the *moment* it stands for and the records it touched."""

    moment: str
    trail: Trail
    call: int
    message: int
    state: CallState | None = None
    tool: ToolState | None = None
    pending: Pending | None = None
    ahead: int = 0
    text: str | None = None
    repeating: Degenerate | None = None
    swing: Swing | None = None
    delegations: Delegations | None = None
    intervals: Intervals | None = None
    signs: int = ANY
