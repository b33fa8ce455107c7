"""Which rung comes next, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unstuck.explain.answer import Next
from unstuck.findings import Level

if TYPE_CHECKING:
    from unstuck.explain.counters import Reading
    from unstuck.explain.strands import Found
    from unstuck.ladder import Ladder
    from unstuck.policy import Policy


def next_rung(found: Found, now: Reading | None, policy: Policy, ended: str | None) -> Next:
    """
    The rung after the one that *found* has reached.

    *now* is the count at the end of the run (`None`: cannot be said); *ended* names what ended the loop for good: a person's request.
    """
    if ended is not None:
        return Next(None, why=ended)
    latest = found.points[-1]
    evidence, loop = latest.evidence, found.loop
    level = _after(evidence.ladder, Level(loop.level), policy)
    if level is None:
        if loop.level >= Level.STOP:
            return Next(None, why="last_rung")
        return Next(None, why="strongest" if _after(evidence.ladder, Level(loop.level), None) is not None else "no_higher_rung")
    rung = _rung(evidence.ladder, level)
    before = level >= Level.BLOCK and found.detector is not None and bool(found.detector.moments & {"call", "text"})
    if now is None:
        return Next(level, rung, None, before)
    strand = loop.strand(evidence.strand)
    carried = strand.carried
    if (now.raw == 0 or now.streak != strand.streak) and loop.level >= Level.NUDGE:
        carried += strand.repeats
    more = max(max(rung - carried, evidence.ladder.first) * now.weight - now.raw, 1)
    return Next(level, rung, more, before, carried)


def _rung(ladder: Ladder, level: Level) -> int:
    rung = {Level.NUDGE: ladder.nudge, Level.BLOCK: ladder.block, Level.STOP: ladder.stop}[level]
    assert rung is not None
    return rung


def _after(ladder: Ladder, reached: Level, policy: Policy | None) -> Level | None:
    """The level of the rung above *reached* that the policy takes; a ladder is climbed from its first rung."""
    rungs = zip((Level.NUDGE, Level.BLOCK, Level.STOP), ladder, strict=True)
    above = [level for level, rung in rungs if rung is not None and level > reached]
    if policy is not None:
        above = [level for level in above if level <= policy.strongest]
    return above[0] if above else None
