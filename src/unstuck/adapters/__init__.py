"""
One adapter a framework, each in the framework's own idiom: `from unstuck.adapters.langchain import LoopGuard`.

`FRAMEWORKS` is the one place that says what each needs: extras, the documentation's table and the test sessions are checked against it.
"""

from __future__ import annotations

from typing import NamedTuple


class Framework(NamedTuple):
    """What an adapter needs: the distributions of its framework with the oldest release that works, and the newest that was tried."""

    name: str
    requires: tuple[str, ...]
    tried: str


FRAMEWORKS: tuple[Framework, ...] = (
    Framework("langchain", ("langchain>=1.2", "langgraph>=1.0"), "1.5.2"),
    Framework("openai_agents", ("openai-agents>=0.8",), "0.24.0"),
    Framework("crewai", ("crewai>=1.15",), "1.15.30"),
    Framework("google_adk", ("google-adk>=2.0",), "2.13.0"),
    Framework("strands", ("strands-agents>=1.40",), "1.62.0"),
    Framework("agent_framework", ("agent-framework-core>=1.10",), "1.23.0"),
    Framework("agno", ("agno>=3.0",), "3.1.10"),
    Framework("claude_agent_sdk", ("claude-agent-sdk>=0.2",), "0.2.189"),
)
