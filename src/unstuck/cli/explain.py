"""`unstuck explain`."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unstuck.cli.scan import config_option, known_format, preset_option, rules_of
from unstuck.cli.scanning import NAMED_LINES
from unstuck.errors import LineError, ReadError
from unstuck.findings import Level
from unstuck.traces.source import Source

if TYPE_CHECKING:
    from unstuck.explain import Explanation, Strand
    from unstuck.presets import Rules
    from unstuck.scan import RunReport

NOTHING = 3
LISTED = 20
"""Looping runs that are listed where none was named."""

EXAMPLES = """\b
Examples:
  unstuck explain session.jsonl                (the run that looped)
  unstuck explain runs.jsonl r1 --loop 2
  unstuck explain runs.jsonl "#3" --json | jq ".loops[].rungs"
"""


@click.command(epilog=EXAMPLES, context_settings={"max_content_width": 100})
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.argument("run", required=False)
@click.option("--loop", type=click.IntRange(min=1), metavar="N", help="Only the loop with this number.")
@click.option("--pattern", metavar="NAME", help="Only loops seen by this pattern.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
@click.option("--no-content", is_flag=True, help="Leave out arguments, results, texts and masked tokens.")
@click.option("--format", callback=known_format, metavar="NAME", help="Read the file in this format.")
@preset_option
@config_option
def command(file: str, run: str | None, config: str | None, preset: str | None, **options: Any) -> int:
    """
    Say why one recorded run looped, or how close it came.

    FILE is a recording, or - for standard input. RUN is the id of a run, the beginning of one, or #n for the n-th run of FILE;
    without it the only run, or the only one that looped, is meant. Shows the exchanges that were counted, what was masked in them,
    what reset the count, and which decision would come next; of a run that did not loop, what came closest. Arguments and results
    are shown: --no-content leaves them out.
    """
    from unstuck.explain import runs

    rules = rules_of(config, preset)
    try:
        data = _once(file)
        with closing(_source(file, data, told=True)) as source:
            found = runs.reports(source, rules, options["format"])
        if not found:
            raise ReadError(source.name, "there is no run in it")
        position = _position(found, run)
        with closing(_source(file, data)) as source:
            events = runs.events_of(source, position, options["format"])
    except ReadError as error:
        click.echo(str(error), err=True)
        return NOTHING
    explanation = _explained(found[position], events, rules, changed_by=config or _own_settings())
    _show(explanation._replace(strands=_chosen(explanation.strands, options)), options)
    return 0


def _once(file: str) -> bytes | None:
    """What *file* holds, where that cannot be read twice: standard input, or what a shell puts in place of `<(command)`."""
    if file == "-":
        return sys.stdin.buffer.read()
    path = Path(file)
    try:
        return None if path.is_file() else path.read_bytes()
    except OSError as error:
        raise ReadError(file, error.strerror or str(error)) from error


def _source(file: str, data: bytes | None, *, told: bool = False) -> Source:
    """The recording, from its beginning; broken lines are *told* once, and not more of them than a scan names."""
    broken = 0

    def tell(error: LineError) -> None:
        nonlocal broken
        broken += 1
        if broken <= NAMED_LINES:
            click.echo(str(error), err=True)
        elif broken == NAMED_LINES + 1:
            click.echo(f"{file}: further broken lines are not named", err=True)

    report: Any = {"report": tell} if told else {}
    if data is not None:
        return Source(io.BytesIO(data), file, **report)
    return Source.open(Path(file), **report)


def _position(found: Sequence[RunReport], run: str | None) -> int:
    """Which run is meant; raises `UsageError` with the list of those that may be where that is not plain."""
    from unstuck.explain.runs import chosen

    looping = [index for index, report in enumerate(found) if report.findings]
    if run is None:
        if len(looping) == 1 or len(found) == 1:
            return (looping or [0])[0]
        problem = f"{len(looping)} runs looped; name one of them"
        if not looping:
            problem = f"none of {len(found)} runs looped; name one to see what came closest in it"
        raise click.UsageError("\n".join([problem, *_listed(found, looping or range(len(found)))]))
    meant = chosen(list(found), run)
    if len(meant) == 1:
        return meant[0]
    problem = f"{len(meant)} runs begin with {run!r}; name one of them" if meant else f"there is no run {run!r}"
    raise click.UsageError("\n".join([problem, *_listed(found, meant or looping or range(len(found)))]))


def _listed(found: Sequence[RunReport], positions: Sequence[int]) -> list[str]:
    from unstuck.reporters import clean

    lines = []
    for index in positions[:LISTED]:
        patterns = ", ".join(dict.fromkeys(finding.pattern for finding in found[index].findings))
        level = max((finding.would or finding.level for finding in found[index].findings), default=Level.CONTINUE)
        looped = f"{level.label}  {patterns}" if patterns else "no loop"
        lines.append(f"  #{index + 1}  {clean(found[index].run)}  {looped}")
    return lines + ([f"  and {len(positions) - LISTED} more"] if len(positions) > LISTED else [])


def _explained(report: RunReport, events: Sequence[Any], rules: Rules, changed_by: str) -> Explanation:
    from unstuck.explain import Explanation, closest, explain

    strands = explain(events, rules, changed_by)
    near = () if strands else closest(events, rules)
    return Explanation(report.run, report.source, report.format, report.calls, report.messages, rules.name, strands, near)


def _own_settings() -> str:
    """What changes the ladders where no file was named."""
    from unstuck.config import nearest

    paths = [path for name in ("unstuck.toml", "pyproject.toml") if (path := nearest(Path.cwd(), name)) is not None]
    return " or ".join(os.path.relpath(path) for path in paths) or "the settings"


def _chosen(strands: Sequence[Strand], options: dict[str, Any]) -> tuple[Strand, ...]:
    """The strands asked for; raises `UsageError` where there are none of them."""
    loop, pattern = options["loop"], options["pattern"]
    kept = tuple(strand for strand in strands if loop in (None, strand.loop) and (pattern is None or strand.pattern == pattern))
    if not kept and (loop is not None or pattern is not None):
        there = ", ".join(f"{strand.loop} ({strand.pattern})" for strand in strands) or "none"
        raise click.UsageError(f"the run has no such loop; its loops: {there}")
    return kept


def _show(explanation: Explanation, options: dict[str, Any]) -> None:
    content = not options["no_content"]
    if options["as_json"]:
        from unstuck.reporters.explain_json import record

        click.echo(json.dumps(record(explanation, content=content)))
        return
    from unstuck.cli.output import Output
    from unstuck.reporters import explain

    explain.report(Output(soft_wrap=False), explanation, content=content)
