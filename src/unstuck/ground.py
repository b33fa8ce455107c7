"""Reads that find nothing new: made before, or by another range inside the lines of a file that were read."""

from __future__ import annotations

from typing import Protocol

from unstuck.ranges import range_of
from unstuck.states import Pending
from unstuck.trail import Trail


class Changes(Protocol):
    """What is changed: `epoch` counts changes of the world, `stirred` what may be one, `compaction` those of the context."""

    epoch: int
    stirred: int
    compaction: int


def covers_again(world: Changes, trail: Trail, pending: Pending, outcome: str, text: str) -> bool:
    """Whether a read that was not made before lies inside the lines that were read; notes the lines that *text* shows."""
    where = range_of(pending.value) if pending.kind == "read" and outcome == "ok" else None
    if where is None:
        return False
    since = (world.epoch, world.stirred, world.compaction)
    covered = trail.ground.holds(where, since)
    trail.ground.add(where, text.count("\n") + 1, since)
    return covered


def cover_ground(trail: Trail, pending: Pending) -> int:
    """
    A read went over ground that was covered: a run of rounds of such reads, of different things, is a second sweep.

    Returns the call with which the run began.
    """
    if pending.kind in ("read", "shell") and pending.key not in trail.redundant:
        if not trail.redundant:
            trail.redundant_first = pending.call
        trail.redundant = sorted([*trail.redundant[-31:], pending.key])
    return trail.redundant_first
