"""
What records have in common: how they are saved, what an outcome said, what a call's arguments said.

All of them bounded, all of them JSON: `row()` and `from_row()` are each other's inverse. Texts stand here only until their digest
is needed and are never saved: `row()` takes the digest first. Fields start out as class attributes, so that making a record, which
happens on every call of an agent, sets only what is not zero.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any, ClassVar, Self

from unstuck import words
from unstuck.fingerprint import text_digest, text_of
from unstuck.gist import gist_of
from unstuck.sketch import Sketch, likeness, sketch, words_of
from unstuck.spelling import Spelling, spelling
from unstuck.volatile import mask, plain_address, surely_differ, template

ALIKE = 0.7
"""The share of words from which on two calls are spellings of one."""
_FIRST_WORDS = re.compile(r"[^\W_]+(?![^\W_]*$)")
_SIMPLE = frozenset((str, int))
_SCALAR = frozenset((int, float, bool, type(None)))
_ITEMS = (0, 8, 16, 24, 48)
"""Items of a list or an object whose words are looked at, by the levels that may still be below it."""
_READ = 4_096
"""Characters of a text whose words are looked at."""
HEAVY = 8_192
"""Characters of arguments beyond which only their beginning is kept."""
LONG = 48
"""Characters from which on it pays to look for a difference before masking."""


class Row:
    """A record with a saved form: the values of `FIELDS`, of which `PARTS` are records themselves, `MANY` several, `SETS` sets."""

    FIELDS: ClassVar[tuple[str, ...]] = ()
    PARTS: ClassVar[Mapping[str, type[Row]]] = {}
    MANY: ClassVar[Mapping[str, type[Row]]] = {}
    SETS: ClassVar[frozenset[str]] = frozenset()

    def settle(self) -> None:
        """Take the digests that were put off."""

    def complete(self) -> None:
        """Take what must be known once the record is saved."""
        self.settle()

    def row(self) -> list[Any]:
        """The saved form."""
        return _row_of(type(self), self)

    @classmethod
    def from_row(cls, row: list[Any]) -> Self:
        """The record that *row* was saved from; raises `ValueError` where it has another number of fields."""
        made = cls.__new__(cls)
        for name, value in zip(cls.FIELDS, row, strict=True):
            setattr(made, name, cls._taken_up(name, value))
        return made

    @classmethod
    def _taken_up(cls, name: str, value: Any) -> Any:
        if value is None:
            return None
        if name in cls.PARTS:
            return cls.PARTS[name].from_row(value)
        if name in cls.MANY:
            return tuple(cls.MANY[name].from_row(item) for item in value)
        return frozenset(value) if name in cls.SETS else value


def _row_of(kind: type[Row], record: Row) -> list[Any]:
    kind.complete(record)
    saved = []
    for name in kind.FIELDS:
        value = getattr(record, name)
        part = kind.PARTS.get(name)
        if part is not None and value is not None:
            value = _row_of(part, value)
        if name in kind.MANY:
            value = [_row_of(kind.MANY[name], item) for item in value]
        saved.append(sorted(value) if isinstance(value, (set, frozenset)) else value)
    return saved


class Sameness(Row):
    """The latest outcome of something, and whether the next one says anything else."""

    FIELDS: ClassVar[tuple[str, ...]] = ("raw", "masked", "receipt")
    raw = 0
    masked: int | None = None
    receipt = False
    text: str | None = None

    @property
    def aside(self) -> frozenset[str]:
        """Further names of fields that are no news."""
        return frozenset()

    def settle(self) -> None:
        """Mask the outcome now."""
        if self.masked is None:
            self.masked = self._digest(self.text or "")

    def _digest(self, text: str) -> int:
        masked = mask(text, self.aside)
        return text_digest(template(masked) if self.receipt else masked)

    def again(self, raw: int, text: str) -> bool:
        """Whether an outcome says the same; of a receipt (`agent-3 started`) the numbers are no news. Keeps the newer one."""
        if raw == self.raw:
            return True
        if not self.receipt and self.text is not None and len(text) > LONG and surely_differ(self.text, text, self.aside):
            self.raw, self.text, self.masked = raw, text, None
            return False
        Sameness.settle(self)
        masked = self._digest(text)
        if masked == self.masked:
            return True
        self.raw, self.text, self.masked = raw, text, masked
        return False

    def says(self, raw: int, text: str) -> bool:
        """Whether an outcome is the latest one; nothing is kept of it."""
        if raw == self.raw:
            return True
        Sameness.settle(self)
        return self._digest(text) == self.masked


class Said(Row):
    """The words of a call's arguments: all of them, those that choose what it does, and the first of these in their order."""

    FIELDS: ClassVar[tuple[str, ...]] = ("chosen", "everything", "spelt", "gist")
    SETS = frozenset(("chosen", "everything"))
    value: Any = None
    chosen: Sketch | None = None
    everything: Sketch | None = None
    spelt: Spelling = ()
    gist: tuple[int, ...] = ()

    def settle(self) -> None:
        """Take the sketches now."""
        if self.chosen is None:
            value = beginning(self.value)
            self.chosen = sketch(words_of(_choosing_text(value)))
            self.everything = sketch(words_of(text_of(value)))
            self.spelt = spelling(value, _NOT_CHOOSING)

    def complete(self) -> None:
        """Take the sketches and the gist now."""
        self.settle()
        self.gists()

    def gists(self) -> tuple[int, ...]:
        """What is left of the arguments without noise: calls that have one digest in common come to the same work."""
        if not self.gist:
            self.gist = gist_of(beginning(self.value))
        return self.gist

    def saved(self) -> list[Any]:
        """The saved form of the words alone."""
        return _row_of(Said, self)

    def is_like(self, other: Said, share: float) -> bool:
        """Whether two calls have so large a *share* of their choosing words in common."""
        self.settle()
        other.settle()
        return likeness(self.chosen or frozenset(), other.chosen or frozenset()) >= share

    def may_hold(self, text: str) -> bool:
        """Whether the first words of *text* may be among the words: a cheap test that only ever errs by saying yes."""
        value = self.value
        if type(value) is dict:
            texts = [item if type(item) is str else str(item) for item in value.values() if type(item) in _SIMPLE]
            if len(texts) < len(value):
                return True
            held = " ".join(texts).lower()
        elif type(value) is str:
            held = value.lower()
        else:
            return True
        return all(word in held for word in _FIRST_WORDS.findall(text[:80].lower())[:4])


def _choosing_text(args: Any) -> str:
    """The values of *args* without remarks, limits and throwaway names, which do not choose what a call does."""
    if not isinstance(args, dict):
        return text_of(args)
    return " ".join(text_of(value) for name, value in args.items() if not _stands_beside(name))


def is_heavy(args: Any) -> bool:
    """Whether *args* hold more than should be kept until the next call of the tool."""
    if type(args) is not dict:
        return type(args) is not str or len(args) > HEAVY if args is not None else False
    for item in args.values():
        if type(item) is str:
            if len(item) > HEAVY:
                return True
        elif type(item) not in _SCALAR and _weighs_much(item):
            return True
    return False


def _weighs_much(value: Any) -> bool:
    weight, pending = 0, [value]
    while pending and weight <= HEAVY:
        item = pending.pop()
        kind = type(item)
        if kind is str:
            weight += len(item)
        elif kind is dict or kind is list or kind is tuple:
            weight += 8 * len(item) + 8
            pending.extend(item.values() if kind is dict else item)
        elif kind not in _SCALAR:
            return True  # an object of the host's, which may change
    return weight > HEAVY


def beginning(value: Any, depth: int = 4) -> Any:
    """A copy of *value* with no more of its texts, lists and objects than a sketch has room for."""
    kind = type(value)
    if kind is str:
        return value[:_READ]
    if kind is list or kind is tuple:
        return [beginning(item, depth - 1) for item in value[: _ITEMS[depth]]] if depth else len(value)
    if kind is dict:
        return {name: beginning(value[name], depth - 1) for name in islice(value, _ITEMS[depth])} if depth else len(value)
    return value if kind in _SCALAR else text_of(value)[:_READ]  # an object of the host's may change


def _stands_beside(name: Any) -> bool:
    return type(name) is str and name.lower() in _NOT_CHOOSING


_NOT_CHOOSING = words.REMARK_FIELDS | words.LIMIT_FIELDS | words.THROWAWAY_FIELDS


def without(args: dict[Any, Any], fields: frozenset[str]) -> dict[Any, Any]:
    """*args* without those called as one of *fields*."""
    return {name: value for name, value in args.items() if type(name) is not str or name.lower() not in fields}


def with_plain_addresses(args: dict[Any, Any]) -> dict[Any, Any]:
    """*args* with their addresses as `plain_address` makes them."""
    return {name: plain_address(value) if type(value) is str else value for name, value in args.items()}


MOST_SAMPLED = 96
"""Words that are sampled of the answer of something that moves on."""


def answer_words(masked: str, whole: bool = False) -> Sketch:
    """
    Words of a masked answer, without its numbers: its first ones, or a sample of the *whole*.

    Pages begin alike. The sample is of those whose digests are lowest, so that of two answers it holds the same words.
    """
    if not whole:
        return sketch(words_of(template(masked)), 32)
    return frozenset(sorted(sketch(words_of(template(masked), 8_192), 2_048))[:MOST_SAMPLED])
