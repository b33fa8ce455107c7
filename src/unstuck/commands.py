"""What a command line, a statement of SQL or a piece of code does, as far as its text says so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from unstuck import words
from unstuck.lazily import lazily
from unstuck.programs import CommandKind, kind_of_program

_STEP = lazily(r"&&|\|\||[;|\n]")
_REDIRECT = lazily(r"(?<![0-9&=\-])>>?(?!\s*(?:/dev/null|&|=|\d+(?![\w./-])))")
DETOUR = (
    r">\s*(?P<file>/tmp/[\w./-]{1,200})(?:\s+2>&1)?\s*(?:;|&&)\s*(?:cat|tail|head)(?:\s+-n?\s*\d{1,9})?\s+(?P=file)(?![\w./-])"
)
"""Output that goes through a temporary file, which is shown at once."""
_PREFIXES = frozenset(("sudo", "env", "time", "nohup", "command", "exec", "xargs", "then", "do", "("))
_CODE_WRITES = lazily(
    r"\bopen\s*\([^()\n]*(?:\([^()\n]*\)[^()\n]*)?,\s*(?:mode\s*=\s*)?[rbf]?['\"][rbt]*[wax+]"
    r"|\.(?:write_text|write_bytes|to_csv|to_json|to_parquet|to_sql|savefig|unlink|rename|mkdir|rmdir|touch|writelines)\s*\("
    r"|\b(?:os|shutil)\.(?:remove|rename|replace|makedirs|mkdir|unlink|rmdir|chmod|copy\w*|move|rmtree)\s*\("
    r"|\b(?:write|append|copy|rename|unlink|rm|mkdir)(?:File)?(?:Sync)\s*\(|\bfs\.(?:write|append|rename|unlink|mkdir|rm)\w*\s*\("
    r"|\bFile\.write\s*\(|\bfile_put_contents\s*\("
)
_SQL_CHANGES = lazily(
    r"(?:^|[;()\"'])\s*(?:insert\s+(?:or\s+\w+\s+)?into|update\s+\S+\s+(?:as\s+\w+\s+|\w+\s+)?set|delete\s+from|merge\s+into"
    r"|(?:create|alter|drop)\s+(?:or\s+replace\s+|temp\w*\s+|unique\s+|materialized\s+|external\s+)*"
    r"(?:table|index|view|database|schema|user|role|trigger|function|procedure|type|sequence|extension)"
    r"|replace\s+into|truncate\s+\w|grant\s+\w.{0,200}\sto|revoke\s+\w.{0,200}\sfrom|copy\s+\S+(?:\s*\([^)]*\))?\s+from)\b",
    re.IGNORECASE,
)
_SQL_CLIENT = lazily(r"\b(?:sqlite3?|psql|mysql|sqlcmd|usql|sqlplus)\b")
_SQL_LOOKS = lazily(
    r"[\s(]*(?:select|show|describe|desc|explain|pragma|values)\b"
    r"|\s*with\s+(?:recursive\s+)?\w+(?:\s*\([^)]{0,400}\))?\s+as\s*(?:(?:not\s+)?materialized\s*)?\(",
    re.IGNORECASE,
)
_COMMENT = lazily(r"--[^\n]*|/\*.{0,1024}?\*/", re.DOTALL)


def command_of(args: Any) -> str | None:
    """The command line or code among *args*, `None` where there is none."""
    if isinstance(args, str):
        return args
    if not isinstance(args, Mapping):
        return None
    for field in words.COMMAND_FIELDS:
        value = args.get(field)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return " ".join(item for item in value if isinstance(item, str))
    return None


def kind_of_command(command: str | None) -> CommandKind:
    """The kind of one command line: any part that changes something makes it a write, else any wait, else reads."""
    if not command or len(command) > 16_384:
        return "shell"
    if _SQL_LOOKS.match(command):
        told = kind_of_sql(command)
        if told is not None:
            return told
    if ">" in command and _REDIRECT.search(re.sub(DETOUR, "", command)):
        return "write"
    if "(" in command and _CODE_WRITES.search(command):
        return "write"
    if "sql" in command and _SQL_CLIENT.search(command) and _SQL_CHANGES.search(command):
        return "write"
    found = {_kind_of_step(step) for step in _STEP.split(command)}
    for kind in _ORDER:
        if kind in found:
            return kind
    return "shell"


_ORDER: tuple[CommandKind, ...] = ("write", "step", "wait", "shell", "read")


def _kind_of_step(step: str) -> CommandKind | None:
    return kind_of_program(_program(step.split()))


def _program(tokens: list[str]) -> list[str]:
    """*tokens* from the program on: what only prepares it is left out."""
    at = next((at for at, token in enumerate(tokens) if token not in _PREFIXES and "=" not in token), len(tokens))
    return tokens[at:]


def kind_of_sql(statement: str) -> Literal["read", "write"] | None:
    """Whether a statement of SQL changes something or only looks; `None` where it is no SQL that is known."""
    statement = statement[:4_096]
    if "--" in statement or "/*" in statement:
        statement = _COMMENT.sub(" ", statement)
    if _SQL_CHANGES.search(statement):
        return "write"
    return "read" if _SQL_LOOKS.match(statement) else None


def last_program(command: str) -> list[str]:
    """The words of the last step of a command line, whose exit status is the whole line's; what stands in quotes is left out."""
    steps = [step for step in _STEP.split(_QUOTES.sub("''", command[-4_096:])) if step.strip()]
    return _program(steps[-1].split()) if steps else []


def asks(command: str) -> bool:
    """Whether the exit status of a command line is an answer: 1 for "nothing found", "they differ", "it is not so"."""
    tokens = last_program(command)
    if not tokens:
        return False
    program = tokens[0].rsplit("/", 1)[-1].lower()
    return program in words.SHELL_ASK or (program == "git" and tokens[1:2] in (["grep"], ["diff"]))


def changed_part(command: str) -> str | None:
    """
    What a command line changes before it goes on to something else: the edit in `sed -i ... && pytest`. `None` where it only
    changes something, or nothing.
    """
    steps = [(step, _kind_of_step(step)) for step in _STEP.split(command[:16_384]) if step.strip()]
    if "(" in command and _CODE_WRITES.search(command):
        return command
    changes = [step for step, kind in steps if kind == "write" or (">" in step and _REDIRECT.search(step))]
    if not changes or steps[-1][0] == changes[-1] or steps[-1][1] is None:
        return None
    if "<<" in command:
        changes += [body[2] for body in _HERE.finditer(command)]
    return "\n".join(changes)


_HERE = lazily(r"<<-?[ ]?['\"]?(\w{1,40})['\"]?[^\n]*\n(.*?)\n[ \t]*\1\b", re.DOTALL)
_QUOTES = lazily(r"'[^']*'|\"[^\"]*\"")


def seconds_of(args: Any) -> float:
    """The seconds for which a command line or a tool that waits says that it waits, 0.0 where it does not say."""
    command = command_of(args)
    if command is not None:
        return sum(float(count) * _UNITS[unit.lower()] for count, unit in _SLEEP.findall(command[:4_096]))
    if not isinstance(args, Mapping):
        return 0.0
    for field, unit in words.DURATION_FIELDS.items():
        value = args.get(field)
        if isinstance(value, int | float):
            return min(float(value) * unit, 1e9)
    return 0.0


_SLEEP = lazily(
    r"\b(?:time\.)?(?:start-)?sleep(?:\(|\s+(?:-s(?:econds)?\s+)?)\s*(\d{1,9}(?:\.\d{1,9})?)([smhd]?)\b", re.IGNORECASE
)
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
