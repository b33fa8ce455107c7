"""What one program of a command line does, from its name, its sub-commands and its flags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from unstuck import words

CommandKind: TypeAlias = Literal["read", "write", "wait", "step", "shell"]

_SQL_WRITE = frozenset("insert update delete create drop alter replace truncate grant revoke merge".split())
_SQL_READ = frozenset("select show describe desc explain pragma use".split())
_NOTHING = frozenset(("cd", "set", "export", "true", "fi", "done"))
_SENDS = frozenset("-d --data --data-raw --data-binary --data-urlencode --json -F --form -T --upload-file".split())
_METHOD = frozenset(("-X", "--request", "--method"))
_CHANGING = frozenset(("POST", "PUT", "PATCH", "DELETE"))
_FIXES = frozenset("--fix --write -w --fix-only --in-place -i".split())
_CHECKS = frozenset("--check --diff -c --list -l --get --get-all --help --version --dry-run".split())
_OPTIONS_OF_SSH = frozenset("-i -p -o -l -F -J -L -R -D".split())


def kind_of_program(tokens: Sequence[str]) -> CommandKind | None:
    """The kind of what *tokens*, a program and its arguments, do; `None` where that is nothing, such as a change of folder."""
    if not tokens or tokens[0] in _NOTHING:
        return None
    program, rest = tokens[0].rsplit("/", 1)[-1].lower(), tokens[1:]
    if program in _SQL_WRITE and len(tokens) > 2:
        return "write"
    if program in _SQL_READ and rest:
        return "read"
    if program in words.SHELL_IN_PLACE:
        return "write" if any(_is_in_place(token) for token in rest) else words.SHELL_IN_PLACE[program]
    if program in words.SHELL_HTTP:
        return _of_request(program, rest)
    if program in words.SHELL_FORMATTERS:
        return _of_formatter(program, rest)
    if program in words.SHELL_MANAGERS:
        return _of_manager(program, rest)
    if program == "ssh":
        return _elsewhere(rest)
    if program in words.SHELL_WRITE and program not in words.SHELL_READ:
        return "write"
    if program in words.SHELL_WAIT:
        return "wait"
    if program in words.SHELL_STEP:
        return "step"
    if program in words.SHELL_READ or program in words.SHELL_ASK:
        return "read"
    return _of_words(rest[:2]) or _of_module(rest)


def _of_words(tokens: Sequence[str]) -> CommandKind | None:
    for token in tokens:
        if token in words.SHELL_WRITE:
            return "write"
        if token in words.SHELL_READ:
            return "read"
    return None


def _of_module(rest: Sequence[str]) -> CommandKind:
    """`python -m pip install x`, `python manage.py migrate`: the program is an argument of another."""
    for at, token in enumerate(rest[:2]):
        name = token.rsplit("/", 1)[-1]
        if name in words.SHELL_MANAGERS and (rest[at - 1 : at] == ["-m"] or "." in name):
            return _of_manager(name, rest[at + 1 :])
    return "shell"


def _is_in_place(token: str) -> bool:
    if token.startswith("--"):
        return token.startswith("--in-place")
    return token[:1] == "-" and "i" in token[1:4].rstrip("e") and token[1:2] in ("i", "p", "n", "0", "E", "r", "s")


def _of_request(program: str, rest: Sequence[str]) -> CommandKind:
    """A request over the network looks, unless it sends something or keeps what comes in a file."""
    for at, token in enumerate(rest):
        if token in _METHOD and rest[at + 1 : at + 2] and rest[at + 1].upper() in _CHANGING:
            return "write"
        if token[:2] == "-X" and token[2:].upper() in _CHANGING:
            return "write"
        sends = token.partition("=")[0] in _SENDS or (program == "curl" and token[:2] in ("-d", "-F", "-T"))
        if (sends and "-G" not in rest and "--get" not in rest) or token in _CHANGING:
            return "write"
        if (
            token in ("-O", "--output", "-o", "-OL", "-LO", "-sO", "-LsO")
            and program == "curl"
            and rest[at + 1 : at + 2] != ["/dev/null"]
        ):
            return "write"
    if program == "wget" and not any(token in ("-qO-", "-O-", "-O", "--spider", "-qO") for token in rest):
        return "write"
    return "read"


def _of_formatter(program: str, rest: Sequence[str]) -> CommandKind:
    if not _CHECKS.isdisjoint(rest):
        return "read"
    fixes = not _FIXES.isdisjoint(rest) or program in words.SHELL_FORMATTERS_ALWAYS or rest[:1] == ["format"]
    return "write" if fixes else "shell"


def _of_manager(program: str, rest: Sequence[str]) -> CommandKind:
    """A program with many sub-commands: the first that is known decides, of `put-item` its first word."""
    if program == "git" and rest[:1] == ["config"]:
        return "write" if len(rest) > 2 and _CHECKS.isdisjoint(rest) else "read"
    if program == "gh" and rest[:1] == ["api"]:
        return _of_request("gh", rest[1:])
    if program in ("crontab", "sysctl"):
        sets = rest and (program == "crontab" or "-w" in rest or any("=" in token for token in rest))
        return "write" if sets and _CHECKS.isdisjoint(rest) else "read"
    plain = [token for token in rest[:8] if not token.startswith("-")][:5]
    if plain[:1] == ["exec"]:
        return _elsewhere(rest[1:])
    if plain[:1] == ["run"] and program in ("docker", "podman", "kubectl", "oc"):
        return "write"
    for token in plain:
        if token == "ci" and program not in _INSTALL_BY_CI:
            continue  # of the hosts of code it is what is asked about
        verb = token.split("-")[0].split(":")[-1].lower()
        if token in words.SHELL_READ or verb in ("get", "list", "describe", "show", "status", "logs", "view", "history", "is"):
            return "write" if program == "go" and token == "get" else "read"
        if token in words.SHELL_WRITE or verb in words.SHELL_ACTS or verb in words.WRITE:
            return "write"
    return "shell"


_INSTALL_BY_CI = frozenset(("npm", "pnpm", "bun"))


def _elsewhere(rest: Sequence[str]) -> CommandKind:
    """A command line that is run on another machine or in a container: what follows the place."""
    at = 0
    while at < len(rest) and rest[at].startswith("-") and rest[at] != "--":
        at += 2 if rest[at] in _OPTIONS_OF_SSH else 1
    inner = " ".join(rest[rest.index("--") + 1 :] if "--" in rest else rest[at + 1 :]).strip("'\" ")
    return kind_of_program(inner.split()) or "shell"
