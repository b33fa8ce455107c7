"""
What a scan found, for people and for programs: one module a form.

Here is what they share: names and figures as people read them, and what all runs come to.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from unstuck.scan import RunReport

Number = TypeVar("Number", int, float)
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def clean(name: str) -> str:
    """*name* without anything that moves the cursor, changes colours or hides: control and format characters as escapes."""
    if name.isascii() and name.isprintable():
        return name
    return "".join(_escaped(char) if unicodedata.category(char) in _HIDDEN else char for char in name)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii") if ord(char) > 0xFF or ord(char) < 0x20 else f"\\x{ord(char):02x}"


def shortened(name: str, width: int, *, mark: str = "...") -> str:
    """*name* in at most *width* characters, its middle left out: ids differ at the ends."""
    if len(name) <= width:
        return name
    if width <= len(mark) + 1:
        return name[:width]
    tail = (width - len(mark)) // 2
    return name[: width - len(mark) - tail] + mark + name[len(name) - tail :]


def figure(number: int) -> str:
    """A number of tokens: 950, 12.3k, 4.56M."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            value = number / limit
            return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}{unit}"
    return str(number)


def money(usd: float) -> str:
    """An amount: $3.91, $0.0042, $1,204."""
    if usd >= 1000:
        return f"${usd:,.0f}"
    return f"${usd:.2f}" if usd >= 0.1 or usd == 0 else f"${usd:.4f}"


def plural(number: int, word: str) -> str:
    """*number* and *word*, which takes an s unless there is one: 1 run, 2 runs."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


class Totals(NamedTuple):
    """What all runs of a scan come to; *tokens* and *usd* are `None` where no run tells them."""

    files: int = 0
    runs: int = 0
    calls: int = 0
    tokens: int | None = None
    usd: float | None = None
    looping: int = 0
    repeated: int = 0
    repeated_tokens: int | None = None
    repeated_usd: float | None = None

    def with_run(self, report: RunReport) -> Totals:
        """The totals with one more run."""
        return self._replace(
            runs=self.runs + 1,
            calls=self.calls + report.calls,
            tokens=_sum(self.tokens, report.tokens),
            usd=_sum(self.usd, report.usd),
            looping=self.looping + bool(report.findings),
            repeated=self.repeated + report.repeated.calls,
            repeated_tokens=_sum(self.repeated_tokens, report.repeated.tokens),
            repeated_usd=_sum(self.repeated_usd, report.repeated.usd),
        )


def _sum(left: Number | None, right: Number | None) -> Number | None:
    return right if left is None else left if right is None else left + right
