"""One record of a trace: bytes to a typed value, and the small readings that several formats share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar, cast

import msgspec

from unstuck.events import Usage

T = TypeVar("T")
Decoder: TypeAlias = msgspec.json.Decoder[T]
ANY: Decoder[Any] = msgspec.json.Decoder()


def decode(line: bytes, decoder: Decoder[T]) -> T:
    """
    The value of *line*, in the decoder's type.

    What msgspec refuses is tried again with the standard library, which also takes `NaN`, lone surrogates and huge numbers, as
    Python programs write them. Raises `ValueError` saying what is wrong, without quoting the content.
    """
    try:
        return decoder.decode(line)
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    try:
        return cast("T", msgspec.convert(json.loads(line.rstrip().decode("utf-8", "surrogatepass")), decoder.type))
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error.msg} at column {error.colno}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start + 1}") from None
    except msgspec.ValidationError as error:
        raise ValueError(f"not a record of this format: {error}") from None
    except ValueError:
        raise ValueError("a number is too long to be read") from None


GUARD = "[unstuck] "
"""What every text begins with that a live guard put into a conversation."""


def unguarded(content: Any) -> tuple[Any, bool]:
    """A result without the nudge that a guard may have put behind it, and whether the guard answered in place of the tool."""
    if not isinstance(content, str):
        return content, False
    return content.partition(f"\n\n{GUARD}")[0], content.startswith(GUARD)


def seconds(value: object) -> float | None:
    """A time as seconds since 1970: ISO text, or a number of seconds or (above 10^11) milliseconds; `None` for anything else."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value / 1000 if value > 1e11 else float(value)
    return None


def text(value: object) -> str | None:
    """*value* where it is text that says something."""
    return value if isinstance(value, str) and value else None


def word(value: object) -> str:
    """*value* where it is text, else an empty word: what stands in place of a name may be anything, even unhashable."""
    return value if isinstance(value, str) else ""


def count(fields: Mapping[str, Any], *names: str) -> int:
    """The first of the fields *names* that holds a number of tokens, else 0."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15:
            return int(value)
    return 0


def known(usage: Usage) -> Usage | None:
    """*usage*, or `None` where it says nothing."""
    return usage if any(usage) else None


def joined(blocks: object) -> object:
    """
    A content field as text where it is text alone: a string, or a list of text blocks joined by line ends.

    Anything else (images, objects) comes back as it is.
    """
    if not isinstance(blocks, list):
        return blocks
    parts = [block.get("text") if isinstance(block, dict) else block for block in blocks]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if len(texts) == len(parts) else blocks
