"""Enters the hooks into a coding agent's settings file, takes them out, says how they stand."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from unstuck.hooks import AGENTS, module_of
from unstuck.hooks.settings import RefusedError, commands, entered, is_blank, without

Standing: TypeAlias = Literal["installed", "outdated", "partly", "not installed"]
BACKUP = ".unstuck-backup"


class Change(NamedTuple):
    """What becomes of the settings file at *path*: its text before and after, `None` where there is no file."""

    agent: str
    path: Path
    before: str | None
    after: str | None

    @property
    def is_none(self) -> bool:
        """Whether nothing changes."""
        return self.before == self.after


class Place(NamedTuple):
    """The settings file of *agent*; *folder* is the project, `None` for all projects of the person."""

    agent: str
    folder: Path | None = None
    environ: Mapping[str, str] = os.environ

    @property
    def path(self) -> Path:
        """The file, whether it exists or not."""
        module = module_of(self.agent)
        if self.folder is not None:
            return self.folder / module.PROJECT
        variable, home, file = module.HOME
        given = self.environ.get(variable)
        return (Path(given).expanduser() if given else Path.home() / home) / file

    def is_found(self) -> bool:
        """Whether this person has the coding agent: its folder is there, or its program is on the path."""
        user = self._replace(folder=None).path.parent
        return user.is_dir() or shutil.which(module_of(self.agent).PROGRAM, path=self.environ.get("PATH")) is not None


def found_agents(environ: Mapping[str, str]) -> list[str]:
    """The coding agents that this person has."""
    return [agent for agent in AGENTS if Place(agent, environ=environ).is_found()]


def command_line(agent: str) -> list[str]:
    """The command that a coding agent runs; `-P` keeps its working directory from shadowing modules."""
    return [sys.executable, "-P", "-m", "unstuck", "hook", "run", agent]


def quoted(command: list[str], shell: str, platform: str = sys.platform) -> str:
    """*command* as one line for the shell in which the coding agent runs it: on Windows bash, cmd or powershell, else sh."""
    if platform != "win32":
        return shlex.join(command)
    if shell == "bash":
        return shlex.join([word.replace("\\", "/") for word in command])
    if shell == "powershell":
        first = command[0]
        call = "& '" + first.replace("'", "''") + "'" if set(first) & set(" '()&") else first
        return " ".join([call, *command[1:]])
    return subprocess.list2cmdline(command)


def installing(place: Place) -> Change:
    """What installing would change. Raises `RefusedError`."""
    path, before = _open(place)
    if standing(place) == "installed":
        return Change(place.agent, path, before, before)
    module = module_of(place.agent)
    command = quoted(command_line(place.agent), module.WINDOWS_SHELL)
    with _about(path):
        after = entered(_original(place.agent, path, before), place.agent, module, command)
    return Change(place.agent, path, before, after)


def uninstalling(place: Place) -> Change:
    """What uninstalling would change: the file becomes what it was, or loses what is ours where it has changed since."""
    path, before = _open(place)
    with _about(path):
        return Change(place.agent, path, before, _original(place.agent, path, before))


def apply(change: Change) -> None:
    """
    Carry out *change*: the new file replaces the old in one step.

    A copy of the file as it was without the hooks stays beside it while they are in there. A folder is made where there is none, and
    never removed: nobody knows later who made it. Raises `RefusedError`.
    """
    agent, path, before, after = change
    backup = Path(f"{path}{BACKUP}")
    try:
        if after is None:
            path.unlink()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        is_restored = _read(backup) == after
        if before is not None and not _commands(before, agent):
            _replace(backup, before, path)
        _replace(path, after, path)
        if is_restored:
            backup.unlink()
    except OSError as error:
        raise RefusedError(f"{path}: {error.strerror or error}") from error


def standing(place: Place) -> Standing:
    """How the hooks of *place* stand. Raises `RefusedError`."""
    path = _real(place)
    module = module_of(place.agent)
    with _about(path):
        ours = _commands(_read(path), place.agent)
    wanted = [quoted(command_line(place.agent), module.WINDOWS_SHELL)]
    if not ours:
        return "not installed"
    if any(command not in wanted for found in ours.values() for command in found):
        return "outdated"
    return "installed" if ours == dict.fromkeys(module.EVENTS, wanted) else "partly"


def _commands(text: str | None, agent: str) -> dict[str, list[str]]:
    return {} if text is None or is_blank(text) else commands(text, agent)


def _original(agent: str, path: Path, text: str | None) -> str | None:
    """*text* as it was before the hooks were entered: what was put by, where entering them there gives just this text."""
    ours = _commands(text, agent)
    if not ours or text is None:
        return text
    was = _read(Path(f"{path}{BACKUP}"))
    command = next(iter(ours.values()))[0]
    if entered(was, agent, module_of(agent), command) == text:
        return was
    return without(text, agent)


def _open(place: Place) -> tuple[Path, str | None]:
    """The file to change, links followed, and its text; raises `RefusedError` where it must not be changed."""
    path = _real(place)
    if path.is_dir():
        raise RefusedError(f"{path}: it is a folder")
    if path.exists() and not path.stat().st_mode & stat.S_IWUSR:
        raise RefusedError(f"{path}: it is read-only; make it writable if the hooks shall go in there")
    with _about(path):
        return path, _read(path)


def _real(place: Place) -> Path:
    return Path(os.path.realpath(place.path))


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        raise RefusedError("it is not UTF-8; save it as UTF-8 and try again") from None
    except OSError as error:
        raise RefusedError(error.strerror or str(error)) from error


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Put the file's name before what is wrong with it."""
    try:
        yield
    except RefusedError as error:
        raise RefusedError(f"{path}: {error}") from error


def _replace(path: Path, text: str, like: Path) -> None:
    """Write *text* to *path* in one step, with the mode of *like*."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    mode = stat.S_IMODE(like.stat().st_mode) if like.exists() else None
    try:
        with new.open("wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            new.chmod(mode)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def compile_package() -> None:
    """Write the package's byte code where an installer has not: without it every hook would compile its modules anew."""
    import compileall

    with suppress(OSError):
        compileall.compile_dir(str(Path(__file__).parent.parent), quiet=2)
