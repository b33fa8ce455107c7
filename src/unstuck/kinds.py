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
from unstuck.commands import command_of, kind_of_command, kind_of_sql
from unstuck.fingerprint import text_digest
from unstuck.lazily import lazily
from unstuck.words import Words

Kind: TypeAlias = Literal["read", "write", "wait", "talk", "delegate", "shell", "step", "other"]
"""
`shell` is a command line that neither surely looks nor surely changes; `step` moves something on by one (a key, a click, a page), so that
the same call may well come to something else; `other` is a tool about which nothing is known.
"""

KINDS: frozenset[str] = frozenset(get_args(Kind))

_WORD = lazily(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


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
            told = kind_of_debugging(command_of(args)) if "debugger" in _aspects(tool) else None
            return told or kind_of_command(command_of(args))
        return _told(tool, kind, args) or kind

    def by_name(self, tool: str) -> Kind | None:
        """
        The kind that *tool* has whatever its arguments are, `None` where they decide.

        Of a tool that is `other` by its name the arguments still decide where they hold one of `TELLING_FIELDS`.
        """
        named = self._named(tool) if self.table else None
        if named is not None:
            return named
        kind = kind_of_name(tool, self.words)
        return None if kind == "shell" or _aspects(tool) else kind

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


_OLD, _NEW, _CONTENT = (
    frozenset(words.OLD_FIELDS) - {"search", "find"},
    frozenset(words.NEW_FIELDS),
    frozenset(words.CONTENT_FIELDS),
)
TELLING_FIELDS = frozenset(words.ACTION_FIELDS) | _OLD | {"file_text", "new_content", "new_source", "patch", "diff"}
"""Arguments by which a tool is looked at whose name says nothing."""
_AGENTS = frozenset(("agent", "subagent"))
_PLANNING: dict[tuple[str, ...], Kind] = {
    ("task", "create"): "talk",
    ("task", "update"): "talk",
    ("task", "list"): "read",
    ("task", "get"): "read",
}
"""Tools of a to-do list whose names are those of delegation."""


@lru_cache(maxsize=1024)
def kind_of_name(tool: str, extra: Words = Words()) -> Kind:
    """The kind that a tool's name suggests; of an MCP name (`mcp__server__tool`) the last part counts."""
    parts = _parts(tool)
    if len(parts) > 1 and parts[0] in words.ROOMS:
        del parts[0]
    if not parts:
        return "other"
    first, all_parts = parts[0], frozenset(parts)
    if _is_note(parts):
        return "read" if first in words.READ or parts[-1] in words.RECALLING else "talk"
    planned = _PLANNING.get(tuple(parts))
    if planned is not None:
        return planned
    looks = first in words.READ or bool(all_parts & words.WAIT)  # at how an agent or a task gets on
    passes_on = first in words.DELEGATE or all_parts & _AGENTS or len(parts) == 1
    if passes_on and not looks and all_parts & (words.DELEGATE | extra.delegate):
        return "delegate"
    if first in words.STEP or first in extra.step:
        return "step"
    if first in words.WRITE or first in extra.write or parts[-1] == "replace":
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


def _parts(tool: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(tool.rsplit("__", 1)[-1])]


def _is_note(parts: list[str]) -> bool:
    """Whether a name is made of words for what an agent writes down for itself: a plan, a to-do list, a thought, a memory."""
    if parts[-1] == "progress":
        return parts[0] in words.REPORTING
    return not words.NOTES.isdisjoint(parts) and all(part in words.NOTES or part in words.NOTING for part in parts)


@lru_cache(maxsize=1024)
def _aspects(tool: str) -> frozenset[str]:
    """What in the arguments tells the kind of a tool with that name: `action`, `sql`, `note`, `debugger`."""
    parts = _parts(tool)
    found = {"action"} if not words.ACTING.isdisjoint(parts) else set()
    if not words.SQL.isdisjoint(parts):
        found.add("sql")
    if parts and _is_note(parts):
        found.add("note")
    if not words.DEBUGGERS.isdisjoint(parts):
        found.add("debugger")
    return frozenset(found)


def _told(tool: str, kind: Kind, args: Any) -> Kind | None:
    """The kind that *args* tell of a tool which is *kind* by its name, `None` where they tell nothing."""
    aspects = _aspects(tool)
    if not aspects and (kind != "other" or not isinstance(args, Mapping) or TELLING_FIELDS.isdisjoint(args)):
        return None
    if "sql" in aspects:
        statement = (
            args if isinstance(args, str) else next(filter(None, (_text(args, name) for name in words.SQL_FIELDS)), None)
        )
        told = kind_of_sql(statement) if statement is not None else None
        if told is not None:
            return told
    if "debugger" in aspects:
        debugged = kind_of_debugging(command_of(args))
        if debugged is not None:
            return debugged
    named = kind_of_action(args)
    if named is None and kind == "other" and isinstance(args, Mapping) and _is_edit(args):
        return "write"
    if "note" in aspects:
        return "read" if named == "read" else None
    return named


def _is_edit(args: Mapping[str, Any]) -> bool:
    """Whether a call says what it takes out and what it puts in, or what the whole content of its target is to be."""
    if not _OLD.isdisjoint(args) and not _NEW.isdisjoint(args):
        return True
    return not _CONTENT.isdisjoint(args) and any(isinstance(args.get(field), str) for field in words.PATH_FIELDS)


def kind_of_action(args: Any) -> Kind | None:
    """The kind of what *args* name as the action of a tool that can do several things, `None` where they name none that is known."""
    for field in words.ACTION_FIELDS:
        value = _text(args, field)
        if value is None or len(value) > 40 or value == "POST" or any(character.isspace() for character in value):
            continue
        if not words.STEP.isdisjoint(_parts(value)):
            return "step"
        kind = kind_of_name(value)
        if kind in ("read", "write", "wait", "talk"):
            return kind
    return None


def kind_of_debugging(command: str | None) -> Kind | None:
    """The kind of a debugger's commands, `None` where none of them is known: any that moves the program on makes it a step."""
    found = {
        re.split(r"[\s/]", line.strip().lstrip("-").lower(), maxsplit=1)[0]
        for line in re.split(r"[\n;]", (command or "")[:4_096])
    }
    if not words.DEBUG_STEP.isdisjoint(found):
        return "step"
    if not words.DEBUG_WRITE.isdisjoint(found):
        return "write"
    return None if words.DEBUG_READ.isdisjoint(found) else "read"


def _text(args: Any, field: str) -> str | None:
    value = args.get(field) if isinstance(args, Mapping) else None
    return value if isinstance(value, str) else None


@lru_cache(maxsize=1_024)
def lets_time_pass(tool: str) -> bool:
    """Whether a tool that waits says in its name that it lets time pass, and not only that it looks how far something is."""
    return not words.PAUSE.isdisjoint(_parts(tool))


def target_digest(args: Any) -> int:
    """The digest of what *args* name as the call's target (a path, a URL); 0 where they name none."""
    if type(args) is dict or isinstance(args, Mapping):
        for field in words.PATH_FIELDS:
            value = args.get(field)
            if isinstance(value, str):
                return text_digest(value)
    return 0
