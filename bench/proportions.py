"""Shares with their confidence."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

Z = 1.959964
"""Of the normal distribution, for 95 %."""


class Share(NamedTuple):
    """*hits* out of *total*."""

    hits: int
    total: int

    @property
    def value(self) -> float:
        """The share, 0 where there is nothing."""
        return self.hits / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval after Wilson (1927), which holds near 0 and 1 and for small numbers as well."""
        if not self.total:
            return 0.0, 1.0
        n, p = self.total, self.value
        middle = p + Z * Z / (2 * n)
        reach = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
        scale = 1 + Z * Z / n
        return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)

    def __str__(self) -> str:
        if not self.total:
            return "-"
        low, high = self.interval
        return f"{self.hits}/{self.total} = {self.value:.3f} [{low:.3f}, {high:.3f}]"
