"""`unstuck scan`."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unstuck.cli.inputs import RECENT_DAYS, inputs, known_places, since
from unstuck.cli.scanning import NOTHING, Answer, Scanning, Strict
from unstuck.readers import READERS, formats
from unstuck.traces.source import LINE_BYTES

if TYPE_CHECKING:
    from unstuck.presets import Rules

EXAMPLES = """\b
Examples:
  unstuck scan                (sessions of coding agents, last 30 days)
  unstuck scan ~/.claude/projects --since 7d
  unstuck scan runs.jsonl --json | jq .repeated
  unstuck scan logs/ --fail-on stop --baseline known.json
"""


def known_format(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """*value* if there is such a format."""
    if value is not None and value not in formats():
        raise click.BadParameter(f"{value!r} is none of {', '.join(formats())}")
    return value


preset_option = click.option(
    "--preset",
    metavar="NAME",
    help="Rules to judge by: default (unless the settings name another), pydantic-ai-harness, praisonai, pydantic-deep.",
)
config_option = click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="TOML file with settings, in place of unstuck.toml, pyproject.toml and the environment.",
)


@click.command(epilog=EXAMPLES, context_settings={"max_content_width": 100})
@click.argument("paths", nargs=-1, type=click.Path(exists=True, allow_dash=True), metavar="[PATH]...")
@click.option(
    "--format",
    callback=known_format,
    metavar="NAME",
    help=f"Read every file in this format ({', '.join(READERS)}) instead of looking at its content.",
)
@preset_option
@config_option
@click.option("--since", callback=since, metavar="WHEN", help="Only runs active since then: 7d, 12h, 2w ago, or a date.")
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Only the N looping runs that spent most on repeats.")
@click.option(
    "--fail-on",
    type=click.Choice(["observe", "nudge", "block", "stop"]),
    metavar="LEVEL",
    help="Exit with 1 where a run reached this level or a higher one: observe, nudge, block, stop.",
)
@click.option(
    "--baseline",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Loops known from --write-baseline: they are marked and do not fail.",
)
@click.option(
    "--write-baseline",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write down the loops found as known ones; they do not fail this time either.",
)
@click.option("--strict", is_flag=True, help="Exit with 3 at the first line that cannot be read.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a run, as `unstuck schema` describes it.")
@click.option("--content", is_flag=True, help="With --json: show arguments and results where a loop was found.")
@click.option(
    "--max-line-bytes", type=click.IntRange(min=1024), default=LINE_BYTES, show_default=True, help="Longest line that is read."
)
def command(paths: tuple[str, ...], config: str | None, preset: str | None, **options: Any) -> int:
    """
    Find the runs that looped in recorded sessions.

    PATH is a file, a folder (with all below it) or - for standard input; .gz and .zst are read too. Without a PATH, the sessions that
    coding agents keep on this computer.
    """
    if options["content"] and not options["as_json"]:
        raise click.UsageError("--content shows arguments and results in the answer of --json; add --json")
    rules = rules_of(config, preset)
    if rules.policy.shadow and options["fail_on"] not in (None, "observe"):
        click.echo(f"shadow mode: no run reaches {options['fail_on']}; --fail-on observe fails where a run looped", err=True)
    if not paths:
        paths, options["since"] = _own_sessions(options["since"])
        if not paths:
            return NOTHING
    answer = Answer(options)
    scanning = Scanning(rules, answer, options)
    try:
        scanning.run(list(inputs(paths, lambda line: click.echo(line, err=True))))
    except Strict:
        return NOTHING
    return answer.finish(scanning.read)


def _own_sessions(since: datetime | None) -> tuple[tuple[str, ...], datetime]:
    found, lines = known_places(os.environ, Path.home())
    for line in lines:
        click.echo(line, err=True)
    if since is None and found:
        click.echo(f"looking at the last {RECENT_DAYS} days; --since changes that", err=True)
    if not found:
        click.echo("no sessions found; name a file or folder: unstuck scan PATH", err=True)
    return tuple(map(str, found)), since or datetime.now(UTC) - timedelta(days=RECENT_DAYS)


def rules_of(config: str | None, preset: str | None) -> Rules:
    """The rules that the options *config* and *preset* of a command ask for, else those of the working folder."""
    from unstuck.config import Options, Settings

    over: Settings = {} if preset is None else {"preset": preset}
    options = Options.from_toml(config, **over) if config else Options.load(Path.cwd(), os.environ, **over)
    return options.rules()
