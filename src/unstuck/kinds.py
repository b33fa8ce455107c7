"""
What a tool is: does it look, change something, wait, talk, pass work on?

Sources, the first that answers wins: the user's table, MCP annotations, the tool's name, for shells the command itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from unstuck import words
from unstuck.fingerprint import text_digest
from unstuck.words import Words

Kind: TypeAlias = Literal["read", "write", "wait", "talk", "delegate", "shell", "step", "other"]
"""
`shell` is a command line that neither surely looks nor surely changes; `step` moves something on by one (a key, a click, a page), so that
the same call may well come to something else; `other` is a tool about which nothing is known.
"""

KINDS: frozenset[str] = frozenset(get_args(Kind))

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STEP = re.compile(r"&&|\|\||[;|\n]")
_REDIRECT = re.compile(r"(?<![0-9&=\-])>>?(?!\s*(?:/dev/null|&))")
_PREFIXES = frozenset(("sudo", "env", "time", "nohup", "command", "exec", "xargs", "then", "do", "("))
_SQL_WRITE = frozenset("insert update delete create drop alter replace truncate grant".split())
_SQL_READ = frozenset("select show describe desc explain pragma with use".split())


class Kinds(NamedTuple):
    """
    How to tell a tool's kind: *table* maps tool names to kinds and wins over everything, *words* extends the word lists.

    A name that ends with `*` in *table* stands for every tool that begins so.
    """

    table: Mapping[str, Kind] = {}
    words: Words = Words()

    def of(self, tool: str, args: Any = None, annotations: Mapping[str, Any] | None = None) -> Kind:
        """The kind of *tool* when called with *args* (a value, not JSON text); *annotations* are MCP hints or hold `kind`."""
        if self.table:
            named = self._named(tool)
            if named is not None:
                return named
        if isinstance(annotations, Mapping):
            hinted = _hinted(annotations)
            if hinted is not None:
                return hinted
        kind = kind_of_name(tool, self.words)
        if kind == "shell":
            return kind_of_command(command_of(args))
        return kind

    def _named(self, tool: str) -> Kind | None:
        if tool in self.table:
            return self.table[tool]
        for pattern, kind in self.table.items():
            if pattern.endswith("*") and tool.startswith(pattern[:-1]):
                return kind
        return None


def _hinted(annotations: Mapping[str, Any]) -> Kind | None:
    kind = annotations.get("kind")
    if isinstance(kind, str) and kind in KINDS:
        return kind  # type: ignore[return-value]
    read_only = annotations.get("readOnlyHint")
    if read_only is True:
        return "read"
    if read_only is False or annotations.get("destructiveHint") is True:
        return "write"
    return None


_AGENTS = frozenset(("agent", "subagent"))


@lru_cache(maxsize=1024)
def kind_of_name(tool: str, extra: Words = Words()) -> Kind:
    """The kind that a tool's name suggests; of an MCP name (`mcp__server__tool`) the last part counts."""
    parts = [word.lower() for word in _WORD.findall(tool.rsplit("__", 1)[-1])]
    if len(parts) > 1 and parts[0] in words.ROOMS:
        del parts[0]
    if not parts:
        return "other"
    first, all_parts = parts[0], frozenset(parts)
    looks = first in words.READ or bool(all_parts & words.WAIT)  # at how an agent or a task gets on
    passes_on = first in words.DELEGATE or all_parts & _AGENTS or len(parts) == 1
    if passes_on and not looks and all_parts & (words.DELEGATE | extra.delegate):
        return "delegate"
    if first in words.STEP or first in extra.step:
        return "step"
    if first in words.WRITE or first in extra.write:
        return "write"
    if all_parts & (words.WAIT | extra.wait):
        return "wait"
    if first in words.READ or first in extra.read:
        return "read"
    if all_parts & (words.SHELL | extra.shell) or all_parts <= words.CODE:
        return "shell"
    if first in words.TALK or first in extra.talk or (first == "send" and all_parts & words.TALK):
        return "talk"
    rest = all_parts - {first}
    if rest & (words.WRITE | extra.write) or first == "send":
        return "write"
    return "read" if rest & (words.READ | extra.read) else "other"


def command_of(args: Any) -> str | None:
    """The command line or code among *args*, `None` where there is none."""
    if isinstance(args, str):
        return args
    if not isinstance(args, Mapping):
        return None
    for field in words.COMMAND_FIELDS:
        value = args.get(field)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return " ".join(item for item in value if isinstance(item, str))
    return None


def kind_of_command(command: str | None) -> Kind:
    """The kind of one command line: any part that changes something makes it a write, else any wait, else reads."""
    if not command or len(command) > 16_384:
        return "shell"
    if _REDIRECT.search(command) and not command.lstrip()[:7].lower().startswith(("select", "with")):
        return "write"
    found = {_kind_of_step(step) for step in _STEP.split(command)} - {None}
    for kind in ("write", "wait", "shell", "read"):
        if kind in found:
            return kind
    return "shell"


def _kind_of_step(step: str) -> Kind | None:
    tokens = step.split()
    at = next((at for at, token in enumerate(tokens) if token not in _PREFIXES and "=" not in token), len(tokens))
    tokens = tokens[at:]
    if not tokens or tokens[0] in ("cd", "set", "export", "true", "fi", "done"):
        return None
    program = tokens[0].rsplit("/", 1)[-1].lower()
    if program in _SQL_WRITE and len(tokens) > 2:
        return "write"
    if program in _SQL_READ and len(tokens) > 1:
        return "read"
    if program == "sed":
        return "write" if any(token.startswith("-i") or token == "--in-place" for token in tokens) else "read"
    if program in words.SHELL_WRITE and program not in words.SHELL_READ:
        return "write"
    if program in words.SHELL_WAIT:
        return "wait"
    if program in words.SHELL_READ:
        return "read"
    for token in tokens[1:3]:
        if token in words.SHELL_WRITE:
            return "write"
        if token in words.SHELL_READ:
            return "read"
    return "shell"


def target_digest(args: Any) -> int:
    """The digest of what *args* name as the call's target (a path, a URL); 0 where they name none."""
    if type(args) is dict or isinstance(args, Mapping):
        for field in words.PATH_FIELDS:
            value = args.get(field)
            if isinstance(value, str):
                return text_digest(value)
    return 0
