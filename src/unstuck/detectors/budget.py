"""What a run may spend: calls, tokens, money, minutes."""

from __future__ import annotations

from math import isfinite
from typing import Any

from unstuck.detectors.detector import Detector, Evidence
from unstuck.errors import SettingsError
from unstuck.findings import Level
from unstuck.fingerprint import text_digest
from unstuck.ladder import Ladder
from unstuck.spent import Price, Spent
from unstuck.view import View

_LIMITS = ("calls", "tokens", "money", "minutes")


class Budget(Detector):
    """
    How much of a run's budget is used up; no loop, and in no preset. The rungs are percent of the limit that is nearest.

    Args:
        ladder: percent at which the model is told (default 80), further calls are blocked (100), the run is stopped (110);
            each call asked for after a block counts as one percent more.
        calls: calls that the model may make in the run.
        tokens: input and output tokens of all responses.
        money: what all responses may cost, in the unit of *price*.
        minutes: time between the first and the latest event that says its time.
        price: what a response costs, from its model's name and its `Usage`; required for *money*, must be pure.

    Raises `SettingsError` where no limit is given, one is not positive, or *money* and *price* do not come together.
    """

    pattern = "budget"
    moments = frozenset(("call", "result", "message"))
    needs = frozenset(("spent", "exchanges"))
    rungs = Ladder(nudge=80, block=100, stop=110)
    __slots__ = ("limits", "price")
    limits: tuple[float | None, ...]
    price: Price | None

    def __init__(
        self,
        ladder: Ladder | None = None,
        *,
        calls: int | None = None,
        tokens: int | None = None,
        money: float | None = None,
        minutes: float | None = None,
        price: Price | None = None,
    ) -> None:
        super().__init__(ladder)
        limits = (calls, tokens, money, minutes)
        for name, limit in zip(_LIMITS, limits, strict=True):
            _check(name, limit)
        if all(limit is None for limit in limits):
            raise SettingsError(
                "budget", None, "no limit is given, so nothing would ever happen", "give calls, tokens, money or minutes"
            )
        if (money is None) != (price is None):
            problem = "money and price only work together"
            raise SettingsError("budget.price", price, problem, "give both, or limit tokens instead")
        object.__setattr__(self, "limits", limits)
        object.__setattr__(self, "price", price)

    def _fields(self) -> tuple[Any, ...]:
        return (self.ladder, self.limits, self.price)

    def look(self, view: View) -> Evidence | None:
        spent = view.trail.spent
        if not isinstance(spent, Spent) or (view.moment != "message" and view.pending is None):
            return None
        ahead = view.moment == "call"  # this call has spent nothing yet
        used = (spent.calls - ahead, spent.tokens, spent.money, spent.minutes)
        shares = [100 * used / limit for used, limit in zip(used, self.limits, strict=True) if limit is not None]
        percent = int(max(shares))
        if percent >= 100:
            percent += spent.asked
        if percent < self.least or (ahead and self.ladder.level(percent) < Level.BLOCK):
            return None
        # What is used up is used up: before a call no rung is waited for.
        ladder = self.ladder._replace(nudge=None) if ahead else self.ladder
        return Evidence(self.pattern, (text_digest("budget"),), 0, percent, ladder, unit="percent")


def _check(name: str, limit: float | None) -> None:
    if limit is None:
        return
    whole = name in ("calls", "tokens")
    if type(limit) is not int and (whole or type(limit) is not float):
        raise SettingsError(f"budget.{name}", limit, "a number is needed", "give a positive number, or None for no limit")
    if not isfinite(limit) or limit <= 0:
        raise SettingsError(f"budget.{name}", limit, "nothing could be spent", "give a positive number, or None for no limit")
