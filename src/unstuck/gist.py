"""
What is left of a call's arguments without the noise that agents put into them: whether two calls come to the same work.

Left out are remarks, limits, clocks and nonces, and of a command line what only shows its output or passes time: echoed remarks,
comments, `sleep`, `time`, `timeout`, `2>&1`, the head or the tail of the output, a temporary file it goes through. Clicks count as one
where they are a few pixels apart.
"""

from __future__ import annotations

import re
from typing import Any

from unstuck import words
from unstuck.commands import DETOUR, command_of
from unstuck.fingerprint import text_digest, text_of
from unstuck.volatile import plain_address

CELL = 24
"""Pixels of the grids that clicks are told apart by; there are two, half a cell apart in each direction."""
_READ = 4_096
_COMMANDS = frozenset(words.COMMAND_FIELDS) - {"query", "input"}
_BESIDE = words.REMARK_FIELDS | words.LIMIT_FIELDS | words.THROWAWAY_FIELDS
_SESSIONS = frozenset(("session_id", "sessionid", "session", "conversation_id", "client_id"))
_POINTS = frozenset(("coordinate", "coordinates", "position", "point"))
_BEGIN = r"(^|[;&|(]\s*)"
# Compiled when they are first needed, which in most processes is never.
_NOISE = (
    (DETOUR, ""),
    (rf"{_BEGIN}(?:echo|printf)\b[^;&|<>$`\n]{{0,400}}(?:;|&&)\s*", r"\1"),
    (rf"{_BEGIN}sleep\s+[\d.]{{1,9}}[smh]?\s*(?:;|&&)\s*", r"\1"),
    (rf"{_BEGIN}(?:time|timeout\s+[\d.]{{1,9}}[smh]?)\s+", r"\1"),
    (r"(\s(?:-o|--output|>)[ =]?)/tmp/[\w./-]{1,200}", r"\1"),
    (r"(?i)\b(X-[\w-]{0,40}(?:trace|request|correlation|span)[\w-]{0,40}: ?)[\w-]{1,80}", r"\1"),
    (r"\s2>&1", ""),
    (r"\s*\|\s*(?:tail|head)(?:\s+-n?\s*\d{1,9})?\s*(?=$|[;&|)])", ""),
    (r"\s#[^\n'\"]{0,400}$", ""),
    (r"['\"]", ""),
)


def gist_of(args: Any) -> tuple[int, ...]:
    """The digests by which two calls are told apart: they come to the same work where they have one in common."""
    if not isinstance(args, dict):
        return (text_digest(plain_command(args) if isinstance(args, str) else text_of(args)),)
    if any(type(name) is not str for name in args):
        return (text_digest(text_of(args)),)
    kept = {name: args[name] for name in sorted(args) if name.lower() not in _BESIDE} or args
    if any(name.lower() not in _SESSIONS and type(value) is not bool for name, value in kept.items()):
        kept = {name: value for name, value in kept.items() if name.lower() not in _SESSIONS}
    point = _point_of(kept)
    plain = [
        f"{name}={_plain(name, value)}" for name, value in kept.items() if point is None or name not in _POINTS | {"x", "y"}
    ]
    whole = "\x00".join(plain)
    if point is None:
        return (text_digest(whole),)
    half = CELL // 2
    cells = [(across, down) for across in (0, half) for down in (0, half)]
    return tuple(
        text_digest(f"{whole}\x00{at}:{(point[0] + across) // CELL},{(point[1] + down) // CELL}")
        for at, (across, down) in enumerate(cells)
    )


def _plain(name: Any, value: Any) -> str:
    if name in _COMMANDS:
        return plain_command(command_of({name: value}) or text_of(value))
    return plain_address(value[:_READ]) if isinstance(value, str) else text_of(value)[:_READ]


def _point_of(args: dict[Any, Any]) -> tuple[int, int] | None:
    found = next((args[name] for name in sorted(_POINTS) if name in args), None) or (args.get("x"), args.get("y"))
    if isinstance(found, list | tuple) and len(found) == 2:
        across, down = found
        if isinstance(across, int | float) and isinstance(down, int | float) and abs(across) < 1e6 and abs(down) < 1e6:
            return int(across), int(down)
    return None


def plain_command(command: str) -> str:
    """A command line without what only shows its output or passes time; as it is where nothing else would be left."""
    plain = command[:_READ].strip()
    for form, left in _NOISE:
        plain = re.sub(form, left, plain)
    plain = " ".join(plain.split())
    return plain or command[:_READ]
