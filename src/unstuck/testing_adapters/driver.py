"""How an adapter's tests drive its framework: what a test class says of it, and the ways in."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest

from unstuck.findings import Finding
from unstuck.testing_adapters.world import World


class Outcome(NamedTuple):
    """What the caller of one run got: a last answer or an exception."""

    answer: str | None
    error: BaseException | None


class Driver:
    """
    Make a subclass `TestX` in `tests/adapters/test_x.py` with *adapter*, *drive* and the doors beside it.

    *gaps* maps names of tests (with the parameter in brackets where there is one) to the reason why the framework cannot do that.
    """

    adapter: ClassVar[str]
    """The adapter's name in `unstuck.adapters`, or a module of your own by its full name."""
    prefix: ClassVar[str] = ""
    """What the framework puts before the names of tools."""
    gaps: ClassVar[Mapping[str, str]] = {}
    doors: ClassVar[tuple[str, ...]] = ("async",)
    """Ways into the framework, `async` is `drive`; the others are handled by `enter`."""

    async def drive(self, world: World, guard: Any) -> str:
        """Run an agent with the tools and the script of *world* under *guard* (`None`: without one); return its last answer."""
        raise NotImplementedError

    def enter(self, door: str, world: World, guard: Any) -> str:
        """Run it through another *door* of the framework: `sync`, `stream` ..."""
        raise NotImplementedError

    async def delegate(self, outer: World, inner: World, guard: Any) -> str:
        """As `drive`, with one more tool `ask_reviewer` that runs an agent called `reviewer` on *inner*."""
        raise NotImplementedError

    async def hand_off(self, world: World, other: World, guard: Any) -> str:
        """Run an agent called `first` (*world*, which has no calls) that hands the conversation to `second` (*other*)."""
        raise NotImplementedError

    async def run_again(self, world: World, guard: Any) -> str:
        """As `drive`, in a way in which the tool of the first call runs twice: a resumed interrupt, a retry."""
        raise NotImplementedError

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Each door is a case of its own."""
        if "door" in metafunc.fixturenames:
            metafunc.parametrize("door", self.doors)

    async def export(self, world: World, guard: Any, path: Path) -> str:
        """As `drive`, and write the messages that the framework holds to *path*, in a format that `unstuck scan` reads."""
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def _gap(self, request: pytest.FixtureRequest) -> None:
        for name in (request.node.name, request.node.originalname):
            if name in self.gaps:
                request.applymarker(pytest.mark.xfail(reason=self.gaps[name], strict=True))
                return

    def module(self) -> Any:
        """The adapter, with its `LoopGuard` and its `LoopStopped`."""
        return import_module(self.adapter if "." in self.adapter else f"unstuck.adapters.{self.adapter}")

    def guard(self, **settings: Any) -> Any:
        """A guard of the adapter."""
        return self.module().LoopGuard(**settings)

    def attempt(self, world: World, guard: Any, door: str = "async") -> Outcome:
        """Run *world* and keep what comes out."""
        try:
            answer = asyncio.run(self.drive(world, guard)) if door == "async" else self.enter(door, world, guard)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            return Outcome(None, error)
        return Outcome(answer, None)


def found(guard: Any) -> list[tuple[str, int | None, int, str]]:
    """What *guard* found, as `unstuck scan` says it: pattern, call, response, level; in shadow mode the level that it would have been."""
    return [(one.pattern, one.call, one.message, _level(one)) for one in guard.findings]


def _level(finding: Finding) -> str:
    return (finding.level if finding.would is None else finding.would).label
