"""Where tables for people are printed."""

from __future__ import annotations

from typing import Never

from rich.console import Console


class Output(Console):
    """A console that lets the command end as it does everywhere when the reader of its output goes away: rich exits with 1."""

    def on_broken_pipe(self) -> Never:
        raise BrokenPipeError
