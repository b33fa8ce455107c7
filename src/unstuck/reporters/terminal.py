"""The report that a person reads in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.text import Text

from unstuck.findings import Level
from unstuck.reporters import Totals, clean, figure, money, plural, shortened

if TYPE_CHECKING:
    from unstuck.scan import Loop, RunReport

STYLES = {Level.OBSERVE: "cyan", Level.NUDGE: "yellow", Level.BLOCK: "magenta", Level.STOP: "bold red"}
LOOPS = 4
"""Loops shown for one run; the others are counted."""
LAYOUTS = ((True, 36), (True, 24), (False, 20), (False, 16), (False, 12), (False, 8))
"""Whether every figure has a column of its own, and how wide names of runs are: the first that fits is taken."""
WIDE = ("Run", "Pattern", "Tools", "Calls", "Count", "Decision", "Repeats", "Tokens", "Money")
NARROW = ("Run", "Loop", "Calls", "Decision", "Repeats", "Spent")
RIGHT = frozenset(("Calls", "Count", "Repeats", "Tokens", "Money", "Spent"))

Row: TypeAlias = "Text | list[Text]"
"""A line over all columns, or the cells of one."""
Known: TypeAlias = Mapping[str, frozenset[int]]
"""By run the numbers of its loops that a baseline knows."""


def report(console: Console, totals: Totals, looping: Sequence[RunReport], hidden: int = 0, known: Known | None = None) -> None:
    """Print the summary and the table of *looping* runs; *hidden* more are only counted, *known* loops are marked."""
    console.print(_summary(totals), highlight=False)
    if any(loop.would is not None for one in looping for loop in one.loops):
        console.print(Text("Shadow mode: decisions are only reported, none is carried out.", "cyan"))
    if looping:
        console.print()
        for line in _table(looping, console.width, known or {}):
            console.print(line, soft_wrap=True)
    if hidden:
        console.print(Text(f"and {plural(hidden, 'more looping run')}; --top {len(looping) + hidden} shows them", "dim"))
    if looping:
        console.print(Text("\nunstuck explain FILE RUN says why.", "dim"))


def decision(loop: Loop) -> Text:
    """How far *loop* came; in shadow mode how far it would have come."""
    return Text(f"would {loop.would.label}" if loop.would is not None else loop.level.label, STYLES.get(loop.strength, ""))


def _summary(totals: Totals) -> RenderableType:
    read = [
        plural(totals.files, "file"),
        plural(totals.runs, "run"),
        plural(totals.calls, "call"),
        *_spent(totals.tokens, totals.usd),
    ]
    first = Text(", ".join(read))
    if not totals.runs:
        return Group(first, Text("There is no run to judge."))
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


def _table(reports: Sequence[RunReport], width: int, known: Known) -> Iterator[Text]:
    """The lines of the table, in the first layout that fits into *width*."""
    by_file: dict[str, list[RunReport]] = {}
    for one in reports:
        by_file.setdefault(one.source, []).append(one)
    paid = any(one.repeated.tokens is not None for one in reports)
    wide, rows = False, list[Row]()
    for wide, name in LAYOUTS:
        rows = [_head(WIDE if wide else NARROW, paid=paid)]
        for file, runs in by_file.items():
            rows.append(Text("standard input" if file == "-" else clean(file), "dim"))
            for one in runs:
                rows += _run(one, name, known.get(one.run, frozenset()), wide=wide, paid=paid)
        if sum(_widths(rows)) + 2 * len(rows[0]) - 2 <= width:
            break
    return _lines(rows, WIDE if wide else NARROW, width)


def _head(names: Sequence[str], *, paid: bool) -> Row:
    return [Text(name, "bold") for name in names if paid or name not in ("Tokens", "Money", "Spent")]


def _widths(rows: Sequence[Row]) -> list[int]:
    cells = [row for row in rows if isinstance(row, list)]
    return [max(cell_len(row[column].plain) for row in cells if column < len(row)) for column in range(len(cells[0]))]


def _lines(rows: Sequence[Row], names: Sequence[str], width: int) -> Iterator[Text]:
    widths = _widths(rows)
    for row in rows:
        if isinstance(row, Text):
            yield row  # the name of a file is of use as a whole only
            continue
        line = Text()
        for name, room, cell in zip(names, widths, row, strict=False):
            cell.align("right" if name in RIGHT else "left", room)
            line.append_text(cell).append("  ")
        line.rstrip()
        line.truncate(width, overflow="ellipsis")
        yield line


def _run(report: RunReport, width: int, known: frozenset[int], *, wide: bool, paid: bool) -> Iterator[Row]:
    """The rows of one run; what its repeats took stands beside its first loop and is that of the whole run."""
    loops = _stretches(report.loops, known)
    for index, (loop, is_known) in enumerate(loops[:LOOPS]):
        first = index == 0
        name = Text(shortened(clean(report.run), width) if first else "", "bold")
        spent = [Text(str(report.repeated.calls) if first else ""), *(_spent_cells(report, first=first) if paid else [])]
        decided = decision(loop)
        if is_known:
            decided.append(" (known)", "dim")
        pattern = Text(shortened(clean(loop.pattern), 20) + (f" +{len(loop.others)}" if loop.others else ""))
        tools = Text(_tools(loop.tools, 24 if wide else 20), "dim")
        calls = Text("" if loop.first_call is None else f"{loop.first_call}-{loop.last_call or loop.first_call}")
        count = Text(f"{loop.repeats} {loop.unit if loop.repeats != 1 else loop.unit.removesuffix('s')}")
        if wide:
            yield [name, pattern, tools, calls, count, decided, *spent]
        else:
            yield [name, pattern, calls, decided, *spent[:2]]
            yield [Text(), tools, count, Text(), Text(), *spent[2:]]
    if len(loops) > LOOPS:
        yield [Text(), Text(f"and {plural(len(loops) - LOOPS, 'more loop')}", "dim")]


def _stretches(loops: Sequence[Loop], known: frozenset[int]) -> list[tuple[Loop, bool]]:
    """
    The loops, the strongest first, and whether each is known.

    Two that are about the same calls are one: each repeats its result and fails in one way, say.
    """
    found: dict[object, tuple[Loop, bool]] = {}
    for loop in sorted(loops, key=lambda loop: (-loop.strength, -loop.repeats, loop.number)):
        is_known = loop.number in known
        calls = (loop.first_call, loop.last_call, loop.agent, frozenset(loop.tools))
        key = calls if loop.first_call is not None else loop.number
        if key in found:
            first, was_known = found[key]
            others = dict.fromkeys((*first.others, loop.pattern, *loop.others))
            loop = first._replace(others=tuple(name for name in others if name != first.pattern))  # noqa: PLW2901 - the two as one
            is_known &= was_known
        found[key] = loop, is_known
    return list(found.values())


def _spent_cells(report: RunReport, *, first: bool) -> list[Text]:
    spent = report.repeated
    if not first:
        return [Text(), Text()]
    return [Text("-" if spent.tokens is None else figure(spent.tokens)), Text("" if spent.usd is None else money(spent.usd))]


def _tools(tools: Sequence[str], width: int) -> str:
    names = list(map(clean, tools))
    if not names:
        return "(text)"
    shown = ", ".join(names)
    if len(shown) <= width:
        return shown
    rest = f" +{len(names) - 1}" if len(names) > 1 else ""
    return shortened(names[0], width - len(rest)) + rest
