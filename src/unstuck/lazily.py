"""Regular expressions that are compiled when they are first used: a process that lives for one hook uses few of them."""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "sub", "findall", "finditer", "split")


def lazily(source: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` makes of *source*, made at the first use of one of its methods."""
    return cast("re.Pattern[str]", _Lazily(source, flags))


class _Lazily:
    def __init__(self, source: str, flags: int) -> None:
        self._made = source, flags

    def __getattr__(self, name: str) -> Any:
        source, flags = self.__dict__["_made"]
        made = re.compile(source, flags)
        for method in _METHODS:  # found without a detour from now on
            self.__dict__[method] = getattr(made, method)
        return getattr(made, name)
