"""`LoopGuard`: the hooks of a run, for as long as one is watched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from crewai.hooks import InterceptionPoint
from crewai.hooks.dispatch import scoped_hooks

from unstuck.adapters.crewai.hooks import Hooks
from unstuck.guard import Guard, OnStop


class LoopGuard(Guard):
    """Hooks that watch crews and agents; takes the arguments of `unstuck.guard.Guard`, without `on_stop="end"`."""

    stops: tuple[OnStop, ...] = ("error",)

    @contextmanager
    def watching(self) -> Iterator[LoopGuard]:
        """What is kicked off inside is one run of this guard, in this thread or task and those it starts."""
        run = self.start().run
        hooks = Hooks(run)
        points: dict[InterceptionPoint, list[Any]] = {
            InterceptionPoint.PRE_MODEL_CALL: [hooks.before_model],
            InterceptionPoint.POST_MODEL_CALL: [hooks.after_model],
            InterceptionPoint.PRE_TOOL_CALL: [hooks.before_tool],
            InterceptionPoint.POST_TOOL_CALL: [hooks.after_tool],
        }
        try:
            with scoped_hooks(points):
                yield self
        finally:
            run.end(None if run.stopped is None else "stopped")
