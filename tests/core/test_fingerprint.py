"""When two calls, two outcomes or two texts are the same."""

from __future__ import annotations

import json
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest

from unstuck.fingerprint import LONGEST, arguments, call_fingerprint, canonical, hexed, text_digest, text_of, value_digest

ONE_CALL: list[tuple[Any, Any]] = [
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a": {"c": 1, "d": [1, 2]}}, {"a": {"d": [1, 2], "c": 1}}),
    ({"a": 1}, '{"a": 1}'),
    ({"a": 1}, '{"a":1}'),
    ({"a": 1, "b": "é"}, '{\n  "b": "\\u00e9",\n  "a": 1\n}'),
    ({"a": "😀"}, '{"a": "\\ud83d\\ude00"}'),
    ([1, "two", None], '[1, "two", null]'),
    ({"a": "x" * 5_000}, json.dumps({"a": "x" * 5_000})),
    ({"a": ["x" * 5_000]}, json.dumps({"a": ["x" * 5_000]})),
    ({"a": {"b": "x" * 70_000}}, json.dumps({"a": {"b": "x" * 70_000}})),
    ({f"k{n}": n for n in range(1_000)}, json.dumps({f"k{n}": n for n in reversed(range(1_000))})),
    ({"rows": [{"n": n, "m": [n]} for n in range(1_000)]}, json.dumps({"rows": [{"m": [n], "n": n} for n in range(1_000)]})),
    ({"a": (1, 2)}, {"a": [1, 2]}),
    ({"a": 1.5}, '{"a": 1.50}'),
    (OrderedDict(b=1, a=2), {"a": 2, "b": 1}),
    (MappingProxyType({"a": 1}), {"a": 1}),
    (None, {}),
    (None, ""),
    ({}, "{}"),
]


@pytest.mark.parametrize(("one", "other"), ONE_CALL, ids=lambda value: repr(value)[:40])
def test_one_call_in_two_spellings_has_one_fingerprint(one: Any, other: Any):
    """The order of arguments, an object or its JSON text, tuple or list, no arguments in three ways: all the same."""
    assert call_fingerprint("tool", one) == call_fingerprint("tool", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("read", {"a": 1}), ("write", {"a": 1})),
        (("read", {"a": 1}), ("read", {"b": 1})),
        (("read", {"a": "1"}), ("read", {"a": 1})),
        (("read", {"a": 1}), ("read", {"a": 1.5})),
        (("read", {"a": [1, 2]}), ("read", {"a": [2, 1]})),
        (("read", {"a": None}), ("read", None)),
        (("read", "plain"), ("read", {"a": "plain"})),
        (("read", "{broken"), ("read", None)),
        (("read", " "), ("read", "")),
        (("a", "bc"), ("ab", "c")),
        (("a\x00", "b"), ("a", "\x00b")),
        (("read", {"a": "x" * 5_000 + "y"}), ("read", {"a": "x" * 5_000 + "z"})),
        (("read", {"a": {"t": "x" * 5_000}}), ("read", {"a": {"t": "x" * 4_999}})),
        (("read", {"a": True}), ("read", {"a": "true"})),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_two_calls_have_two_fingerprints(one: tuple[str, Any], other: tuple[str, Any]):
    """Another tool, name, value, type or order in a list is another call."""
    assert call_fingerprint(*one) != call_fingerprint(*other)


def test_text_beyond_the_bound_is_told_apart_by_length_and_ends():
    """Eight million characters are read; of a longer text its length and the ends."""
    base = "a" * (LONGEST + 100)
    assert text_digest(base) == text_digest("a" * (LONGEST + 100))
    assert text_digest(base) != text_digest(base + "a")
    assert text_digest(base) != text_digest("b" + base[1:])
    assert text_digest(base) != text_digest(base[:-1] + "b")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("as it is", "as it is"),
        (None, ""),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ([{"text": "one"}], "one"),
        ([{"type": "image", "text": "one"}], '[{"text":"one","type":"image"}]'),
        ({"b": 1, "a": [None, True]}, '{"a":[null,true],"b":1}'),
        ([], "[]"),
        (0, "0"),
        (False, "false"),
    ],
    ids=repr,
)
def test_a_result_as_text(content: Any, expected: str):
    """Text blocks are joined, other values stand in one form whatever the order of their keys."""
    assert text_of(content) == expected


def test_the_digest_of_a_text_is_that_of_the_result_it_is():
    """A result that is text is judged as text."""
    assert value_digest("abc") == text_digest("abc")
    assert value_digest({"a": 1}) != text_digest("abc")


def test_digests_stay_what_they_are():
    """They stand in reports and baselines: a change of the form would make every known finding a new one."""
    assert hexed(text_digest("")) == "2d06800538d394c2"
    assert hexed(text_digest("the same")) == hexed(value_digest("the same"))
    assert canonical({"b": [1, None, "é"], "a": 1.5}) == b'{"a":1.5,"b":[1,null,"\\u00e9"]}'
    assert hexed(0) == "0" * 16
    assert hexed(2**64 - 1) == "f" * 16


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1]", [1]),
        ("{broken", "{broken"),
        ("plain", "plain"),
        ("3", "3"),
        ('"text"', '"text"'),
        (None, None),
        ({"a": 1}, {"a": 1}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (7, 7),
    ],
    ids=repr,
)
def test_arguments_as_a_value(given: Any, expected: Any):
    """JSON text of an object or an array is decoded; what is no such text stays."""
    assert arguments(given) == expected
