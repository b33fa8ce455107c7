"""`unstuck hook`: enter the hooks into coding agents' settings, take them out, see how they stand."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from unstuck.hooks import AGENTS, module_of
from unstuck.hooks.install import (
    Change,
    Place,
    apply,
    compile_package,
    found_agents,
    installing,
    standing,
    uninstalling,
)
from unstuck.hooks.settings import RefusedError

FINE, REFUSED = 0, 2
F = TypeVar("F", bound=Callable[..., Any])
EXAMPLES = """\b
Examples:
  unstuck hook install --dry-run
  unstuck hook install
  unstuck hook install codex --project ~/shop
  unstuck hook status
"""


@click.group(epilog=EXAMPLES)
def command() -> None:
    """
    Guard coding agents while they work.

    After `unstuck hook install` each of them asks unstuck before and after every tool call: a session that goes in circles is told so,
    then refused the call, then ended. `unstuck log` shows what was done, `unstuck hook uninstall` takes it all back.
    """


class _Folder(click.Path):
    """A folder; the name of a coding agent is none, unless there is such a folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value in AGENTS and not Path(value).is_dir():
            self.fail(f"{value!r} is taken for the project's folder here; write it before --project", param, ctx)
        return super().convert(value, param, ctx)


def _where(function: F) -> F:
    agents = click.argument("agents", nargs=-1, type=click.Choice(list(AGENTS)), metavar="[AGENT]...")
    project = click.option(
        "--project",
        type=_Folder(exists=True, file_okay=False),
        is_flag=False,
        flag_value=".",
        metavar="[FOLDER]",
        help="In the settings of one project (the current folder, unless you name one), not in yours for all projects.",
    )
    return agents(project(function))


_dry_run = click.option("--dry-run", is_flag=True, help="Show what would change and change nothing.")


@command.command(short_help="Enter the hooks into the settings of coding agents.", epilog=EXAMPLES)
@_where
@_dry_run
def install(agents: tuple[str, ...], project: str | None, *, dry_run: bool) -> int:
    """
    Enter the hooks into the settings of coding agents.

    AGENT is one of claude_code, codex, gemini_cli, qwen_code; without one, every coding agent that is found on this computer. The file as
    it was is kept beside it.
    """
    status = _change(agents, project, installing, dry_run=dry_run)
    if not dry_run:
        compile_package()
    return status


@command.command(short_help="Take the hooks out again.", epilog="Example: unstuck hook uninstall")
@_where
@_dry_run
def uninstall(agents: tuple[str, ...], project: str | None, *, dry_run: bool) -> int:
    """
    Take the hooks out again; everything else in the settings stays.

    AGENT is one of claude_code, codex, gemini_cli, qwen_code; without one, every coding agent that is found on this computer.
    """
    return _change(agents, project, uninstalling, dry_run=dry_run)


@command.command(short_help="Say where the hooks are installed.", epilog="Example: unstuck hook status")
@_where
def status(agents: tuple[str, ...], project: str | None) -> int:
    """
    Say where the hooks are installed.

    AGENT is one of claude_code, codex, gemini_cli, qwen_code; without one, all of them. `outdated`: they name another place of unstuck than
    this one. `partly`: some are missing. `unstuck hook install` puts both right.
    """
    result = FINE
    for agent in agents or tuple(AGENTS):
        place = _place(agent, project)
        try:
            said = standing(place) if agents or place.is_found() else "not found on this computer"
            click.echo(f"{module_of(agent).TITLE}: {said} ({place.path})")
        except RefusedError as error:
            click.echo(f"{module_of(agent).TITLE}: {error}", err=True)
            result = REFUSED
    return result


@command.command(short_help="Answer one event; coding agents call this, not you.")
@click.argument("agent", type=click.Choice(list(AGENTS)))
def run(agent: str) -> int:
    """Answer one event on standard input; coding agents call this."""
    from unstuck.hooks.run import main

    return main([agent])


def _place(agent: str, project: str | None) -> Place:
    return Place(agent, Path(project).resolve() if project else None, os.environ)


def _change(agents: Sequence[str], project: str | None, plan: Callable[[Place], Change], *, dry_run: bool) -> int:
    chosen = agents or found_agents(os.environ)
    if not chosen:
        click.echo(f"no coding agent found; name one: {', '.join(AGENTS)}", err=True)
        return REFUSED
    result = FINE
    for agent in chosen:
        module = module_of(agent)
        try:
            change = plan(_place(agent, project))
            if dry_run and not change.is_none:
                click.echo(_diff(change), nl=False)
                continue
            if not change.is_none:
                apply(change)
            click.echo(f"{module.TITLE}: {_done(change, plan)} ({change.path})")
            if not change.is_none and plan is installing:
                click.echo(f"  {module.NOTE}")
        except RefusedError as error:
            click.echo(f"{module.TITLE}: {error}; nothing was changed", err=True)
            result = REFUSED
    return result


def _done(change: Change, plan: Callable[[Place], Change]) -> str:
    if plan is installing:
        return "the hooks are in there already" if change.is_none else "hooks entered"
    if change.is_none:
        return "no hooks in there"
    return "hooks taken out" if change.after is not None else "hooks taken out, and the file, which held nothing else"


def _diff(change: Change) -> str:
    before, after = (text.splitlines(keepends=True) if text is not None else [] for text in (change.before, change.after))
    old, new = (str(change.path) if text is not None else os.devnull for text in (change.before, change.after))
    lines = difflib.unified_diff(before, after, old, new)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
