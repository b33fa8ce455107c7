"""Which lines of what a call reads, and which lines an agent has read: reading inside them, by whatever range, finds nothing new."""

from __future__ import annotations

import re
from typing import Any

from unstuck import words
from unstuck.commands import command_of
from unstuck.fingerprint import text_digest
from unstuck.kinds import target_digest

MOST_TARGETS = 32
MOST_STRETCHES = 16
NEW = 10
"""A range of which less than one line in this many is new brings nothing new."""
_PAIRS = frozenset(("view_range", "line_range", "lines", "range"))
_START, _END, _SIZE = frozenset(words.RANGE_START_FIELDS), frozenset(words.RANGE_END_FIELDS), frozenset(words.RANGE_SIZE_FIELDS)
_FIELDS = _START | _PAIRS
_COMMAND_FIELDS = frozenset(words.COMMAND_FIELDS)
MAY_NAME_RANGES = _FIELDS | _COMMAND_FIELDS
"""Names of arguments of which one must be there where a call names a range: a cheap test."""
# Compiled when they are first needed.
_CD = r"\s*cd\s+[^\s;&|]{1,200}\s*(?:&&|;)\s*"
_FILE = r"(?P<file>[^\s;&|<>'\"]{1,400}|'[^'\n]{1,400}'|\"[^\"\n]{1,400}\")"
_SED = r"sed\s+-n\s+['\"]?(?P<start>\d{1,9}),(?P<end>\d{1,9})p['\"]?"
_COMMANDS = (
    rf"{_SED}\s+{_FILE}",
    rf"(?:cat(?:\s+-n)?|nl(?:\s+-ba)?)\s+{_FILE}\s*\|\s*{_SED}",
    rf"head\s+-(?:n\s*)?(?P<end>\d{{1,9}})\s+{_FILE}(?:\s*\|\s*tail\s+-(?:n\s*)?(?P<last>\d{{1,9}}))?",
    rf"tail\s+(?:-n\s*)?\+(?P<start>\d{{1,9}})\s+{_FILE}\s*\|\s*head\s+-(?:n\s*)?(?P<size>\d{{1,9}})",
)

Range = tuple[int, int, int]
"""The digest of a target, the first line, and the line after the last."""


def range_of(args: Any) -> Range | None:
    """The lines that a call with *args* reads, `None` where it names no range with an end."""
    if type(args) is dict:
        if not _FIELDS.isdisjoint(args):
            target = target_digest(args)
            lines = _lines_in_fields(args) if target else None
            return (target, *lines) if lines is not None else None
        if _COMMAND_FIELDS.isdisjoint(args):
            return None
    command = command_of(args)
    return _range_in_command(command) if command is not None and len(command) <= 1_024 else None


def _lines_in_fields(args: dict[Any, Any]) -> tuple[int, int] | None:
    start = end = size = None
    for name, value in args.items():
        if name in _START:
            start = _number(value)
        elif name in _END:
            end = _number(value)
        elif name in _PAIRS and isinstance(value, list | tuple):
            if len(value) == 2:
                return _between(_number(value[0]), _number(value[1]))
        elif name in _SIZE:
            size = _number(value)
    if end is None and size and start is not None:
        end = start + size - 1
    return _between(start, end)


def _number(value: Any) -> int | None:
    if type(value) is str and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if type(value) is int and 0 <= value < 1_000_000_000 else None


def _between(start: int | None, end: int | None) -> tuple[int, int] | None:
    return (start, end + 1) if start is not None and end is not None and end >= start else None


def _range_in_command(command: str) -> Range | None:
    if "sed -n" not in command and "head" not in command:
        return None
    line = command.strip()
    prefix = re.match(_CD, line)
    if prefix is not None:
        line = line[prefix.end() :]
    for form in _COMMANDS:
        found = re.fullmatch(form, line)
        if found is None:
            continue
        given = found.groupdict()
        start, end = int(given.get("start") or 1), given.get("end")
        stop = start + int(given["size"]) if end is None else int(end) + 1
        if given.get("last"):
            start = max(stop - int(given["last"]), 1)
        return (text_digest(given["file"].strip("'\"")), start, stop) if stop > start else None
    return None


class Ground:
    """
    The lines that an agent has read since the world, or its context, last changed.

    Reading ahead, with whatever overlap, is new ground; a range inside what was read is not.
    """

    def __init__(self) -> None:
        self.since = (0, 0, 0)
        self.read: dict[int, list[tuple[int, int]]] = {}

    def holds(self, asked: Range, since: tuple[int, int, int]) -> bool:
        """Whether nearly all lines of *asked* were read; *since*: the latest changes, before which nothing counts."""
        if since != self.since:
            return False
        target, start, end = asked
        known = sum(max(min(end, last) - max(start, first), 0) for first, last in self.read.get(target, ()))
        return (end - start - known) * NEW < end - start

    def add(self, asked: Range, shown: int, since: tuple[int, int, int]) -> None:
        """The lines of *asked* were read, of which at most *shown* came back."""
        if since != self.since:
            self.since = since
            self.read.clear()
        target, start, end = asked
        end = min(end, start + shown)
        stretches = self.read.pop(target, [])
        apart = [one for one in stretches if one[1] < start or one[0] > end]
        joined = [one for one in stretches if not (one[1] < start or one[0] > end)]
        whole = (min([start, *(one[0] for one in joined)]), max([end, *(one[1] for one in joined)]))
        self.read[target] = [*apart[1 - MOST_STRETCHES :], whole]
        if len(self.read) > MOST_TARGETS:
            del self.read[next(iter(self.read))]

    def dump(self) -> list[Any]:
        """The stretches as JSON values."""
        return [list(self.since), [[target, stretches] for target, stretches in self.read.items()]]

    @classmethod
    def load(cls, saved: list[Any]) -> Ground:
        """The ground that was dumped."""
        made = cls()
        made.since = (saved[0][0], saved[0][1], saved[0][2])
        made.read = {target: [(first, last) for first, last in stretches] for target, stretches in saved[1]}
        return made
