"""What the parts of a message say, as JSON values that can be compared."""

from __future__ import annotations

from itertools import islice
from typing import Any, TypeAlias

from pydantic_ai.messages import NativeToolReturnPart, ToolReturnPart, is_multi_modal_content
from pydantic_core import to_jsonable_python

ReturnPart: TypeAlias = ToolReturnPart | NativeToolReturnPart
_PLAIN = frozenset((str, int, bool, float, type(None)))
_JSON = _PLAIN | {dict, list}


def content_of(part: ReturnPart) -> Any:
    """What was returned, as its JSON export has it; files by their identifier."""
    return jsonable(part.content)


def jsonable(content: Any) -> Any:
    """*content* as JSON values, files by their identifier; what has no JSON form comes back as it is."""
    if _is_json(content, 4):
        return content
    try:
        return to_jsonable_python(_without_data(content))
    except Exception:
        return content


def _is_json(content: Any, levels: int) -> bool:
    """Whether *content* is made of JSON values, judged by its outer *levels* and by the first of many alike: copying costs much."""
    kind = type(content)
    if kind in _PLAIN or levels == 0:
        return True
    if kind is dict:
        return all(_is_json(value, levels - 1) for value in islice(content.values(), 32))
    if kind is not list:
        return False
    kinds = set(map(type, content))
    return kinds <= _PLAIN or (kinds <= _JSON and all(_is_json(item, levels - 1) for item in content[:8]))


def _without_data(content: Any) -> Any:
    if isinstance(content, list):
        return [_without_data(item) for item in content]
    return {"file": content.identifier} if is_multi_modal_content(content) else content
