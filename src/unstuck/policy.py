"""From evidence to a level: ladders that go on where they were, approval, shadow mode, the ceiling."""

from __future__ import annotations

from collections import OrderedDict
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


class Loop(Row):
    """One loop of a run: its number, what it is recognised by, how far its ladder was climbed."""

    FIELDS = ("anchors", "carried", "level", "number", "repeats", "scanned", "streaks")

    def __init__(self, number: int) -> None:
        self.number = number
        self.level = 0
        self.anchors: list[int] = []
        self.streaks: dict[str, int] = {}
        self.repeats: dict[str, int] = {}
        self.carried: dict[str, int] = {}
        self.scanned: dict[str, int] = {}  # per pattern the call up to which its repeats were named

    MOST_ANCHORS = 64
    latest: tuple[int, ...] = ()  # the anchors it was last recognised by; not saved, costs one look-up anew

    def total(self, evidence: Evidence, ahead: bool) -> int:
        """
        The repeats, with those from before the loop was interrupted once it had been nudged; *ahead*: the call has not run yet.

        An interruption shows in where the streak began.
        """
        strand, streak, repeats = evidence.strand, evidence.streak, evidence.repeats
        before, carried = self.streaks.get(strand), self.carried.get(strand, 0)
        if before != streak:
            if before is not None and self.level >= NUDGE:
                carried = min(carried + self.repeats[strand], evidence.ladder.first)
            self.scanned.pop(strand, None)
        if not ahead:
            self.carried[strand], self.streaks[strand], self.repeats[strand] = carried, streak, repeats
        return repeats + carried

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

    def of(self, agent: str, evidence: Evidence) -> Loop:
        """The loop that *evidence* belongs to: the one it shares an anchor with, or a new one."""
        owner = evidence.agent if evidence.agent is not None else agent
        known = [number for anchor in evidence.anchors if (number := self.by_anchor.get((owner, anchor))) is not None]
        if known:
            loop = self.found[min(known)]  # the oldest, in whatever order the anchors stand
            if loop.latest == evidence.anchors:
                return loop
        else:
            self.count += 1
            loop = self.found[self.count] = Loop(self.count)
        loop.take(evidence.anchors)
        loop.latest = evidence.anchors
        for anchor in evidence.anchors:
            self.by_anchor[owner, anchor] = loop.number
        if len(self.found) > self.MOST:
            self._forget(next(iter(self.found)))
        return loop

    def _forget(self, number: int) -> None:
        del self.found[number]
        self.by_anchor = {anchor: owner for anchor, owner in self.by_anchor.items() if owner != number}

    def re_arm(self) -> None:
        """A person spoke: every ladder begins anew; numbers go on."""
        self.found.clear()
        self.by_anchor.clear()

    def dump(self) -> dict[str, Any]:
        """The loops as JSON values."""
        anchors = [[owner, anchor, number] for (owner, anchor), number in self.by_anchor.items()]
        return {"count": self.count, "loops": [loop.row() for loop in self.found.values()], "anchors": anchors}

    @classmethod
    def load(cls, saved: dict[str, Any]) -> Loops:
        """The loops that were dumped."""
        made = cls()
        made.count = saved["count"]
        for row in saved["loops"]:
            loop = Loop.from_row(row)
            made.found[loop.number] = loop
        made.by_anchor = {(owner, anchor): number for owner, anchor, number in saved["anchors"]}
        return made


def allowed(level: Level, moment: str, policy: Policy) -> Level:
    """What *level* comes to at *moment*: a block only where a call has not run yet, nothing above the strongest allowed."""
    strongest = policy.strongest
    level = strongest if level > strongest else level  # noqa: FURB136 - min() costs more than the comparison
    if moment == "call":
        return CONTINUE if level is NUDGE else level
    return NUDGE if level is BLOCK and moment != "text" else level


def finding_of(loop: Loop, evidence: Evidence, level: Level, place: tuple[int | None, int, str], shadow: bool) -> Finding:
    """The record of *loop* having reached *level* at *place*: the call (`None`: none), the response, the agent."""
    pattern, anchors, _, repeats, _, tools, keys, first_call, _, unit, period, owner, _ = evidence
    call, message, agent = place
    shown, would = (OBSERVE, level) if shadow else (level, None)
    prints = tuple([f"{key:016x}" for key in keys or anchors])
    number, owner = loop.number, owner or agent
    return Finding(number, pattern, call, message, first_call, repeats, tools, owner, shown, prints, unit, period, would)
