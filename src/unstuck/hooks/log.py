"""
The hooks' log: what was done to which session, and why a hook could not do its work.

JSON Lines beside the saved state, private like it, free of arguments, results and texts. A line is written in one piece, so that
parallel processes do not mix theirs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from unstuck.store import private_folder

FILE = "hooks.jsonl"
MOST_BYTES = 4 * 1024 * 1024
"""A log that is longer is put beside as `.1` and begun anew."""


def append(folder: str, entry: Mapping[str, Any]) -> None:
    """Write *entry*; raises `OSError` where that cannot be done."""
    private_folder(folder)
    path = os.path.join(folder, FILE)
    line = json.dumps(entry, separators=(",", ":")).encode("ascii") + b"\n"
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        os.write(handle, line)
        full = os.fstat(handle).st_size > MOST_BYTES
    finally:
        os.close(handle)
    if full:
        os.replace(path, f"{path}.1")


def entries(folder: str) -> Iterator[dict[str, Any]]:
    """The entries, the oldest first; lines that cannot be read are passed over."""
    for name in (f"{FILE}.1", FILE):
        try:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    try:
                        entry = json.loads(line)
                    except ValueError:
                        continue
                    if isinstance(entry, dict):
                        yield entry
        except FileNotFoundError:
            continue
