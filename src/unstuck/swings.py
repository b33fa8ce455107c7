"""States that targets were brought to, as far as calls say so: what is undone and done again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, TypeAlias

from unstuck import words
from unstuck.fingerprint import canonical, text_digest, value_digest
from unstuck.kinds import target_digest

Told: TypeAlias = tuple[int, int | None, int]
"""The target of a change, the state it leaves (`None`: not told) and the state it leads to, as digests."""


class Swing:
    """One target: its latest two states, and how often in a row a change led back."""

    __slots__ = ("before", "first", "keys", "now", "returns", "target")

    def __init__(self, target: int, call: int) -> None:
        self.target, self.first = target, call
        self.before = self.now = 0
        self.returns = 0
        self.keys: list[int] = []

    def row(self) -> list[Any]:
        """The saved form."""
        return [self.target, self.first, self.before, self.now, self.returns, self.keys]

    @classmethod
    def from_row(cls, row: list[Any]) -> Swing:
        """The record that *row* was saved from."""
        made = cls(row[0], row[1])
        made.before, made.now, made.returns, made.keys = row[2:]
        return made


class Swings:
    """The targets changed last."""

    def __init__(self, window: int) -> None:
        self.most = window
        self.targets: OrderedDict[int, Swing] = OrderedDict()

    def change(self, told: Told | None, key: int, call: int) -> Swing | None:
        """Take up a successful change; *told* is what `state_of` says of it, `None` where its arguments tell no state."""
        if told is None:
            return None
        target, start, end = told
        swing = self.targets.get(target)
        if swing is None:
            swing = self.targets[target] = Swing(target, call)
            swing.now = start or 0
            if len(self.targets) > self.most:
                self.targets.popitem(last=False)
        if end == swing.before and end != swing.now:
            swing.returns += 1
        elif end != swing.now:
            swing.returns, swing.first, swing.keys = 0, call, []
        swing.before, swing.now = (start if start is not None else swing.now), end
        swing.keys = [*swing.keys[-3:], key] if key not in swing.keys else swing.keys
        return swing

    def dump(self) -> list[Any]:
        """The states as JSON values."""
        return [swing.row() for swing in self.targets.values()]

    def load(self, saved: list[Any]) -> None:
        """Take up what was dumped."""
        for row in saved:
            swing = Swing.from_row(row)
            self.targets[swing.target] = swing


def state_of(tool: str, args: Any) -> Told | None:
    """The target of a change, the state it leaves (`None`: not told) and the state it leads to, as digests."""
    if not isinstance(args, Mapping):
        return None
    target = target_digest(args)
    if target:
        old, new = _first(args, words.OLD_FIELDS), _first(args, words.NEW_FIELDS)
        if old is not None and new is not None:
            return target, value_digest(old), value_digest(new)
        content = _first(args, words.CONTENT_FIELDS)
        if content is not None:
            return target, None, value_digest(content)
    verb, _, rest = tool.lower().replace("-", "_").partition("_")
    for one, other in words.OPPOSITES:
        if verb in (one, other):
            thing = text_digest(f"{one} {rest} ") ^ value_digest(canonical(args).decode("ascii", "replace"))
            return thing, None, text_digest(verb)
    return None


def _first(args: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((args[name] for name in names if args.get(name) is not None), None)
