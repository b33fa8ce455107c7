"""
Hooks run beside a coding agent: one module an agent turns what it says on standard input into events, and a decision into what it
understands on standard output.

`AGENTS` is the whole table. Each module has what `unstuck.hooks.dialect.Dialect` describes, and is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from unstuck.hooks.dialect import Dialect

AGENTS: Mapping[str, str] = {
    "claude_code": "unstuck.hooks.claude_code",
    "codex": "unstuck.hooks.codex",
    "gemini_cli": "unstuck.hooks.gemini_cli",
    "qwen_code": "unstuck.hooks.qwen_code",
}
"""Name -> module, in the order in which they are shown."""


def module_of(name: str) -> Dialect:
    """The module of the coding agent *name*; raises `KeyError` for an unknown one."""
    return cast("Dialect", import_module(AGENTS[name]))
