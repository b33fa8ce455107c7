"""The adapter for PraisonAI, in front of real agents with a scripted model."""

from __future__ import annotations

from typing import ClassVar

import pytest

pytest.importorskip("praisonaiagents", reason="PraisonAI is not installed")

from praisonai_script import QUIET, agent_of, model_server
from praisonaiagents import handoff

from unstuck.testing_adapters.suite import AdapterSuite
from unstuck.testing_adapters.world import Ask, World

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
