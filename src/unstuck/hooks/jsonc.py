"""
JSON with comments, edited as text.

A settings file belongs to a person: their comments, order, indentation and line ends stay as they are. So nothing is written anew;
values are found with their place in the text, and only pieces are put in or taken out.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_TRIVIA = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/(?=[ \t]*[\r\n]))")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"[-+.\w]+")
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)


class Node(NamedTuple):
    """A value from *start* to *end* in the text; *keys* are those of an object, whose values are the *children*."""

    value: Any
    start: int
    end: int
    keys: tuple[str, ...] = ()
    places: tuple[int, ...] = ()
    children: tuple[Node, ...] = ()

    def child(self, key: str) -> int | None:
        """Which child has *key*; of several, the last, as JSON readers take it."""
        return next((n for n in range(len(self.keys) - 1, -1, -1) if self.keys[n] == key), None)


def parse(text: str) -> Node:
    """The value in *text*; raises `ValueError` with line and column where it is no JSON, comments and trailing commas aside."""
    node, end = _value(text, _past(text, 0))
    end = _past(text, end)
    if end != len(text):
        raise _wrong(text, end, "something stands behind the value")
    return node


def _past(text: str, at: int) -> int:
    found = _TRIVIA.match(text, at)
    return found.end() if found else at


def _wrong(text: str, at: int, problem: str) -> ValueError:
    line = text.count("\n", 0, at) + 1
    return ValueError(f"line {line}, column {at - text.rfind(chr(10), 0, at)}: {problem}")


def _value(text: str, at: int) -> tuple[Node, int]:
    if text[at : at + 1] in ("{", "["):
        return _container(text, at)
    found = (_STRING if text[at : at + 1] == '"' else _SCALAR).match(text, at)
    if found is None:
        raise _wrong(text, at, "a value is missing" if at < len(text) else "the text ends too early")
    try:
        value = json.loads(found[0])
    except ValueError:
        raise _wrong(text, at, "this is no value") from None
    return Node(value, at, found.end()), found.end()


def _container(text: str, start: int) -> tuple[Node, int]:
    is_object = text[start] == "{"
    keys: list[str] = []
    places: list[int] = []
    children: list[Node] = []
    at = _past(text, start + 1)
    while text[at : at + 1] != ("}" if is_object else "]"):
        places.append(at)
        if is_object:
            key, at = _value(text, at)
            if not isinstance(key.value, str):
                raise _wrong(text, key.start, "a name in double quotes is missing")
            keys.append(key.value)
            at = _past(text, at)
            if text[at : at + 1] != ":":
                raise _wrong(text, at, "a colon is missing")
            at = _past(text, at + 1)
        child, at = _value(text, at)
        children.append(child)
        at = _past(text, at)
        if text[at : at + 1] == ",":
            at = _past(text, at + 1)
        elif text[at : at + 1] not in ("}", "]"):
            raise _wrong(text, at, "a comma is missing" if at < len(text) else "the text ends too early")
    values = [child.value for child in children]
    value: Any = dict(zip(keys, values, strict=True)) if is_object else values
    return Node(value, start, at + 1, tuple(keys), tuple(places), tuple(children)), at + 1


def insert(text: str, into: Node, value: Any, key: str | None = None) -> str:
    """*text* with *value* (under *key*, where *into* is an object) as the last child of *into*."""
    newline, unit = _newline(text), _unit(text)
    base = _indent_at(text, into.start)
    spread = not into.children or "\n" in text[into.start : into.places[0]]
    inner = _indent_at(text, into.places[0]) if into.children and spread else base + unit
    written = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + inner)
    if key is not None:
        written = f"{json.dumps(key)}: {written}"
    gap = newline + inner if spread else " "
    if not into.children:
        closing = newline + base if into.end - into.start == 2 else ""
        at = into.start + 1
        return text[:at] + gap + written + closing + text[at:]
    at = into.children[-1].end
    comma = _past(text, at)
    if text[comma] == ",":
        behind = _line_end(text, comma + 1)
        return text[:behind] + gap + written + "," + text[behind:]
    behind = _line_end(text, at)
    return text[:at] + "," + text[at:behind] + gap + written + text[behind:]


def remove(text: str, out_of: Node, index: int) -> str:
    """*text* without the child *index* of *out_of*, and without the comma that it needed."""
    start, end = out_of.places[index], out_of.children[index].end
    comma = _past(text, end)
    if index:
        before = _past(text, out_of.children[index - 1].end)
        kept, rest = text[before + 1 : start].rstrip(), text[end:]
        if "//" in kept and rest.lstrip(" \t")[:1] not in ("\r", "\n"):
            kept += _newline(text)
        return text[:before] + kept + rest
    if text[comma] == ",":
        end = comma + 1
    if len(out_of.children) > 1:
        rest = text[end:]
        return text[:start] + rest.lstrip()
    between = text[out_of.start + 1 : start]
    return text[: start if between.strip() else out_of.start + 1] + text[end:]


def _line_end(text: str, at: int) -> int:
    """Behind the comment that stands on the same line as what ends *at*; *at* itself where there is none."""
    found = _COMMENT.match(text, at)
    return found.end() if found else at


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
