"""The commands, each imported when it is called or when its help is asked for."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

import click

from unstuck.errors import UnstuckError

COMMANDS: Mapping[str, tuple[str, str]] = {
    "scan": ("unstuck.cli.scan:command", "Find the runs that looped in recorded sessions."),
    "explain": ("unstuck.cli.explain:command", "Say why one recorded run looped, or how close it came."),
    "hook": ("unstuck.cli.hook:command", "Guard coding agents while they work: install, status, uninstall."),
    "log": ("unstuck.cli.log:command", "Show what the hooks did, session by session."),
    "watch": ("unstuck.cli.watch:command", "Follow the sessions of coding agents while they go on."),
    "schema": ("unstuck.cli.schema:command", "Print the JSON schema of `unstuck scan --json`."),
}
"""Name -> where the command is, and its line in the list of commands."""

USAGE = 2


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        found = getattr(import_module(module), name)
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from unstuck import __version__

        click.echo(f"unstuck {__version__}")
        ctx.exit()


@click.command(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: unstuck scan ~/.claude/projects",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version and exit."
)
def app() -> None:
    """Notice when an AI agent repeats itself without progress."""


def expanded(arguments: Sequence[str], platform: str = sys.platform) -> list[str]:
    """*arguments* with the files that patterns such as `*.jsonl` stand for: shells of Windows leave that to the program."""
    if platform != "win32":
        return list(arguments)
    from glob import glob

    found: list[str] = []
    for argument in arguments:
        is_pattern = not argument.startswith("-") and set(argument) & set("*?[")
        found += (sorted(glob(argument)) if is_pattern else []) or [argument]  # noqa: PTH207 - arguments are text
    return found


def run(arguments: Sequence[str]) -> int:
    """Run a command; the exit status as `unstuck.cli.main` describes it. Raises `KeyboardInterrupt` after Ctrl-C."""
    # Not `app.main()`: that would turn a closed pipe into status 1, which here means that a run reached --fail-on.
    try:
        with app.make_context("unstuck", expanded(arguments)) as context:
            status = app.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except UnstuckError as error:
        click.echo(f"unstuck: {error}", err=True)
        return USAGE
    return status if isinstance(status, int) else 0
