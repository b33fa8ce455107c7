"""`unstuck watch`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unstuck.cli.followed import Followed, modified
from unstuck.cli.inputs import files, known_places, since
from unstuck.errors import MissingDependencyError
from unstuck.reporters import clean, figure, money, shortened

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from unstuck.scan import RunReport

RECENT = timedelta(hours=1)
"""How long a session is shown after it was last written to, unless told otherwise."""
SHOWN = 30
NOTHING = 3


EXAMPLES = """\b
Examples:
  unstuck watch
  unstuck watch --once --since 12h
  unstuck watch ~/.claude/projects
"""


@click.command(epilog=EXAMPLES)
@click.argument("paths", nargs=-1, type=click.Path(exists=True), metavar="[PATH]...")
@click.option(
    "--since",
    callback=since,
    metavar="WHEN",
    help="Show sessions active since then: 30m, 12h, 7d ago, or a date (default: 1h).",
)
@click.option("--once", is_flag=True, help="Print the table once and exit.")
def command(paths: tuple[str, ...], since: datetime | None, *, once: bool) -> int:
    """
    Follow the sessions of coding agents while they go on: which of them repeat themselves, how often, and what was spent on that.

    PATH is a session file or a folder; without one, the places where coding agents keep sessions. Sessions are only read; hooks are not
    needed. Ctrl-C ends it. Following needs the extra `watch`, --once does not.
    """
    from unstuck.cli.output import Output
    from unstuck.config import Options

    folders = [Path(path) for path in paths] or known_places(os.environ, Path.home())[0]
    if not folders:
        click.echo("no sessions found; name a file or folder: unstuck watch PATH", err=True)
        return NOTHING
    followed = Followed(Options.load(Path.cwd(), os.environ).rules())
    span = datetime.now(UTC) - since if since is not None else RECENT
    for path, changed in modified(_all_files(folders), time.time() - span.total_seconds()):
        followed.touch(path, changed)
    followed.read(time.time())
    console = Output()
    if once:
        console.print(_now(console, followed, span))
        return 0
    _follow(console, followed, folders, span)
    return 0


def _all_files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from files(folder) if folder.is_dir() else [folder]


def _follow(console: Console, followed: Followed, folders: list[Path], span: timedelta) -> None:
    try:
        import watchfiles
    except ImportError as error:
        raise MissingDependencyError("watchfiles", "watch") from error
    from rich.live import Live

    places = {folder if folder.is_dir() else folder.parent for folder in folders}
    with Live(console=console, auto_refresh=False) as live:

        def show() -> None:
            # Without a terminal there is nothing to draw over: each state is a table of its own.
            if console.is_terminal:
                live.update(_now(console, followed, span), refresh=True)
            else:
                console.print(_now(console, followed, span))

        show()
        with suppress(KeyboardInterrupt):  # that is how a person ends it
            for changes in watchfiles.watch(*places, yield_on_timeout=True, rust_timeout=1000):
                for path, changed in modified([Path(name) for _, name in changes], 0.0):
                    followed.touch(path, changed)
                if followed.read(time.time()) or console.is_terminal:
                    show()


def _now(console: Console, followed: Followed, span: timedelta) -> Table:
    now = time.time()
    return fitting(console, followed.runs(now - span.total_seconds()), now)


def fitting(console: Console, runs: list[tuple[float, RunReport]], now: float) -> Table:
    """The table of *runs* at *now* with a line for each session where that fits, else with two."""
    from rich.measure import Measurement

    wide = table(runs, now)
    room = Measurement.get(console, console.options.update(max_width=1000), wide).maximum
    return wide if room <= console.width else table(runs, now, wide=False)


def table(runs: list[tuple[float, RunReport]], now: float, *, wide: bool = True) -> Table:
    """What the runs have come to at *now*, those that loop first."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("Idle", "Session", *(["Agent", "Pattern"] if wide else ["Loop"])):
        made.add_column(name, no_wrap=True)
    for name in ("Calls", "Repeats", "Spent", "On repeats") if wide else ("Calls\nRepeats", "Spent\nOn repeats"):
        made.add_column(name, no_wrap=True, justify="right")
    made.add_column("Decision", no_wrap=True)
    ordered = sorted(runs, key=lambda entry: (-max((loop.strength for loop in entry[1].loops), default=0), -entry[0]))
    for changed, run in ordered[:SHOWN]:
        made.add_row(_ago(now - changed), *_cells(run, wide=wide))
    more = len(runs) - SHOWN
    made.caption = f"and {more} more" if more > 0 else None if runs else "no session is active"
    return made


def _cells(run: RunReport, *, wide: bool) -> list[RenderableType]:
    from rich.console import Group
    from rich.text import Text

    from unstuck.reporters.terminal import decision

    worst = max(run.loops, key=lambda loop: (loop.strength, loop.repeats), default=None)
    name, program = Text(shortened(clean(run.run), 28 if wide else 14), "bold"), Text(run.format, "dim")
    pattern = Text(clean(worst.pattern) if worst else "")
    tools = Text(shortened(", ".join(map(clean, worst.tools)) if worst else "", 20), "dim")
    calls, repeats = Text(str(run.calls)), Text(str(run.repeated.calls or ""))
    spent, wasted = Text(_spent(run.tokens, run.usd)), Text(_spent(run.repeated.tokens, run.repeated.usd))
    decided = decision(worst) if worst else Text("-", "dim")
    if wide:
        return [name, program, Text.assemble(pattern, " ", tools), calls, repeats, spent, wasted, decided]
    return [Group(name, program), Group(pattern, tools), Group(calls, repeats), Group(spent, wasted), decided]


def _ago(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0, int(seconds))}s"


def _spent(tokens: int | None, usd: float | None) -> str:
    return money(usd) if usd else figure(tokens) if tokens else ""
