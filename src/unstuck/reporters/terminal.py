"""The report that a person reads in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from unstuck.findings import Level
from unstuck.reporters import Totals, clean, figure, money, plural, shortened

if TYPE_CHECKING:
    from unstuck.scan import Loop, RunReport

STYLES = {Level.OBSERVE: "cyan", Level.NUDGE: "yellow", Level.BLOCK: "magenta", Level.STOP: "bold red"}
WIDE = 108
"""From so many columns on, every figure has a column of its own."""
LOOPS = 4
"""Loops shown for one run; the others are counted."""


def report(console: Console, totals: Totals, looping: Sequence[RunReport], hidden: int = 0) -> None:
    """Print the summary and the table of *looping* runs; *hidden* more are only counted."""
    console.print(_summary(totals), highlight=False)
    if looping:
        console.print()
        console.print(_table(looping, wide=console.width >= WIDE))
    if hidden:
        console.print(Text(f"and {plural(hidden, 'more looping run')}; --top {len(looping) + hidden} shows them", "dim"))


def _summary(totals: Totals) -> RenderableType:
    read = [
        plural(totals.files, "file"),
        plural(totals.runs, "run"),
        plural(totals.calls, "call"),
        *_spent(totals.tokens, totals.usd),
    ]
    first = Text(", ".join(read))
    if not totals.looping:
        return Group(first, Text("No run looped.", "green"))
    second = Text.assemble((f"{totals.looping:,} of {plural(totals.runs, 'run')} looped", "bold"))
    spent = [plural(totals.repeated, "call"), *_spent(totals.repeated_tokens, totals.repeated_usd)]
    if totals.repeated:
        second.append(f"; repeats took {_listed(spent)}")
    return Group(first, second.append("."))


def _spent(tokens: int | None, usd: float | None) -> list[str]:
    return [*([f"{figure(tokens)} tokens"] if tokens else []), *([money(usd)] if usd else [])]


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _table(reports: Sequence[RunReport], *, wide: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    paid = any(report.repeated.tokens is not None for report in reports)
    table.add_column("Run", no_wrap=True)
    for name in ("Pattern", "Tools") if wide else ("Loop",):
        table.add_column(name, no_wrap=True)
    for name in ("Calls", "Repeats"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Decision", no_wrap=True)
    for name in (("Tokens", "Money") if wide else ("Spent",)) if paid else ():
        table.add_column(name, justify="right", no_wrap=True)
    for report in reports:
        loops = sorted(report.loops, key=lambda loop: (-loop.level, -loop.repeated, loop.number))
        for index, loop in enumerate(loops[:LOOPS]):
            spent = _spent_cells(report, wide=wide, first=index == 0) if paid else []
            table.add_row(_run(report, wide=wide) if index == 0 else Text(), *_loop(loop, wide=wide), *spent)
        if len(loops) > LOOPS:
            table.add_row("", Text(f"and {plural(len(loops) - LOOPS, 'more loop')}", "dim"))
    return table


def _run(report: RunReport, *, wide: bool) -> RenderableType:
    width = 36 if wide else 20
    name = Text(shortened(clean(report.run), width), "bold")
    return name if wide else Group(name, Text(shortened(clean(Path(report.source).name), width), "dim"))


def _loop(loop: Loop, *, wide: bool) -> list[RenderableType]:
    pattern = Text(shortened(clean(loop.pattern), 20))
    tools = Text(_tools(loop.tools, 24 if wide else 20), "dim")
    calls = Text("" if loop.first_call is None else f"{loop.first_call}-{loop.last_call or loop.first_call}")
    repeats = Text(str(loop.repeated) if loop.repeated else "")
    decision = Text(loop.level.label, STYLES.get(loop.level, ""))
    return [*([pattern, tools] if wide else [Group(pattern, tools)]), calls, repeats, decision]


def _spent_cells(report: RunReport, *, wide: bool, first: bool) -> list[RenderableType]:
    """What the repeats of the whole run took, beside its first loop."""
    spent = report.repeated
    tokens = Text("" if not first else "-" if spent.tokens is None else figure(spent.tokens))
    usd = Text("" if not first or spent.usd is None else money(spent.usd))
    return [tokens, usd] if wide else [Group(tokens, usd)]


def _tools(tools: Sequence[str], width: int) -> str:
    names = list(map(clean, tools))
    if not names:
        return "(text)"
    shown = ", ".join(names)
    if len(shown) <= width:
        return shown
    rest = f" +{len(names) - 1}" if len(names) > 1 else ""
    return shortened(names[0], width - len(rest)) + rest
