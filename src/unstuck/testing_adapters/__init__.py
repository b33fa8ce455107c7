"""
The suite that every adapter runs: one test class, the real framework, a scripted model.

A subclass says how its framework is set up: `drive` builds an agent from a `World` (its tools and its script), runs it under a guard
and returns its last answer. What the framework cannot do stands in `gaps` with the reason: an expected failure, never a skip.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(*(f"unstuck.testing_adapters.{name}" for name in ("driver", "suite", "world")))

from unstuck.testing_adapters.suite import AdapterSuite  # noqa: E402
from unstuck.testing_adapters.world import Ask, Item, Scenario, World  # noqa: E402

__all__ = ("AdapterSuite", "Ask", "Item", "Scenario", "World")
