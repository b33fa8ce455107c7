"""What is asked in vain, call after call: one thing in ever new words, or one thing after another."""

from __future__ import annotations

from typing import ClassVar

from unstuck.records import Row
from unstuck.spelling import Spelling, known, names_another

MOST_MET = 512
"""Words that are remembered of what was asked in vain."""


class Sweep(Row):
    """What was asked in vain, round after round: whether each named another thing than those before."""

    FIELDS: ClassVar[tuple[str, ...]] = ("epoch", "met", "named", "now", "spelt")
    SETS = frozenset(("met",))
    met: frozenset[int] = frozenset()
    named = 0
    """Rounds whose calls all named another thing."""
    spelt: Spelling = ()
    """A call of the round before."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.now: list[Spelling] = []
        """The calls of the round that goes on: judged together when it is over, in whatever order they stand."""

    @property
    def names_others(self) -> bool:
        """Whether all calls of the round that goes on name another thing than those before."""
        return bool(self.met) and all(names_another(self.spelt, spelt, self.met) for spelt in self.now)

    def next_round(self) -> None:
        """The round is over."""
        self.named += self.names_others
        if len(self.met) < MOST_MET:
            self.met = self.met.union(*(known(spelt) for spelt in self.now))
        self.spelt, self.now = min((tuple(spelt) for spelt in self.now), default=()), []
