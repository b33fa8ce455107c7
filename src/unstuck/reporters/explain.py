"""The explanation that a person reads in a terminal: each loop as a table of what counted, what did not, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rich.table import Table
from rich.text import Text

from unstuck.explain import WHY, Exchange, Next, Reset, Shown, Strand
from unstuck.findings import Level
from unstuck.reporters import clean, plural

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from unstuck.explain import Closest, Entry, Explanation, Rung

STYLES = {Level.OBSERVE: "cyan", Level.NUDGE: "yellow", Level.BLOCK: "magenta", Level.STOP: "bold red"}
RULES = {
    "repeated_result": "One call came to the same outcome each time since the world last changed.",
    "stuck_poll": "One look at something that is waited for had the same reading each time.",
    "repeated_call": "One call's answers differ, but are made of words it had given before, or of few others.",
    "near_repeat": "Calls that are spellings of one another came to the same outcome.",
    "repeated_failure": "One tool failed with errors of one kind, whatever its arguments.",
    "recurring_failure": "One tool refused the same thing on the same target, time and again.",
    "failure_cascade": "Different tools failed with errors of one kind, one after the other.",
    "unknown_tool": "A tool was called that does not exist.",
    "empty_answers": "Every look came back empty, whatever was asked.",
    "echoed_change": "Results held nothing but what the arguments had said.",
    "oscillation": "Changes brought their target back to the state before the latest change.",
    "recovered_ground": "Reads went over what had been read before, with nothing changed since.",
    "cycle": "The same rounds with the same outcomes came in the same order.",
    "alternating_calls": "Two calls took turns.",
    "delegation_loop": "A task was passed from agent to agent in much the same words.",
    "handoff_loop": "Agents handed the conversation to each other in the same order.",
    "repeated_text": "The response was the same as before.",
    "monologue": "Responses without calls were made of words used before.",
    "empty_response": "Responses held neither text nor calls.",
    "degenerate_text": "One response repeats a passage inside itself.",
    "stalled": "Between compactions the run did the same few things.",
    "turn_budget": "Calls of one tool brought nothing that they had not brought before.",
    "budget": "What the run may spend is used up, in percent.",
}
"""What each pattern counts, as a sentence."""
DECISIONS = {
    (Level.NUDGE, False): "nudge: the model would have been told",
    (Level.BLOCK, True): "block: it would not have run",
    (Level.BLOCK, False): "block: the response would have been cut off",
    (Level.STOP, True): "stop: the run would have ended before it",
    (Level.STOP, False): "stop: the run would have ended here",
}
"""What would have happened at an exchange, *before* it ran or after."""
SHOWN = 3
"""Rows in a row that say something new and decide nothing, before the rest of them is only counted; a first lap is shown whole."""
LONGEST_LAP = 8
ALL = 2
"""So few rows are not shortened."""
LINES = 2
"""Lines that one text may take."""

Cell: TypeAlias = tuple[str, int]
"""A character and the mark it stands in, -1 for none."""


def report(console: Console, explanation: Explanation, *, content: bool = True) -> None:
    """Print the run and each of its strands; without *content* no arguments, results and texts."""
    size = f"{plural(explanation.calls, 'call')}, {plural(explanation.messages, 'response')}"
    source = clean(Path(explanation.source).name)
    console.print(Text.assemble("Run ", (clean(explanation.run), "bold"), f" ({source}, {explanation.format}): {size}"))
    if not explanation.strands:
        console.print(Text("Nothing looped.", "green"))
        _closest(console, explanation.closest)
    for strand in explanation.strands:
        console.print()
        _strand(console, strand, content=content)


def _closest(console: Console, counts: Sequence[Closest]) -> None:
    if not counts:
        console.print("Nothing came close: no pattern counted a second time.", highlight=False)
        return
    console.print("What came closest, below the first rung:", highlight=False)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    for name in ("Pattern", "Tools", "Call", "Count", "First rung"):
        table.add_column(name, overflow="fold")
    for one in counts:
        tools = ", ".join(map(clean, one.tools[:4])) + (", ..." if len(one.tools) > 4 else "")
        begin = f"#{one.first_call}-" if one.first_call not in (None, one.call) else ""
        place = f"{begin}#{one.call}" if one.call is not None else f"response {one.message}"
        table.add_row(
            Text(clean(one.pattern)), Text(tools or "(text)", "dim"), place, f"{one.repeats} {one.unit}", f"{one.rung}"
        )
    console.print(table)


def _strand(console: Console, strand: Strand, *, content: bool) -> None:
    tools = ", ".join(map(clean, strand.tools[:4])) + (", ..." if len(strand.tools) > 4 else "")
    title = Text.assemble((f"Loop {strand.loop}: {clean(strand.pattern)}", "bold"), f" of {tools}" if tools else "", ", ")
    console.print(title + Text(strand.level.label, STYLES[strand.level]))
    console.print(Text(strand.rule or RULES.get(strand.pattern, ""), "dim"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    table.add_column("Lap" if strand.unit in ("laps", "hand-offs") else "Count", justify="right", no_wrap=True)
    table.add_column("Response" if _is_text(strand) else "Call", no_wrap=True)
    table.add_column("What", overflow="fold")
    rows = _Rows(table, max(console.width - 16, 24), strand, content=content)
    rows.add_all(strand.entries)
    console.print(table)
    console.print(_foot(strand, masked=rows.masked))


class _Rows:
    """Turns entries into rows; what was shown before is referred to, long stretches are shortened."""

    def __init__(self, table: Table, width: int, strand: Strand, *, content: bool) -> None:
        self.masked = False
        self._table, self._width, self._strand, self._content = table, width, strand, content
        self._seen: dict[tuple[str | int, ...], Exchange] = {}
        self._calls: dict[tuple[str, int, str], Exchange] = {}
        self._before: str | None = None
        self._ignored: tuple[str, ...] = ()
        self._agents = len({entry.agent for entry in strand.entries if isinstance(entry, Exchange)}) > 1
        self._carried = 0
        self._most = max(SHOWN, min(strand.period, LONGEST_LAP))

    def add_all(self, entries: Sequence[Entry]) -> None:
        """All rows: a stretch of plain ones is shortened once it is over, and after the last decision at once."""
        plain: list[Exchange] = []
        decided = [index for index, entry in enumerate(entries) if isinstance(entry, Exchange) and entry.decisions]
        for index, entry in enumerate(entries):
            if isinstance(entry, Exchange) and entry.repeats is not None and not (entry.decisions or entry.why):
                plain.append(entry)
                continue
            self._plain(plain)
            plain = []
            if decided and index == decided[-1]:
                self._most = 0
            if isinstance(entry, Exchange):
                self._exchange(entry)
            else:
                self._reset(entry)
        self._plain(plain)

    def _plain(self, entries: list[Exchange]) -> None:
        """Rows without a decision: the first few that say something new, and how many more."""
        shown = 0
        rest: list[Exchange] = []
        for entry in entries:
            known = self._key(entry) in self._seen
            if rest or (known and not entry.result_masked) or shown >= self._most:
                rest.append(entry)
            else:
                self._exchange(entry)
                shown += 1
        if len(rest) <= ALL:
            for entry in rest:
                self._exchange(entry)
        elif rest:
            self._more(rest)

    def _more(self, rest: list[Exchange]) -> None:
        like = [self._seen[key] for key in dict.fromkeys(map(self._key, rest)) if key in self._seen]
        new = sum(self._key(entry) not in self._seen for entry in rest)
        text = f"{len(rest)} more"
        if like and not new:
            text += f", as {_names(like)}"
        counts = f"{rest[0].repeats}-{rest[-1].repeats}" if rest[0].repeats != rest[-1].repeats else str(rest[0].repeats)
        self._table.add_row(counts, f"{_name(rest[0])}-{_name(rest[-1])}", Text(text, "dim"))
        for entry in rest:
            self._seen.setdefault(self._key(entry), entry)

    def _exchange(self, entry: Exchange) -> None:
        known = self._seen.setdefault(self._key(entry), entry)
        text = Text()
        if known is not entry:
            text.append(f"as {_name(known)}", "dim")
            marks = entry.result_masked if entry.result_masked != known.result_masked else ()
            if marks and self._content:
                self.masked = True
                text.append(f", with {' '.join(f'~{clean(mark)}~' for mark in marks[:3])}", "dim")
        else:
            self._in_full(text, entry)
        if self._strand.pattern == "recovered_ground" and entry.earlier is not None:
            text.append(f"\nread before at #{entry.earlier}", "dim")
        for decided in entry.decisions:
            text.append("\n")
            text.append(DECISIONS[decided], STYLES[decided.level])
        if entry.why is not None and (entry.repeats is None or entry.why in ("asked_again", "ahead")):
            text.append(f"\n{'not counted: ' if entry.repeats is None else ''}{WHY[entry.why]}", "italic dim")
        counted = "-" if entry.repeats is None else f"{entry.repeats}"
        self._table.add_row(counted + (f"+{self._carried}" if self._carried and counted != "-" else ""), _name(entry), text)

    def _in_full(self, text: Text, entry: Exchange) -> None:
        lines: list[Text] = []
        args = entry.args.whole if entry.args is not None else 0
        same = self._calls.setdefault((entry.tool or "", args, entry.agent), entry)
        if entry.tool is not None and same is not entry:
            lines.append(Text(f"same call as {_name(same)}", "dim"))
        elif entry.tool is not None:
            line = Text(f"{clean(entry.agent)}: " if self._agents else "") + Text(clean(entry.tool), "bold")
            if entry.args is not None and entry.args.text and self._content:
                line.append(" ")
                line.append_text(self._piece(entry.args, len(entry.tool) + 1, self._before))
                self._before = entry.args.text
            lines.append(line)
            if entry.ignored not in ((), self._ignored) and self._content:
                self._ignored = entry.ignored
                lines.append(Text(f"not compared: {', '.join(map(clean, entry.ignored[:6]))}", "dim"))
        outcome = f"{entry.outcome}: " if entry.outcome else "no result" if entry.tool and entry.why != "ahead" else ""
        if entry.result is not None and self._content:
            piece = self._piece(entry.result, len(outcome)) if entry.result.text.strip() else Text("(empty)", "dim")
            lines.append(Text(outcome, "dim") + piece)
        elif entry.outcome:
            lines.append(Text(entry.outcome, "dim"))
        text.append_text(Text(", " if same is not entry and len(lines) == 2 else "\n").join(lines))

    def _piece(self, shown: Shown, used: int, before: str | None = None) -> Text:
        """*shown* on at most `LINES` lines, what is marked between tildes; where it begins like *before*, from the difference on."""
        self.masked = self.masked or bool(shown.marks)
        cells = _cells(shown)
        room = max(LINES * self._width - used - 2, 16)
        if len(cells) <= room:
            return _text(cells)
        same = _common(shown.text, before or "")
        if same > room // 2:
            cells = [*_plain_cells("... "), *cells[max(same - 20, 0) :]]
        if len(cells) > room:
            tail = room // 3
            cells = [*cells[: room - tail - 5], *_plain_cells(" ... "), *cells[len(cells) - tail :]]
        return _text(cells)

    def _reset(self, entry: Reset) -> None:
        who = ", ".join(map(clean, entry.tools[:3]))
        says = f"{who} {WHY[entry.reason]}" if entry.reason == "changed_world" else WHY[entry.reason]
        self._carried = entry.carried
        says += ": the count begins anew"
        if entry.carried:
            says += f"; once it is {self._strand.ladder.first} again, the {entry.carried} from before are added"
        where = _ranges(entry.calls, 2) or (f"after #{entry.call}" if entry.call is not None else "")
        self._table.add_row("", f"response {entry.message}" if _is_text(self._strand) else where, Text(says, "italic"))

    def _key(self, entry: Exchange) -> tuple[str | int, ...]:
        """What makes two exchanges look the same: everything but the marked stretches."""
        shown = (part.whole if part is not None else 0 for part in (entry.args, entry.result))
        return (entry.agent, entry.tool or "", entry.outcome or "", *shown)


def _name(entry: Exchange) -> str:
    return f"#{entry.call}" if entry.call is not None else f"response {entry.message}"


def _place(rung: Rung) -> str:
    return f"#{rung.call}" if rung.call is not None else f"response {rung.message}"


def _is_text(strand: Strand) -> bool:
    """Whether it is about responses without calls."""
    return not any(isinstance(entry, Exchange) and entry.call is not None for entry in strand.entries)


def _names(entries: Sequence[Exchange]) -> str:
    calls = [entry.call for entry in entries if entry.call is not None]
    return _ranges(sorted(calls)) if len(calls) == len(entries) else _name(entries[0])


def _cells(shown: Shown) -> list[Cell]:
    """The characters of *shown* on one line, with the number of the mark they stand in."""
    cells: list[Cell] = []
    at = 0
    for number, (start, end) in enumerate([*shown.marks, (len(shown.text), len(shown.text))]):
        cells += _plain_cells(shown.text[at:start], after=cells)
        cells += [(char, number) for char in clean(" ".join(shown.text[start:end].split()))]
        at = end
    return cells


def _plain_cells(text: str, after: Sequence[Cell] = ()) -> list[Cell]:
    flat = clean(" ".join(f"x{text}x".split())[1:-1])
    return [(char, -1) for char in flat]


def _text(cells: Sequence[Cell]) -> Text:
    text = Text()
    inside = -1
    for char, mark in [*cells, ("", -1)]:
        if mark != inside:
            text.append("~" * ((inside >= 0) + (mark >= 0)), "cyan")
            inside = mark
        text.append(char, "cyan" if mark >= 0 else "")
    return text


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    size = min(len(one), len(other))
    return next((index for index in range(size) if one[index] != other[index]), size)


def _foot(strand: Strand, *, masked: bool) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False, show_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    rungs = [f"{name} {rung}" for name, rung in strand.ladder._asdict().items() if rung is not None]
    origin = "the ceiling of unattended runs" if strand.ladder_from == "ceiling" else strand.ladder_from
    table.add_row("Ladder", f"{', '.join(rungs)} ({clean(origin)})")
    table.add_row("Next", _next(strand.next, strand))
    if strand.between and strand.pattern != "stalled":
        table.add_row("Between", f"{plural(strand.between, 'other call')}, which neither counted nor broke the count")
    if strand.elsewhere:
        reached = (f"{rung.level.label} at {_place(rung)} by {pattern}" for pattern, rung in strand.elsewhere)
        table.add_row("Same loop", ", ".join(reached))
    for group in strand.left_out:
        table.add_row("Left out", f"{_ranges(group.calls)}: {WHY[group.reason]}")
    if any(rung.would is not None for rung in strand.rungs):
        table.add_row("Shadow", "decisions are only reported")
    if masked:
        table.add_row("~ ~", "what stands between these says nothing new by itself and was not compared")
    return table


def _next(ahead: Next, strand: Strand) -> str:
    if ahead.level is None:
        return {
            "last_rung": "nothing: this loop has reached stop",
            "no_higher_rung": "nothing: this ladder has no higher rung",
            "strongest": "nothing: the policy takes no stronger decision",
        }.get(ahead.why or "", f"nothing: {WHY.get(ahead.why or '', 'the loop is over')}, and every ladder at its bottom")
    what = UNITS.get(strand.pattern) or UNITS.get(strand.unit, "such call")
    says = f"{ahead.level.label} at {ahead.repeats}"
    if ahead.carried:
        says += f", {ahead.carried} of them from before"
    if ahead.more is None:
        return says
    which = f"next {what}" if ahead.more == 1 else f"{_ordinal(ahead.more)} {what} from here"
    if not ahead.before:
        return f"{says}: after the {which}"
    if strand.unit == "laps":
        return f"{says}: as the {which} begins"
    if "failure" in which:
        return f"{says}: before the call that would be the {which}"
    return f"{says}: before the {which} runs"


UNITS = {
    "laps": "lap",
    "responses": "such response",
    "percent": "percent",
    "repeated_failure": "such failure",
    "recurring_failure": "such failure",
    "failure_cascade": "such failure",
    "empty_answers": "such answer",
    "recovered_ground": "such read",
    "oscillation": "such change",
    "stalled": "such interval",
}
"""What comes once more, by pattern, else by what the count counts."""


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _ranges(calls: Sequence[int], most: int = 8) -> str:
    """Ordinals as people write them: #3, #5-#9."""
    ranges: list[list[int]] = []
    for call in calls:
        if ranges and call == ranges[-1][1] + 1:
            ranges[-1][1] = call
        else:
            ranges.append([call, call])
    said = [f"#{first}" if first == last else f"#{first}-#{last}" for first, last in ranges[:most]]
    return ", ".join(said) + (f" and {len(ranges) - most} more stretches" if len(ranges) > most else "")
