"""Values that no tool should give and that tools give."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import fractions
import pathlib
import uuid
from collections import OrderedDict, UserDict, UserList, deque, namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, SimpleNamespace
from typing import Any


class Failing:
    """Every question raises."""

    def _no(self, *_: Any) -> Any:
        raise RuntimeError("do not ask")

    __str__ = __repr__ = __eq__ = __bool__ = __len__ = __iter__ = __getitem__ = _no  # type: ignore[assignment]
    __hash__ = _no  # type: ignore[assignment]


class FailingAttributes:
    """Looking for an attribute raises, and not what one expects."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class FailingText:
    """No text, but attributes."""

    def __init__(self) -> None:
        self.name = "a"

    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__


class FailingKey:
    """A key that can be looked up and not be shown."""

    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__


class FailingMapping(Mapping[str, Any]):
    """A mapping that cannot be read."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("closed")

    def __iter__(self) -> Any:
        raise RuntimeError("closed")

    def __len__(self) -> int:
        return 3


class FailingSequence(Sequence[Any]):
    """A sequence that cannot be read."""

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError("closed")

    def __len__(self) -> int:
        return 3


class Plain:
    """An object whose text would be its address."""

    __slots__ = ()


class Holder:
    """An object with attributes and no text of its own."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Model:
    """As pydantic's models are: `model_dump` says what it holds."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self.fields


class BrokenModel:
    """As a model whose dump fails."""

    def model_dump(self) -> dict[str, Any]:
        raise RuntimeError("not validated")


class Endless:
    """Another object each time it is asked."""

    def model_dump(self) -> Any:
        return Endless()


class Array:
    """As numpy's arrays are: no truth value, comparison by element."""

    def __init__(self, *items: int) -> None:
        self.items = items

    def __bool__(self) -> bool:
        raise ValueError("the truth value of an array is ambiguous")

    def __eq__(self, other: object) -> Any:
        return Array(*(item == other for item in self.items))

    __hash__ = None  # type: ignore[assignment]


@dataclass
class Point:
    """A dataclass."""

    x: int
    y: list[int] = field(default_factory=list)


class Colour(enum.Enum):
    """An enumeration."""

    RED = "red"


Pair = namedtuple("Pair", "one other")  # noqa: PYI024


def nested(depth: int, kind: str = "list") -> Any:
    """Lists, dicts or both, *depth* deep."""
    value: Any = "bottom"
    for level in range(depth):
        value = [value] if kind == "list" or (kind == "both" and level % 2) else {"down": value}
    return value


def cyclic_list() -> Any:
    value: list[Any] = [1]
    value.append(value)
    return value


def cyclic_dict() -> Any:
    value: dict[str, Any] = {"name": "a"}
    value["self"] = {"inner": [value]}
    return value


def cyclic_object() -> Any:
    value = Holder(None)
    value.value = [value]
    return value


ODD: dict[str, Callable[[], Any]] = {
    "lone surrogate": lambda: "a\ud800b",
    "surrogate in a key": lambda: {"\udcff": "x"},
    "null characters": lambda: "\x00\x00",
    "nan": lambda: float("nan"),
    "infinities": lambda: [float("inf"), float("-inf"), float("nan")],
    "nan as JSON text": lambda: '{"x": NaN, "y": [Infinity]}',
    "70-bit integer": lambda: {"n": 2**70, "m": -(2**70)},
    "integer of 5,000 digits": lambda: {"n": 10**5_000},
    "integer of 5,000 digits as JSON text": lambda: '{"n": 1' + "0" * 5_000 + "}",
    "list that holds itself": cyclic_list,
    "dict that holds itself": cyclic_dict,
    "object that holds itself": cyclic_object,
    "lists 1,000 deep": lambda: nested(1_000),
    "dicts 1,000 deep": lambda: nested(1_000, "dict"),
    "both 10,000 deep": lambda: nested(10_000, "both"),
    "JSON text 100,000 deep": lambda: "[" * 100_000,
    "JSON text 5,000 deep, closed": lambda: "[" * 5_000 + "]" * 5_000,
    "object on which everything fails": Failing,
    "such an object inside": lambda: {"a": [Failing()], "b": Failing()},
    "object whose attributes fail": lambda: {"a": FailingAttributes()},
    "object whose text fails": lambda: {"a": FailingText()},
    "key whose text fails": lambda: {FailingKey(): 1, "a": 2},
    "mapping that cannot be read": FailingMapping,
    "such a mapping inside": lambda: {"a": FailingMapping()},
    "sequence that cannot be read": FailingSequence,
    "such a sequence inside": lambda: {"a": [FailingSequence()]},
    "keys of mixed types": lambda: {1: "a", "1": "b", None: "c", (1, 2): "d", 1.5: "e", False: "f"},
    "keys of mixed types in many": lambda: {**{str(n): n for n in range(500)}, 7: "x", None: "y"},
    "object with a default repr": Plain,
    "such objects in a list": lambda: {"items": [Plain(), Holder(Plain())]},
    "function": lambda: {"f": cyclic_list},
    "lambda": lambda: {"f": lambda: 1},
    "class": lambda: {"type": Plain},
    "generator": lambda: {"g": (n for n in range(3))},
    "bytes": lambda: {"b": b"\xff\x00", "c": bytearray(b"x"), "d": memoryview(b"y")},
    "only bytes": lambda: b"\xff\xfe",
    "sets": lambda: {"s": {"b", "a", "c"}, "f": frozenset((1, "1", None))},
    "only a set": lambda: {3, 1, 2},
    "dates": lambda: [dt.date(2026, 1, 2), dt.datetime(2026, 1, 2, tzinfo=dt.UTC), dt.timedelta(1), dt.time(1)],
    "dataclass": lambda: {"p": Point(1, [2])},
    "model": lambda: {"m": Model(a=1, b=Model(c=2))},
    "model whose dump fails": lambda: {"m": BrokenModel()},
    "model that goes on for ever": lambda: {"m": Endless()},
    "named tuple": lambda: {"p": Pair(1, Pair("a", None))},
    "enumeration": lambda: {"c": Colour.RED},
    "array": lambda: Array(1, 2),
    "such an array inside": lambda: {"a": Array(1, 2)},
    "numbers of other kinds": lambda: [decimal.Decimal("1.10"), fractions.Fraction(1, 3), 1 + 2j],
    "path and uuid": lambda: [pathlib.PurePosixPath("/a/b"), uuid.UUID(int=7)],
    "namespace": lambda: {"n": SimpleNamespace(a=1)},
    "other mappings": lambda: [UserDict(a=1), OrderedDict(b=2), MappingProxyType({"c": 3})],
    "other sequences": lambda: [UserList([1, 2]), deque([3, 4]), range(3)],
    "exception": lambda: ValueError("no"),
    "2,000 keys": lambda: {f"k{n}": n for n in range(2_000)},
    "a 2 MB text": lambda: {"t": "x" * 2_000_000},
    "nothing": lambda: None,
    "truth": lambda: True,
    "zero": lambda: 0,
    "empty ones": lambda: {"a": {}, "b": [], "c": "", "d": None},
    "not JSON after all": lambda: "{not json",
}
"""What it is, and how to make one anew."""
