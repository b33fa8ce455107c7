"""The door for home-made loops: say what happens, be told what to do."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from unstuck.config import Settings
from unstuck.errors import LoopStopped
from unstuck.events import Event, Outcome
from unstuck.findings import Decision, Finding, Level
from unstuck.guard import Guard
from unstuck.live import LiveAgent

if TYPE_CHECKING:
    from unstuck.config import Options
    from unstuck.presets import Rules


class Watch:
    """
    One run, as `watch` makes it; a context manager, with `async with` too. What is told after it was left is still judged.

    Any thread or task may tell something. Calls that belong to one response are parallel: tell the response first.
    """

    def __init__(self, agent: LiveAgent) -> None:
        self._agent = agent
        self._open: list[str] = []

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found so far in this run, oldest first; the latest 1,000."""
        return tuple(self._agent.run.findings)

    def message(self, text: str | None = None, calls: int | None = None, **fields: Any) -> Decision:
        """
        The model answered, before its calls run.

        Args:
            text: what it wrote.
            calls: how many calls the response holds; 0 for text alone, `None` where that is unknown.
            **fields: further fields of `Message`: usage, model, reasoning.

        Returns the decision: `nudge` for text that repeats itself, `block` for a response that goes round in itself; either way tell
        the model `decision.text` with what comes next. Raises `LoopStopped` at `stop`.
        """
        return self._carried_out(self._agent.responded(text, calls, **fields))

    def call(self, tool: str, args: Any = None, *, id: str | None = None, **fields: Any) -> Decision:
        """
        A call is about to run.

        Args:
            tool: the tool's name.
            args: its arguments, an object or text.
            id: what the model calls this call (default: numbered).
            **fields: further fields of `Call`: approved, annotations.

        Returns the decision. At `block` do not run the call: answer it with `decision.text`; there is no result to tell.
        Raises `LoopStopped` at `stop`; the call must not run then.
        """
        id = f"call-{next(self._agent.run.ids)}" if id is None else id
        decision = self._agent.called(id, tool, args, **fields)
        if decision.level < Level.BLOCK:
            with self._agent.run.lock:
                self._open.append(id)
                del self._open[:-256]
        return self._carried_out(decision)

    def result(self, content: Any = None, *, id: str | None = None, outcome: Outcome = "ok") -> Decision:
        """
        What came back for a call.

        Args:
            content: any JSON value, usually text.
            id: of the call (default: the oldest that has no result yet).
            outcome: `ok` (default), `error`, `retry`, `denied`.

        Returns the decision. At `nudge` put `decision.text` into the conversation, after the results of all calls of the response.
        Raises `LoopStopped` at `stop`. A result for no open call is left out of account.
        """
        with self._agent.run.lock:
            if id is None:
                id = self._open[0] if self._open else ""
            if id in self._open:
                self._open.remove(id)
        return self._carried_out(self._agent.returned(id, content, outcome))

    def user(self, text: str | None = None) -> None:
        """A person asked for something: a new turn begins, every ladder at its bottom."""
        self._agent.run.user(text)

    def agent(self, name: str) -> Watch:
        """A sub-agent that begins now: the same run, its own calls."""
        return Watch(self._agent.run.spawned(name, self._agent))

    def _carried_out(self, decision: Decision) -> Decision:
        if decision.level is Level.STOP and decision.finding is not None:
            raise LoopStopped(decision.finding)
        if decision.level >= Level.NUDGE:
            self._agent.nudge()  # the caller has its words already
        return decision

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not self._agent.depth:
            self._agent.run.end("stopped" if isinstance(error, LoopStopped) else "error" if error else None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)


def watch(
    options: Options | Rules | None = None,
    *,
    attended: bool = True,
    on_finding: Callable[[Finding], None] | None = None,
    on_event: Callable[[Event], None] | None = None,
    **settings: Unpack[Settings],
) -> Watch:
    """
    Watch one run of a loop of your own.

    Args:
        options: an `Options`, or a rule set (default: the preset `default`).
        attended: whether somebody can answer a question while the run lasts (default true); if not, the ceiling applies.
        on_finding: called with each new finding.
        on_event: called with each event, for instance to write a trace.
        **settings: the settings of `Options`, in place of *options*.

    Returns the run, to be used with `with` or `async with`. Raises `SettingsError` for settings that cannot be.
    """
    guard = Guard(options, attended=attended, on_finding=on_finding, on_event=on_event, **settings)
    return Watch(guard.start())
