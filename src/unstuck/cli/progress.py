"""A progress bar over the bytes of all files, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from unstuck.cli.inputs import Input
    from unstuck.traces.source import Source


class Progress:
    """Shows how far a scan has come, where standard error is a terminal; `say` prints a line above the bar."""

    def __init__(self, files: Sequence[Input]) -> None:
        self._bar: Any = None
        self._done = 0
        self._source: Source | None = None
        if sys.stderr.isatty() and files:
            self._bar = _bar(self, sum(map(_size, files)))

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()

    def say(self, line: str) -> None:
        """Print *line* on standard error."""
        if self._bar:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            click.echo(line, err=True)

    def follow(self, source: Source) -> None:
        """*source* is being read."""
        self._source = source

    def leave(self, source: Source) -> None:
        """*source* has been read."""
        self._source = None
        self._done += source.position

    @property
    def position(self) -> int:
        """Bytes read so far."""
        source = self._source
        return self._done + (source.position if source else 0)


def _size(file: Input) -> int:
    try:
        return file.path.stat().st_size if file.path != Path("-") else 0
    except OSError:
        return 0


def _bar(progress: Progress, total: int) -> Any:
    from rich.progress import BarColumn, TaskProgressColumn, TimeRemainingColumn
    from rich.progress import Progress as Rich

    from unstuck.cli.output import Output

    class Bar(Rich):
        """Asks where the scan is whenever it draws itself, so that reading need not tell."""

        def get_renderables(self) -> Any:
            for task in self.tasks:
                self.update(task.id, completed=progress.position)
            return super().get_renderables()

    bar = Bar(BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), console=Output(stderr=True), transient=True)
    bar.add_task("scan", total=total or None)
    return bar
