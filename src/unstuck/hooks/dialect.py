"""What the hooks of all coding agents have in common: what a delivery is, what an answer is, and what a module must offer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from unstuck.errors import ReadError
from unstuck.events import MAIN, Call, Compaction, Message, Result, User
from unstuck.findings import Level

Action: TypeAlias = Literal["nudged", "denied", "ended"]
"""What a hook did: told the model, refused one call, ended the run. A run that cannot be ended has every further call denied."""
Environ: TypeAlias = Mapping[str, str]


class Delivered(NamedTuple):
    """
    One event of a coding agent that matters here.

    *event* has the session as its run; the guard gives calls and responses their numbers. *key*: the same event delivered twice
    has the same one (`None`: cannot be told). *call*: tool and arguments of a result whose *id* is empty, to find its call by.
    """

    session: str
    agent: str
    event: Call | Result | User | Message | Compaction
    key: str | None
    project: str
    call: tuple[str, Any] | None = None
    attended: bool = True


class Answer(NamedTuple):
    """What is printed as JSON (`None`: nothing), and what that makes the agent do."""

    output: Mapping[str, Any] | None = None
    action: Action | None = None


class Dialect(Protocol):
    """What the module of a coding agent offers."""

    TITLE: str
    """The program's name for people."""
    PROGRAM: str
    """The command that starts it, by which it is found."""
    EVENTS: tuple[str, ...]
    """Its events that are listened to."""
    ENTRY: Mapping[str, Any]
    """What an entry in its settings holds beside the command: among it how long to wait, far more than a hook takes."""
    HOME: tuple[str, str, str]
    """Environment variable that names its folder, that folder under the person's home, and the settings file in it."""
    PROJECT: str
    """The settings file in a project's folder; where there is one, that for a person alone, since the command names a place."""
    WINDOWS_SHELL: str
    """What runs the command on Windows: bash, cmd or powershell."""
    ENDS: bool
    """Whether a hook can end the run; else every further call is denied until a person speaks."""
    NOTE: str
    """What a person has to know after installing, or nothing."""

    def read(self, payload: Mapping[str, Any], environ: Environ, now: float) -> Delivered | None:
        """What *payload* says at *now* (seconds since 1970); `None` where it does not matter here. May raise for a broken one."""
        ...

    def answer(self, name: str, level: Level, text: str) -> Answer:
        """How to carry out *level* at the event *name*, with *text* for the model."""
        ...


def session_of(payload: Mapping[str, Any]) -> str:
    """The session's id; raises `ReadError` without one."""
    session = payload.get("session_id")
    if not isinstance(session, str) or not session:
        raise ReadError("the event", "it has no session_id")
    return session


def tool_of(payload: Mapping[str, Any]) -> str:
    """The tool's name; raises `ReadError` without one."""
    tool = payload.get("tool_name")
    if not isinstance(tool, str) or not tool:
        raise ReadError("the event", "it has no tool_name")
    return tool


def acting(payload: Mapping[str, Any]) -> tuple[str, str | None]:
    """The agent that acts and, where that is a sub-agent, the one that started it."""
    agent = payload.get("agent_id")
    return (agent, MAIN) if isinstance(agent, str) and agent else (MAIN, None)


def text_field(payload: Mapping[str, Any], name: str) -> str | None:
    """The field *name* where it is text."""
    value = payload.get(name)
    return value if isinstance(value, str) else None
