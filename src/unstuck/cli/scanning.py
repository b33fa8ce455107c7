"""The work of `unstuck scan`: files in, answer and exit status out."""

from __future__ import annotations

import heapq
import sys
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unstuck.cli.baseline import Baseline
from unstuck.cli.inputs import Input
from unstuck.cli.progress import Progress
from unstuck.errors import LineError, MissingDependencyError, ReadError, UnknownFormatError
from unstuck.findings import Level
from unstuck.readers import formats
from unstuck.reporters import Totals, jsonl, plural
from unstuck.scan import RunReport, Scan
from unstuck.traces.source import Source

if TYPE_CHECKING:
    from unstuck.presets import Rules

FINE, FAILED, NOTHING = 0, 1, 3
NAMED_LINES = 100
"""Broken lines named for one file; the others are counted."""
EPOCH = 1e9
"""Times below this count from somewhere else than 1970, and say nothing about a date."""


class Strict(Exception):  # noqa: N818 - the end of a scan, not an error
    """With `--strict`, something could not be read."""


class Answer:
    """Takes the runs, prints what was asked for, and knows the exit status."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.totals = Totals()
        self._json: bool = options["as_json"]
        self._top: int | None = options["top"]
        self._fail_on = Level.named(options["fail_on"]) if options["fail_on"] else None
        self._baseline: str | None = options["baseline"]
        self._known = Baseline.load(Path(self._baseline)) if self._baseline else Baseline()
        self._known_loops: dict[str, frozenset[int]] = {}
        self._counts = Counter[str]()
        self._written = Baseline()
        self._write_to: str | None = options["write_baseline"]
        self._kept: list[tuple[tuple[float, ...], int, RunReport]] = []

    def take(self, report: RunReport) -> None:
        """Take one run."""
        self.totals = self.totals.with_run(report)
        if report.findings:
            self._written.add(report)
            self._compare(report)
        if self._json and self._top is None:
            click.echo(jsonl.line(report))
        elif report.findings:
            self._keep(report)

    def finish(self, files: int) -> int:
        """Print what has been kept; the exit status."""
        self.totals = self.totals._replace(files=files)
        # Programs get the runs in the order they began, people the costliest first.
        order = (lambda entry: entry[1]) if self._json else (lambda entry: (*(-part for part in entry[0]), entry[1]))
        kept = [report for _, _, report in sorted(self._kept, key=order)]
        if not files:
            click.echo("nothing readable", err=True)
        elif self._json:
            for report in kept:
                click.echo(jsonl.line(report))
        else:
            self._show(kept)
        if files and self._baseline:
            click.echo(self._compared(self._baseline), err=self._json)
        if self._write_to:
            self._write(Path(self._write_to))
        failed = self._counts["failed"]
        if failed and self._fail_on is not None:
            how = " by findings that are new" if self._baseline else ""
            click.echo(f"{plural(failed, 'run')} reached {self._fail_on.label}{how}", err=True)
        return NOTHING if not files else FAILED if failed else FINE

    def _compare(self, report: RunReport) -> None:
        """Note what of a run the baseline knows, and whether the rest fails the check."""
        new = self._known.unknown(report)
        failed = self._fail_on is not None and any(finding.level >= self._fail_on for finding in new)
        self._counts.update(known=len(report.findings) - len(new), new=len(new), runs=bool(new), failed=failed)
        if len(new) < len(report.findings):
            loops = {finding.loop for finding in report.findings} - {finding.loop for finding in new}
            self._known_loops[report.run] = frozenset(loops)

    def _compared(self, baseline: str) -> str:
        known, new, runs = self._counts["known"], self._counts["new"], self._counts["runs"]
        said = f"{new:,} {'is' if new == 1 else 'are'} new, in {plural(runs, 'run')}" if new else "none is new"
        return f"{baseline} held back {plural(known, 'finding')}; {said}."

    def _write(self, path: Path) -> None:
        """Write the baseline; what has been written as known does not fail."""
        try:
            path.write_text(self._written.dumps(), "utf-8")
        except OSError as error:
            raise click.BadParameter(f"{path}: {error.strerror}", param_hint="--write-baseline") from None
        click.echo(f"{path}: {plural(len(self._written), 'known loop')} written", err=True)
        self._counts["failed"] = 0

    def _keep(self, report: RunReport) -> None:
        repeated = report.repeated
        worth = (repeated.usd or 0.0, float(repeated.tokens or 0), float(repeated.calls), float(report.level))
        entry = (worth, self.totals.runs, report)
        if self._top is None or len(self._kept) < self._top:
            heapq.heappush(self._kept, entry)
        else:
            heapq.heappushpop(self._kept, entry)

    def _show(self, kept: list[RunReport]) -> None:
        from unstuck.cli.output import Output
        from unstuck.reporters import terminal

        hidden = self.totals.looping - len(kept)
        terminal.report(Output(soft_wrap=False), self.totals, kept, hidden, self._known_loops)


class Scanning:
    """Reads files one after the other; `read` counts those that a reader took."""

    def __init__(self, rules: Rules, answer: Answer, options: dict[str, Any]) -> None:
        self.read = 0
        self._answer = answer
        self._scan = Scan(rules, content=options["content"])
        self._format: str | None = options["format"]
        self._strict: bool = options["strict"]
        self._limit: int = options["max_line_bytes"]
        self._since: datetime | None = options["since"]
        self._say: Callable[[str], None] = lambda line: click.echo(line, err=True)
        self._unknown = 0
        self._strange = False
        self._older = 0

    def run(self, files: list[Input]) -> None:
        """Read *files*; raises `Strict` where one cannot be read and that was asked for."""
        with Progress(files) as progress:
            self._say = progress.say
            for file in files:
                if self._is_older(file):
                    self._older += 1
                else:
                    self._file(file, progress)
        if self._unknown:
            self._say(f"{plural(self._unknown, 'file')} in no known format passed over")
        if self._strange and not self.read:
            self._say(f"formats that are read: {', '.join(formats())}")
        if self._older:
            self._say(f"{plural(self._older, 'file')} older than --since passed over")

    def _is_older(self, file: Input) -> bool:
        if self._since is None or str(file.path) == "-":
            return False
        try:
            return file.path.stat().st_mtime < self._since.timestamp()
        except OSError:
            return False

    def _file(self, file: Input, progress: Progress) -> None:
        broken = 0

        def report(error: LineError) -> None:
            nonlocal broken
            broken += 1
            if broken <= NAMED_LINES:
                self._say(str(error))
            if self._strict:
                raise Strict

        try:
            source = self._open(file.path, report)
            try:
                progress.follow(source)
                runs = 0
                for runs, run in enumerate(self._scan.runs(source, self._format), 1):  # noqa: B007 - their number is told
                    if not self._ended_before(run):
                        self._answer.take(run)
                self.read += 1
                if file.named and not runs:
                    self._say(f"{file.path}: there is no run in it")
            finally:
                progress.leave(source)
                source.close()
        except (ReadError, MissingDependencyError) as error:
            self._unreadable(file, error)
        if broken > NAMED_LINES:
            self._say(f"{file.path}: {plural(broken - NAMED_LINES, 'more broken line')}")

    def _open(self, path: Path, report: Callable[[LineError], None]) -> Source:
        if str(path) == "-":
            return Source(sys.stdin.buffer, "-", limit=self._limit, report=report)
        return Source.open(path, limit=self._limit, report=report)

    def _ended_before(self, run: RunReport) -> bool:
        return self._since is not None and run.ended is not None and EPOCH < run.ended < self._since.timestamp()

    def _unreadable(self, file: Input, error: Exception) -> None:
        self._strange |= isinstance(error, UnknownFormatError)
        if not file.named and isinstance(error, UnknownFormatError):
            self._unknown += 1
            return
        self._say(str(error) if isinstance(error, ReadError) else f"{file.path}: {error}")
        if self._strict:
            raise Strict
