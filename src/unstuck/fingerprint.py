"""
When two calls, two outcomes or two texts are the same.

Equality is decided on 64-bit xxh3 digests of a canonical form. The form is total: every Python value has one, whatever its
keys, depth or `__str__` do, and it is the same for a dict and for the same object as JSON text. Work is bounded: text over
`LONGEST` characters is represented by its length and both ends, nested values over `MOST_NODES` nodes by those visited first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from marshal import dumps as _dumps
from typing import Any

from xxhash import xxh3_64_intdigest as _xxh

LONGEST = 8 * 1024 * 1024
"""Characters of one text that are read; of a longer one the first and the last half of this."""
DEEPEST = 64
"""Levels of nesting that are told apart in values that the JSON encoder refuses."""
MOST_NODES = 100_000
"""Values that are visited in such a structure."""
_MANY = 256
_LONG = 1_024

_PLAIN = frozenset((str, int, bool, type(None), float))

form_digest: Callable[[bytes], int] = _xxh
"""The digest of a canonical form."""


def text_digest(text: str) -> int:
    """The digest of *text*, lone surrogates included."""
    if len(text) > LONGEST:
        text = f"{len(text)}\x00{text[: LONGEST // 2]}{text[-LONGEST // 2 :]}"
    return _xxh(text.encode("utf-8", "surrogatepass"))


def hexed(digest: int) -> str:
    """A digest as it stands in reports: 16 hexadecimal digits."""
    return f"{digest:016x}"


def call_fingerprint(tool: str, args: Any) -> int:
    """
    The identity of a call: its tool and its arguments, whatever their order and whether they come as an object or as JSON.

    `None`, an empty object and an empty text are the same absence of arguments.
    """
    if type(args) is not dict:
        args = arguments(args)
    form = flat_form(tool, args)
    return _xxh(tool.encode("utf-8", "surrogatepass") + b"\x00" + _canonical_args(args) if form is None else form)


def flat_form(tool: str, args: Any) -> bytes | None:
    """What `call_fingerprint` is the digest of where *args* hold nothing nested, as most do; `None` where they do."""
    if type(args) is not dict or not args:
        return None
    for item in args.values():
        if type(item) is not str and (type(item) not in _PLAIN or item != item):  # noqa: PLR0124 - one number is not itself
            return None
    try:
        pairs = sorted(args.items())
    except TypeError:  # names of several types
        return None
    if type(pairs[0][0]) is not str:
        return None
    # This form has not changed since Python 3.4 and costs a third of JSON.
    form = _dumps((tool, pairs), 2)
    return form if len(form) <= LONGEST else None


def value_digest(value: Any) -> int:
    """The digest of a result: text as it is, anything else by its canonical form."""
    return text_digest(value) if type(value) is str else _xxh(canonical(value))


def arguments(args: Any) -> Any:
    """
    Arguments as a value: JSON text of an object or an array is decoded, a mapping of another kind copied (to its canonical text
    where it cannot be read), anything else comes back as it is.
    """
    if type(args) is str and args[:1] in ("{", "["):
        try:
            return _decode(args)
        except (ValueError, RecursionError):
            return args
    if type(args) not in _PLAIN and type(args) is not dict and isinstance(args, Mapping):
        try:
            return dict(args)
        except Exception:
            return text_of(args)
    return args


def canonical(value: Any) -> bytes:
    """A canonical form of any value, as ASCII or UTF-8 bytes: equal for equal content, whatever the order of keys."""
    try:
        if type(value) is dict:
            for item in value.values():
                kind = type(item)
                if kind not in _PLAIN or (kind is str and len(item) > _LONG):
                    break
            else:
                return _encode(value)
            value = _shortened(value)
        if _node_count(value, _MANY) >= _MANY:
            return _canonical_large(value)
        return _encode(value)
    except Exception:  # whatever a foreign object raises
        return _encode(_tree(value, DEEPEST, [MOST_NODES], frozenset()))


def _shortened(value: dict[Any, Any]) -> dict[Any, Any]:
    """*value* with its long texts replaced by their digests, which cost a tenth of what escaping them would."""
    return {
        key: {"$text": text_digest(item)} if type(item) is str and len(item) > _LONG else item for key, item in value.items()
    }


def text_of(content: Any) -> str:
    """A result as text: text as it is, text blocks joined by line breaks, anything else in its canonical form."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list) and content and all(_is_text_block(block) for block in content):
        return "\n".join(block["text"] for block in content)
    return canonical(content).decode("utf-8", "surrogatepass")


def _is_text_block(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("text"), str) and block.get("type", "text") == "text"


def _canonical_args(args: Any) -> bytes:
    value = arguments(args)
    if value is None or (type(value) in (dict, str) and not value):
        return b"{}"
    return canonical(value)


def _node_count(value: Any, limit: int) -> int:
    """How many values *value* holds, counted up to *limit*; the same for every order of its keys."""
    if type(value) in _PLAIN:
        return 1
    total, pending = 0, [value]
    while pending and total < limit:
        item = pending.pop()
        kind = type(item)
        total += 1
        if kind is dict or kind is list or kind is tuple:
            total += len(item)
            if total < limit:
                children = item.values() if kind is dict else item
                pending.extend([child for child in children if type(child) not in _PLAIN])
    return total


def _canonical_large(value: Any) -> bytes:
    # msgspec writes sorted JSON several times as fast as json, but costs more to import than the rest of the core: only
    # large values, which no hook process sees often, are worth it. A value is always counted the same, so it always takes
    # the same way and has one digest.
    import msgspec

    try:
        return msgspec.json.encode(value, order="deterministic", enc_hook=_encodable)
    except Exception:
        return _encode(_tree(value, DEEPEST, [MOST_NODES], frozenset()))


def _decode(text: str) -> Any:
    if len(text) > 65_536:
        import msgspec

        try:
            return msgspec.json.decode(text)
        except (msgspec.MsgspecError, UnicodeError):
            pass
    return json.loads(text)


def _encodable(value: Any) -> Any:
    """What stands for a value that JSON has no form for; never depends on addresses, clocks or the order of sets."""
    name = type(value).__qualname__
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"$bytes": len(value), "$digest": _xxh(bytes(value))}
    if isinstance(value, Mapping):
        return {str(key): item for key, item in value.items()}
    if isinstance(value, Set):
        return {"$set": sorted(canonical(item).decode("utf-8", "replace") for item in value)}
    if isinstance(value, Sequence):
        return list(value)
    for form in ("model_dump", "_asdict", "isoformat", "as_posix"):
        method = getattr(value, form, None)
        if callable(method) and not isinstance(value, type):
            try:
                return {"$type": name, "$value": method()}
            except Exception:
                break
    fields = getattr(value, "__dict__", None)
    if fields and not isinstance(value, type):
        return {"$type": name, **{str(key): item for key, item in fields.items()}}
    return {"$type": name, "$text": _stable_text(value)}


def _stable_text(value: Any) -> str | None:
    kind: Any = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        return None  # would print the object's address
    try:
        return _ADDRESS.sub("", str(value))[:LONGEST]
    except Exception:
        return None


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_c_make_encoder: Any = getattr(json.encoder, "c_make_encoder", None)


def _encoder() -> Callable[[Any, int], Iterable[str]]:
    # JSONEncoder.encode builds its C encoder anew on every call, which costs as much as encoding small arguments.
    if _c_make_encoder is None:
        slow = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_encodable).encode
        return lambda value, _level: (slow(value),)
    made: Callable[[Any, int], Iterable[str]] = _c_make_encoder(
        None, _encodable, json.encoder.encode_basestring_ascii, None, ":", ",", True, False, True
    )
    return made


_pieces = _encoder()
"""The pieces of a value's sorted JSON text."""


def _encode(value: Any) -> bytes:
    return "".join(_pieces(value, 0)).encode("ascii")


def _tree(value: Any, depth: int, budget: list[int], above: frozenset[int]) -> Any:
    """*value* with everything that makes the encoder fail replaced: cycles, depth, keys of mixed types, endless numbers."""
    budget[0] -= 1
    if type(value) is int and value.bit_length() > _LONG:
        return {"$int": hex(value)}
    if type(value) in _PLAIN:
        return value
    if depth == 0 or budget[0] < 0:
        return {"$deeper": type(value).__qualname__}
    if id(value) in above:
        return {"$cycle": True}
    above = above | {id(value)}
    try:
        if isinstance(value, Mapping):
            pairs = sorted(((_key(key), key) for key in value), key=lambda pair: pair[0])
            return {text: _tree(value[key], depth - 1, budget, above) for text, key in pairs}
        if isinstance(value, (list, tuple)):
            return [_tree(item, depth - 1, budget, above) for item in value[: max(budget[0], 0) + 1]]
        return _tree(_encodable(value), depth - 1, budget, above)
    except Exception:
        return {"$type": type(value).__qualname__}


def _key(key: Any) -> str:
    return key if type(key) is str else f"{type(key).__name__}:{_stable_text(key)}"
