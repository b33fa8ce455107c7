"""Time that an agent lets pass before it looks again: by the clock of the events, or because it said that it would wait."""

from __future__ import annotations

from typing import Any

from unstuck import words
from unstuck.cycles import WAITS_LONG
from unstuck.kinds import lets_time_pass
from unstuck.states import CallState, Pending
from unstuck.trail import Trail

SLOW = 60.0
"""Seconds between two looks from which on looking again is waiting."""
LATE = 600.0
"""Seconds that no model takes to answer."""
WAITED_FOR = 10
"""Looks after such a time that count as one."""
PAUSED = 2
"""The same where a tool that lets time pass was called in between, for however long: as with looks by such a tool itself."""
_LOOKS = frozenset(("read", "shell", "other", "step"))
_NEVER = frozenset(("delegate", "talk"))
_DURATIONS = frozenset(words.DURATION_FIELDS)
_FILES = frozenset(words.PATH_FIELDS) - {"uri", "url"}


def note_wait(trail: Trail, pending: Pending) -> None:
    """Note that a tool that lets time pass is called, and whether it says that it is a minute and more."""
    args, now = pending.value, trail.rounds
    says_how_long = pending.is_shell or (type(args) is dict and not _DURATIONS.isdisjoint(args))
    if not says_how_long and not lets_time_pass(pending.tool):
        return
    if trail.paused != now:
        trail.paused_before, trail.paused = trail.paused, now
    if says_how_long and pending.waits() >= SLOW:
        if trail.slept != now:
            trail.slept_before, trail.slept = trail.slept, now
        if trail.round is not None:
            trail.round.waits = WAITS_LONG


def put_off(trail: Trail, state: CallState, pending: Pending) -> int:
    """
    How many looks such as this one count as one; 0 where no time was let pass before it.

    A tool that waits is given the time since its own latest answer, and what it says itself; any other the time in which the agent
    did nothing, and what was said of waiting in the rounds between: work in between takes time too. A file that is read, or a
    change that is made, again within ten minutes counts in full, as the time may be the model's; it is excused like the others.
    """
    kind, time, now = pending.kind, pending.time, trail.rounds
    if kind in _NEVER or state.final:
        return 0
    if time is not None and not state.asked:  # to have been refused meanwhile is no waiting
        latest = next(reversed(trail.calls.values())).time
        if latest is not None and time - latest >= SLOW:
            trail.waited = now
    slept = trail.slept_before if trail.slept == now else trail.slept
    gap = time - state.time if time is not None and state.time is not None else 0.0
    slow = trail.waited > state.round or slept > state.round
    if kind == "wait" and not slow:
        slow = gap >= SLOW or pending.waits() >= SLOW
    if not slow:
        paused = trail.paused_before if trail.paused == now else trail.paused
        return PAUSED if kind in _LOOKS and paused > state.round else 0
    if trail.round is not None:
        trail.round.waits = WAITS_LONG
    own = gap < LATE and slept <= state.round and (kind == "write" or (kind == "read" and _is_file(pending.value)))
    return 1 if own else WAITED_FOR


def is_patient(pending: Pending) -> bool:
    """Whether so much time was let pass before a look that it may be right."""
    return pending.slow not in (0, PAUSED) and pending.kind != "wait"


def _is_file(args: Any) -> bool:
    return type(args) is dict and any(type(args.get(field)) is str and "://" not in args[field] for field in _FILES)


def goes_on(trail: Trail, state: CallState) -> bool:
    """Whether something moved since the call was made that is waited for, or that is stepped on; a step to another page did too."""
    since = state.round
    if trail.paged > since and state.kind == "step":
        return True
    return trail.moved > since and (state.kind in _MOVES or trail.stepped > since)


_MOVES = frozenset(("wait", "step"))
