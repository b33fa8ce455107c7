"""
What a scan found, for people and for programs: one module a form.

Names and figures as people read them are here, for all of them.
"""

from __future__ import annotations

import unicodedata

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
