"""
What a failing call aims at.

The same failure on one target, in whatever spelling, is a loop. On ever new targets it may be what the world is like: fifteen hosts
that refuse, twelve pages that are gone. The first is stopped, the second is only pointed out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Protocol

from unstuck import words
from unstuck.commands import changed_part, command_of
from unstuck.fingerprint import text_digest
from unstuck.lazily import lazily
from unstuck.volatile import MASK, mask, plain_address

MOST = 64
"""Targets that are remembered of a tool."""
_LEFT_OUT = (
    words.REMARK_FIELDS
    | words.LIMIT_FIELDS
    | words.THROWAWAY_FIELDS
    | frozenset((*words.OLD_FIELDS, *words.NEW_FIELDS, *words.CONTENT_FIELDS))
)
_COMMANDS = frozenset(words.COMMAND_FIELDS) - {"query", "input"}
_QUOTES = "\"'`,;()[]{}<>"
_FLAG = lazily(r"--?[A-Za-z]")
_NAME = lazily(r"(?=.*[A-Za-z])(?:.*[/\\.@:]|.*\d)")
_TELLING = lazily(
    r"(?:^|_|(?<=[a-z]))(?:ids?|number|no|key|ref|page|port|issue|ticket|row|index|version|pr|path|file|filepath|filename|file_path"
    r"|ur[il]|host|hostname|domain|server|service|repo|repository|module|package|name|command|cmd|code|script)$",
    re.IGNORECASE,
)
"""Fields that name what a call is about: where there are any, the others only say how."""


_EDITED = "\x00edit"
EDITS = text_digest(_EDITED)
"""Among the names of a command line: it changes something before it goes on."""


def aims_of(args: Any) -> tuple[int, ...]:
    """The digests of the names that a call's arguments hold: paths, addresses, identifiers, and what a command line edits first."""
    return tuple(sorted({text_digest(name) for name in islice(_names(args), MOST)}))


def _is_word(token: str) -> bool:
    """Whether an argument of a command may be the name of a thing (a package, a test, a branch) and is not that of a program."""
    return len(token) > 2 and token.isalpha() and token not in _PROGRAMS


_PROGRAMS = words.SHELL_READ | words.SHELL_WRITE | words.SHELL_ASK | words.SHELL_MANAGERS | words.SHELL_WAIT | words.SHELL_HTTP


def asks_in_words(args: Any) -> bool:
    """Whether a call's arguments hold a question in words."""
    return isinstance(args, dict) and any(
        isinstance(value := args.get(field), str) and len(value.split()) > 1 for field in words.QUESTION_FIELDS
    )


TELLING = 240
"""Characters from which on an answer is so particular that the same one again says nothing new, whatever was asked."""


def apart_from_question(text: str, args: Any) -> str:
    """A long answer without the question of *args*, which some tools print above what they found."""
    if len(text) < TELLING or type(args) is not dict:
        return text
    for field in words.QUESTION_FIELDS:
        value = args.get(field)
        if type(value) is str and " " in value.strip():
            text = text.replace(value, MASK)
    return text


def _names(args: Any) -> Iterator[str]:
    if isinstance(args, str):
        yield from _names_in_command(args)
    if not isinstance(args, dict):
        return
    fields = {name: value for name, value in args.items() if type(name) is str and name.lower() not in _LEFT_OUT}
    told = {name: value for name, value in fields.items() if _TELLING.search(name)}
    for field, value in (told or fields).items():
        if field in _COMMANDS:
            command = command_of({field: value})
            yield from _names_in_command(command or "")
        elif isinstance(value, str):
            yield from _names_in_text(value[:400])
        elif type(value) is int and field in told:
            yield f"{field}={value}"


def _names_in_command(command: str) -> Iterator[str]:
    edited = changed_part(command)
    if edited is not None:
        yield _EDITED
        yield f"edit {' '.join(edited.split())}"
    before = ""
    for token in command[:4_096].split()[1:]:
        plain = token.strip(_QUOTES)
        if "=" in plain and plain.startswith("-"):
            plain = plain.partition("=")[2]
        if _FLAG.match(plain) is None and (
            _NAME.match(plain) or _is_word(plain) or (plain.isdigit() and not before.startswith("-"))
        ):
            yield _plain(plain)
        before = token


def _names_in_text(text: str) -> Iterator[str]:
    parts = text.split()
    if len(parts) == 1:
        yield _plain(text)
        return
    for part in parts:
        plain = part.strip(_QUOTES)
        if _NAME.match(plain):
            yield _plain(plain)


def _plain(name: str) -> str:
    """A name without what only tells one request from another."""
    return mask(plain_address(name.strip(_QUOTES)).rstrip("/.").lower())


class Aiming(Protocol):
    """What failed, as a tool or as an agent: the targets of its failures, and in how many rounds they were new ones."""

    aims: tuple[int, ...]
    aim_round: int
    failed: int
    fresh: int
    fresh_before: int
    fresh_now: bool


def take_aim(owner: Aiming, names: tuple[int, ...], round_: int, stirred: bool) -> None:
    """
    Note that a call with *names* failed; *stirred*: something new was done since the failure before, which may have helped.

    A round counts as fresh, once, where one of its failures aimed at something that had not failed before. The first failure of a
    streak is none. Call it when the streak itself was counted.
    """
    if owner.aim_round != round_:
        owner.aim_round, owner.fresh_before, owner.fresh_now = round_, owner.fresh, False
    new = tuple(name for name in names if name not in owner.aims)
    owner.fresh_now = owner.fresh_now or stirred or bool(new)
    owner.aims = (*owner.aims, *new)[-MOST:]
    owner.fresh = 0 if owner.failed <= 1 else owner.fresh_before + owner.fresh_now


def is_fresh(owner: Aiming, names: tuple[int, ...]) -> bool:
    """Whether a call with *names* would aim at something that has not failed before."""
    return any(name not in owner.aims for name in names)


def firm(repeats: int, fresh: int, bound: int | None) -> int:
    """The *repeats* that a ladder goes by: those that were *fresh* lead up to, and no further than, the rung before *bound*."""
    return repeats if bound is None or not fresh else max(repeats - fresh, min(repeats, bound - 1))
