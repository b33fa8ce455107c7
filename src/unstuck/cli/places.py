"""Where coding agents keep the sessions of a person's computer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """
    A program's sessions: *folders* (or a database) under its own folder.

    That one is named by the environment variable *variable*, or lies at *home* under the person's home.
    """

    program: str
    variable: str
    home: str
    folders: tuple[str, ...]

    def paths(self, environ: Mapping[str, str], home: Path) -> Iterator[Path]:
        """The folders, whether they exist or not."""
        given = environ.get(self.variable)
        base = Path(given).expanduser() if given else home / self.home
        for folder in self.folders:
            yield base / folder


PLACES: tuple[Place, ...] = (
    Place("Claude Code", "CLAUDE_CONFIG_DIR", ".claude", ("projects",)),
    Place("Codex", "CODEX_HOME", ".codex", ("sessions", "archived_sessions")),
    Place("Gemini CLI", "GEMINI_CLI_HOME", "", (".gemini/tmp",)),
    Place("Qwen Code", "QWEN_HOME", ".qwen", ("projects", "tmp")),
    Place("opencode", "XDG_DATA_HOME", ".local/share", ("opencode/opencode.db",)),
    Place("OpenHands", "OPENHANDS_PERSISTENCE_DIR", ".openhands", ("conversations", "sessions")),
    Place("Copilot CLI", "COPILOT_HOME", ".copilot", ("session-state", "history-session-state")),
    Place("Goose", "XDG_DATA_HOME", ".local/share", ("goose/sessions",)),
)
"""Every program that `unstuck scan` without a path looks for."""
