"""The detectors of a rule set, and what follows from them alone: worked out once for all runs that go by them."""

from __future__ import annotations

from collections.abc import Iterable

from unstuck.detectors.budget import Budget
from unstuck.detectors.detector import Detector
from unstuck.detectors.windowed import Windowed, span_of
from unstuck.signs import ANY

MOMENTS = ("call", "result", "round", "message", "text", "compaction")


class Panel(tuple[Detector, ...]):  # noqa: SLOT001 - made once a rule set, and holds what is worked out once
    """
    Detectors in the order in which they are asked.

    *needs*: what of the ledger any of them needs; *always*: the moments at which some are asked whatever was seen; *span*: the calls
    that the window rules look back on; *price*: how the budget among them counts money; *window_only*: whether all of them see in a
    `WindowLedger` what they would see in a `Ledger`, being window rules that are asked when a round is over.
    """

    MOST = 4_096

    def __init__(self, detectors: Iterable[Detector]) -> None:
        self._moments = {moment: tuple([one for one in self if moment in one.moments]) for moment in MOMENTS}
        self._asked: dict[tuple[str, int], tuple[Detector, ...]] = {}
        self.needs = frozenset[str]().union(*(detector.needs for detector in self))
        self.always = frozenset(moment for moment, asked in self._moments.items() if any(one.signs == ANY for one in asked))
        self.span = span_of(self)
        self.price = next((detector.price for detector in self if isinstance(detector, Budget)), None)
        self.window_only = "window" in self.needs and self.needs <= {"window", "texts"} and all(map(_looks_back, self))

    def asked(self, moment: str, signs: int) -> tuple[Detector, ...]:
        """The detectors that are asked at *moment* where *signs* were seen."""
        found = self._asked.get((moment, signs))
        if found is None:
            found = tuple([one for one in self._moments[moment] if one.signs & signs or one.signs == ANY])
            if len(self._asked) < self.MOST:
                self._asked[moment, signs] = found
        return found


def _looks_back(detector: Detector) -> bool:
    if "round" in detector.moments and type(detector).look is not Windowed.look:
        return False
    return detector.moments <= {"round", "message", "text"}
