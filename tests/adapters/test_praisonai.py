"""The adapter for PraisonAI, in front of real agents with a scripted model."""

from __future__ import annotations

from typing import ClassVar

import pytest

pytest.importorskip("praisonaiagents", reason="PraisonAI is not installed")

from praisonai_script import QUIET, agent_of, model_server
from praisonaiagents import handoff

from unstuck import LoopStopped
from unstuck.live import MARK
from unstuck.testing_adapters.suite import AdapterSuite
from unstuck.testing_adapters.world import LOOP, Ask, World, answer_of, texts

__all__ = ("model_server",)
pytestmark = QUIET


UNREAD = "its history holds questions and answers, not the calls between"


class TestPraisonAI(AdapterSuite):
    adapter = "praisonai"
    doors = ("async", "sync")
    gaps: ClassVar = {
        "test_a_hand_off_is_linked": "a hand-off is a tool here: the first agent has the last word",
        "test_exported_messages_scan_to_the_same_findings": UNREAD,
        "test_messages_of_a_guarded_run_scan_to_the_same_findings": UNREAD,
    }

    async def drive(self, world, guard):
        return await agent_of(world, guard).achat("Go.")

    def enter(self, door, world, guard):
        return agent_of(world, guard).chat("Go.")

    def test_a_nudge_is_no_part_of_what_a_tool_keeps(self):
        """A tool may answer with one object each time: what is put beside an answer stands there alone."""
        kept, world = {"lines": 10}, World(LOOP)

        def read_file(path: str) -> dict[str, int]:
            """Read a file."""
            world.do("read_file", path=path)
            return kept

        world.tools = lambda: [read_file]
        assert isinstance(self.attempt(world, self.guard(), "sync").error, LoopStopped)
        assert kept == {"lines": 10}
        assert [MARK in texts(request) for request in world.requests[:4]] == [False, False, False, True]
        assert answer_of(world.requests[4], "call-4-0").count(MARK) == 0

    async def delegate(self, outer, inner, guard):
        reviewer = agent_of(inner, guard, "reviewer")

        def ask_reviewer(task: str) -> str:
            """Ask the reviewer."""
            return reviewer.chat(task)

        return await agent_of(outer, guard, tools=[ask_reviewer]).achat("Go.")

    async def hand_off(self, world, other, guard):
        second, name = agent_of(other, guard, "second"), "transfer_to_second"
        world = World(world.scenario._replace(turns=((Ask(name, {"message": "Look."}),),)))
        return await agent_of(world, guard, "first", handoffs=[handoff(second)]).achat("Go.")

    async def run_again(self, world, guard):
        do, failed = world.do, []

        def once_broken(tool: str, **args: str) -> str:
            came = do(tool, **args)
            if not failed:
                failed.append(tool)
                raise ConnectionError("connection reset")
            return came

        world.do = once_broken
        return await agent_of(world, guard).achat("Go.")
