"""`unstuck log`: what the hooks did."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unstuck.cli.inputs import since
from unstuck.errors import StateError
from unstuck.hooks import AGENTS, log, module_of
from unstuck.reporters import clean, plural, shortened
from unstuck.store import FILE, Row, Store, folder

if TYPE_CHECKING:
    from rich.text import Text

FINE, USAGE = 0, 2
STYLES = {"nudged": "yellow", "denied": "magenta", "ended": "bold red"}
EXAMPLES = """\b
Examples:
  unstuck log                 (sessions in which something was done)
  unstuck log --since 7d --json
  unstuck log 3f3af8f4        (one session, by the beginning of its id)
"""


class Session:
    """One session of a coding agent: what is kept of it, and the log's entries about it."""

    def __init__(self, program: str, session: str) -> None:
        self.program = program
        self.session = session
        self.rows: list[Row] = []
        self.entries: list[dict[str, Any]] = []

    @property
    def calls(self) -> int:
        """Calls so far, those of sub-agents with them."""
        return sum(row.calls for row in self.rows)

    @property
    def seen(self) -> float:
        """When it was last heard of, seconds since 1970."""
        return max([row.seen for row in self.rows] + [entry["time"] for entry in self.entries], default=0.0)

    @property
    def project(self) -> str:
        """The folder it works in."""
        return next((str(one) for one in (*(row.project for row in self.rows), *self._projects()) if one), "")

    def _projects(self) -> Iterable[str]:
        return (entry.get("project", "") for entry in self.entries)

    def as_json(self) -> str:
        """One line for programs."""
        fields = (
            "time",
            "event",
            "agent",
            "action",
            "level",
            "shadow",
            "pattern",
            "count",
            "unit",
            "tools",
            "loop",
            "call",
            "error",
        )
        return json.dumps(
            {
                "program": self.program,
                "session": self.session,
                "project": self.project,
                "calls": self.calls,
                "seen": self.seen,
                "entries": [{name: entry[name] for name in fields if name in entry} for entry in self.entries],
            }
        )


@click.command(epilog=EXAMPLES, context_settings={"max_content_width": 100})
@click.argument("session", required=False)
@click.option("--since", callback=since, metavar="WHEN", help="Only sessions heard of since then: 7d, 12h, 2w ago, or a date.")
@click.option("--all", "everything", is_flag=True, help="Also the sessions in which nothing had to be done.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a session and line.")
def command(session: str | None, since: datetime | None, *, everything: bool, as_json: bool) -> int:
    """
    Show what the hooks did: whom they told, refused or ended, when and why.

    Session by session, the latest last. SESSION is an id or its beginning. Where a hook itself failed, that stands there too; it let
    its call through.
    """
    where = folder(os.environ)
    heard = sessions(where)
    found = [one for one in heard if session is None or one.session.startswith(session)]
    if since is not None:
        found = [one for one in found if one.seen >= since.timestamp()]
    if not found:
        click.echo(_nothing(where, heard, session, since), err=True)
        return FINE if session is None else USAGE
    shown = [one for one in found if everything or session or one.entries]
    if as_json:
        for one in shown:
            click.echo(one.as_json())
    else:
        _show(shown, len(found))
    return FINE


def _nothing(where: str, heard: list[Session], session: str | None, since: datetime | None) -> str:
    """Why there is nothing to show, and what to do about it."""
    if not heard:
        return f"no session was heard of yet ({where}); `unstuck hook status` says whether the hooks are installed"
    named = f"no session with an id that begins with {session!r}" if session is not None else "no session"
    date = f" since {since.astimezone():%Y-%m-%d %H:%M}" if since is not None else ""
    return f"{named} was heard of{date}; `unstuck log --all` lists what was: {plural(len(heard), 'session')}"


def sessions(where: str) -> list[Session]:
    """Every session in the folder *where*, in the order in which they were last heard of."""
    found: dict[tuple[str, str], Session] = {}
    for row in _kept(where):
        found.setdefault((row.program, row.session), Session(row.program, row.session)).rows.append(row)
    for entry in log.entries(where):
        if isinstance(entry.get("time"), int | float):
            key = (str(entry.get("program")), str(entry.get("session", "")))
            found.setdefault(key, Session(*key)).entries.append(entry)
    return sorted(found.values(), key=lambda one: one.seen)


def _kept(where: str) -> list[Row]:
    path = Path(where, FILE)
    if not path.exists():
        return []
    try:
        store = Store(str(path))
        try:
            return store.sessions()
        finally:
            store.close()
    except StateError as error:
        click.echo(str(error), err=True)
        return []


def _show(shown: list[Session], count: int) -> None:
    from rich.text import Text

    from unstuck.cli.output import Output

    console = Output(soft_wrap=True, highlight=False)
    for one in shown:
        title = module_of(one.program).TITLE if one.program in AGENTS else clean(one.program)
        name = shortened(clean(one.session), 36) or "(no session)"
        about = f"  {plural(one.calls, 'call')}" if one.rows else ""
        console.print(Text.assemble((name, "bold"), f"  {title}{about}  ", (clean(one.project), "dim")))
        for entry in one.entries:
            console.print(_line(entry))
    rest = "; --all lists the others" if count > len(shown) else ""
    console.print(f"{plural(count, 'session')}, {len([one for one in shown if one.entries])} with something to tell{rest}")


def _line(entry: dict[str, Any]) -> Text:
    from rich.text import Text

    when = datetime.fromtimestamp(entry["time"], UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    if "error" in entry:
        return Text.assemble("  ", (when, "dim"), "  ", ("let through", "red"), f"  {clean(str(entry['error']))}")
    action = str(entry.get("action") or (f"would {entry.get('level')}" if entry.get("shadow") else "noted"))
    what = f"{clean(str(entry.get('pattern')))}, {entry.get('count')} {entry.get('unit')}"
    tools = ", ".join(clean(str(tool)) for tool in entry.get("tools", ())[:4])
    agent = "" if entry.get("agent") == "main" else f" by {shortened(clean(str(entry.get('agent'))), 20)}"
    at = f"call {entry['call']}" if entry.get("call") else "text"
    return Text.assemble(
        "  ",
        (when, "dim"),
        "  ",
        (f"{action:<11}", STYLES.get(action, "cyan")),
        f"  {at:<9}  {what} of {tools or 'text'}{agent}",
    )
