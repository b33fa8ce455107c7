"""
Loops that are known and do not fail a check.

A baseline names loops by what they are, not by the run they were in: a continuous-integration job records new runs with new ids
every time. A loop is known by its pattern, its tools and its fingerprints, up to the level it had reached and in as many runs as
showed it; a loop that goes further or spreads to more runs is new.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from unstuck.errors import ReadError
from unstuck.findings import Finding, Level

if TYPE_CHECKING:
    from unstuck.scan import RunReport

VERSION = 1
Key: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...]]


class Baseline:
    """Known loops; `unknown()` takes the runs of a scan in order, `add()` makes those of a run known."""

    def __init__(self) -> None:
        self._known: dict[Key, tuple[Level, int]] = {}
        self._seen: Counter[Key] = Counter()

    @classmethod
    def load(cls, path: Path) -> Baseline:
        """The baseline in the file *path*; raises `ReadError` where it is none."""
        baseline = cls()
        try:
            data = json.loads(path.read_text("utf-8"))
            if data["version"] != VERSION:
                raise ReadError(str(path), f"a baseline of version {data['version']}; this unstuck reads version {VERSION}")
            for entry in data["known"]:
                key = (str(entry["pattern"]), tuple(map(str, entry["tools"])), tuple(map(str, entry["fingerprints"])))
                baseline._known[key] = (Level.named(entry["decision"]), int(entry["runs"]))
        except OSError as error:
            raise ReadError(str(path), error.strerror or str(error)) from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ReadError(str(path), f"not a baseline: {type(error).__name__} {error}") from error
        return baseline

    def __len__(self) -> int:
        """How many loops are known."""
        return len(self._known)

    def unknown(self, report: RunReport) -> tuple[Finding, ...]:
        """The findings of a run that the baseline does not cover."""
        covered = set()
        for key, level in _loops(report).items():
            known, runs = self._known.get(key, (Level.CONTINUE, 0))
            if level <= known and self._seen[key] < runs:
                self._seen[key] += 1
                covered.add(key)
        return tuple(finding for finding in report.findings if _key(finding) not in covered)

    def add(self, report: RunReport) -> None:
        """Make the loops of a run known."""
        for key, level in _loops(report).items():
            known, runs = self._known.get(key, (Level.CONTINUE, 0))
            self._known[key] = (max(level, known), runs + 1)

    def dumps(self) -> str:
        """The baseline as JSON, the same for the same loops; it holds no arguments, results or texts."""
        known: list[dict[str, Any]] = [
            {"pattern": pattern, "tools": tools, "fingerprints": fingerprints, "decision": level.label, "runs": runs}
            for (pattern, tools, fingerprints), (level, runs) in sorted(self._known.items())
        ]
        return json.dumps({"version": VERSION, "known": known}, indent=2) + "\n"


def _key(finding: Finding) -> Key:
    return finding.pattern, tuple(sorted(set(finding.tools))), tuple(sorted(set(finding.fingerprints)))


def _loops(report: RunReport) -> dict[Key, Level]:
    levels: dict[Key, Level] = {}
    for finding in report.findings:
        key = _key(finding)
        levels[key] = max(finding.would or finding.level, levels.get(key, Level.CONTINUE))
    return levels
