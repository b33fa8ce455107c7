"""From evidence to a level: ladders that go on where they were, approval, shadow mode, the ceiling."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from typing import Any, NamedTuple

from unstuck.detectors.detector import Evidence
from unstuck.errors import SettingsError
from unstuck.findings import Finding, Level
from unstuck.ladder import check_count
from unstuck.records import Row

CONTINUE, OBSERVE, NUDGE, BLOCK, STOP = Level  # reading a member of an enumeration costs 30 times what reading these does
LOWEST_CEILING, HIGHEST_CEILING = 10, 1_000


class _Policy(NamedTuple):
    shadow: bool
    strongest: Level
    ceiling: int
    one_per_round: bool
    consume: bool


class Policy(_Policy):
    """
    How far interventions go.

    Args:
        shadow: only report what would have happened (default: act).
        strongest: the strongest level that is ever decided (default: stop); a rung above it comes to no more than this.
        ceiling: identical exchanges after which an unattended run is stopped, 10 to 1,000 (default 100); cannot be off.
        one_per_round: report at most one loop each round, the first in the order of the detectors (default: all).
        consume: what formed a reported loop is not counted again (default: it is, the ladder goes on).
    """

    FIELDS = ()

    def __new__(
        cls,
        shadow: bool = False,
        strongest: Level = Level.STOP,
        ceiling: int = 100,
        one_per_round: bool = False,
        consume: bool = False,
    ) -> Policy:
        for name, flag in (("shadow", shadow), ("one_per_round", one_per_round), ("consume", consume)):
            if type(flag) is not bool:
                raise SettingsError(f"policy.{name}", flag, "true or false is needed", "give true or false")
        if not isinstance(strongest, Level) or strongest < Level.NUDGE:
            raise SettingsError(
                "policy.strongest", strongest, "nothing would ever be done", "give nudge, block or stop, or use shadow"
            )
        check_count("policy.ceiling", ceiling, LOWEST_CEILING, HIGHEST_CEILING)
        return super().__new__(cls, shadow, strongest, ceiling, one_per_round, consume)


class Strand(Row):
    """
    One strand of a loop: its *streak*, the *repeats* in it, those *carried* over from streaks before.

    *named* is the call up to which its repeats were named.
    """

    FIELDS = ("carried", "named", "repeats", "streak")
    streak: int | None = None
    carried = named = repeats = 0


class Loop(Row):
    """One loop of a run: its number, what it is recognised by, how far its ladder was climbed."""

    FIELDS = ("anchors", "level", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self.level = 0
        self.anchors: list[int] = []
        self.strands: dict[str, Strand] = {}

    MOST_ANCHORS = 64
    latest: tuple[int, ...] = ()  # the anchors it was last recognised by; not saved, costs one look-up anew

    def strand(self, name: str) -> Strand:
        """The strand called *name*, made where there is none."""
        found = self.strands.get(name)
        if found is None:
            found = self.strands[name] = Strand()
        return found

    def total(self, strand: Strand, evidence: Evidence, ahead: bool) -> int:
        """
        The repeats, with those from before the loop was interrupted once it had been nudged; *ahead*: the call has not run yet.

        An interruption shows in where the streak began.
        """
        streak, repeats, carried = evidence.streak, evidence.repeats, strand.carried
        if strand.streak != streak:
            if strand.streak is not None and self.level >= NUDGE:
                carried = min(carried + strand.repeats, evidence.ladder.first)
            strand.named = 0
        if not ahead:
            strand.carried, strand.streak, strand.repeats = carried, streak, repeats
        return repeats + carried

    def dump(self) -> list[Any]:
        """The loop as JSON values."""
        return [self.row(), {name: strand.row() for name, strand in self.strands.items()}]

    @classmethod
    def load(cls, saved: list[Any]) -> Loop:
        """The loop that was dumped."""
        made = cls.from_row(saved[0])
        made.strands = {name: Strand.from_row(row) for name, row in saved[1].items()}
        return made

    def take(self, anchors: tuple[int, ...]) -> None:
        """Recognise the loop by *anchors* too."""
        for anchor in anchors:
            if anchor not in self.anchors:
                self.anchors.append(anchor)
        del self.anchors[: -self.MOST_ANCHORS]


class Loops:
    """The loops of one run in one turn."""

    MOST = 64

    def __init__(self) -> None:
        self.found: OrderedDict[int, Loop] = OrderedDict()
        self.by_anchor: dict[tuple[str, int], int] = {}
        self.count = 0
        self._latest: tuple[Any, tuple[Loop, Strand]] | None = None  # found last, and by what

    def of(self, agent: str, evidence: Evidence) -> tuple[Loop, Strand]:
        """
        The loop that *evidence* belongs to: the one it shares an anchor with, or a new one; and which strand of it.

        Where it shares anchors with several, it is the one whose ladder was climbed furthest, the oldest of those.
        """
        pattern, anchors, _, _, _, _, keys, _, _, _, _, owner, _ = evidence
        if owner is None:
            owner = agent
        latest = self._latest
        if latest is not None and latest[0] == (owner, pattern, anchors, keys):
            return latest[1]
        known = [number for anchor in anchors if (number := self.by_anchor.get((owner, anchor))) is not None]
        if known:
            # In whatever order the anchors stand, and those of a round were found.
            loop = max((self.found[number] for number in {*known}), key=lambda loop: (loop.level, -loop.number))
        else:
            self.count += 1
            loop = self.found[self.count] = Loop(self.count)
        if loop.latest != anchors:
            loop.take(anchors)
            loop.latest = anchors
            for anchor in anchors:
                self.by_anchor[owner, anchor] = loop.number
            if len(self.found) > self.MOST:
                self._forget(next(iter(self.found)))
        found = loop, loop.strand(evidence.strand)
        self._latest = (owner, pattern, anchors, keys), found
        return found

    def _forget(self, number: int) -> None:
        del self.found[number]
        self._latest = None
        self.by_anchor = {anchor: owner for anchor, owner in self.by_anchor.items() if owner != number}

    def re_arm(self) -> None:
        """A person spoke: every ladder begins anew; numbers go on."""
        self.found.clear()
        self.by_anchor.clear()
        self._latest = None

    def dump(self) -> dict[str, Any]:
        """The loops as JSON values."""
        anchors = [[owner, anchor, number] for (owner, anchor), number in self.by_anchor.items()]
        return {"count": self.count, "loops": [loop.dump() for loop in self.found.values()], "anchors": anchors}

    @classmethod
    def load(cls, saved: dict[str, Any]) -> Loops:
        """The loops that were dumped."""
        made = cls()
        made.count = saved["count"]
        for row in saved["loops"]:
            loop = Loop.load(row)
            made.found[loop.number] = loop
        made.by_anchor = {(owner, anchor): number for owner, anchor, number in saved["anchors"]}
        return made


def allowed(level: Level, moment: str, policy: Policy) -> Level:
    """What *level* comes to at *moment*: a block only where a call has not run yet, nothing above the strongest allowed."""
    strongest = policy.strongest
    if strongest is not STOP and level > strongest:
        level = strongest
    if moment == "call":
        return CONTINUE if level is NUDGE else level
    return NUDGE if level is BLOCK and moment != "text" else level


@lru_cache(maxsize=256)
def _prints(keys: tuple[int, ...]) -> tuple[str, ...]:
    return tuple([f"{key:016x}" for key in keys])


def finding_of(loop: Loop, evidence: Evidence, level: Level, place: tuple[int | None, int, str], shadow: bool) -> Finding:
    """The record of *loop* having reached *level* at *place*: the call (`None`: none), the response, the agent."""
    pattern, anchors, _, repeats, _, tools, keys, first_call, _, unit, period, owner, _ = evidence
    call, message, agent = place
    shown, would = (OBSERVE, level) if shadow else (level, None)
    prints = _prints(keys or anchors)
    number, owner = loop.number, owner or agent
    found = (number, pattern, call, message, first_call, repeats, tools, owner, shown, prints, unit, period, would)
    return tuple.__new__(Finding, found)
