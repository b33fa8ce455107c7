"""
Writes into the documentation what the code knows best: the rungs of each pattern.

    python3 dev.py run python docs/tables.py

`tests/test_docs.py` fails where a page is older than the code.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import unstuck

if TYPE_CHECKING:
    from unstuck.ladder import Ladder

PATTERNS = Path(__file__).resolve().parent / "patterns.md"
ROW = re.compile(r"^(\| \[`(\w+)`\]\(#\2\) \| .* \| )(.+) \|$", re.MULTILINE)


def patterns(page: str) -> str:
    """*page* with the last column of the table of patterns as the presets have it; patterns in none keep what stands there."""
    states = presets()
    return ROW.sub(lambda row: f"{row[1]}{states.get(row[2], row[3])} |", page)


def presets() -> dict[str, str]:
    """For each pattern its rungs in the preset `default`, or else the presets that look for it."""
    states = {detector.pattern: rungs(detector.ladder) for detector in unstuck.preset("default").detectors}
    others: dict[str, list[str]] = {}
    for name in unstuck.PRESETS:
        for detector in unstuck.preset(name).detectors:
            if detector.pattern not in states:
                others.setdefault(detector.pattern, []).append(f"`{name}`")
    return states | {pattern: f"in {', '.join(names)}" for pattern, names in others.items()}


def rungs(ladder: Ladder) -> str:
    """A ladder as the page writes it."""
    return ", ".join("-" if rung is None else str(rung) for rung in ladder)


if __name__ == "__main__":
    PATTERNS.write_text(patterns(PATTERNS.read_text("utf-8")), "utf-8")
