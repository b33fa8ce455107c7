"""
One adapter a framework, each in the framework's own idiom: `from unstuck.adapters.langchain import LoopGuard`.

`FRAMEWORKS` is the one place that says what each needs: `docs/tables.py` and `docs/frameworks/matrix.py` write the extras and the
documentation's table from it, and tests hold them to it.
"""

from __future__ import annotations

from typing import NamedTuple

from unstuck.errors import MissingDependencyError


class Framework(NamedTuple):
    """What an adapter needs: the distributions of its framework with the oldest releases that work, and the newest that was tried."""

    title: str
    requires: tuple[str, ...]
    tried: str


FRAMEWORKS: dict[str, Framework] = {
    "agent_framework": Framework("Microsoft Agent Framework", ("agent-framework-core>=1.15",), "1.23.0"),
    "agno": Framework("Agno", ("agno>=3.1",), "3.1.10"),
    "claude_agent_sdk": Framework("Claude Agent SDK", ("claude-agent-sdk>=0.2.189",), "0.2.189"),
    "crewai": Framework("CrewAI", ("crewai>=1.15.20",), "1.15.30"),
    "google_adk": Framework("Google ADK", ("google-adk>=2.11",), "2.13.0"),
    "langchain": Framework("LangChain and LangGraph", ("langchain>=1.3",), "1.5.2"),
    "openai_agents": Framework("OpenAI Agents SDK", ("openai-agents>=0.19",), "0.24.0"),
    "praisonai": Framework("PraisonAI", ("praisonaiagents>=1.7.13",), "1.7.17"),
    "pydantic_ai": Framework("Pydantic AI", ("pydantic-ai-slim>=2.60",), "2.68.0"),
    "strands": Framework("Strands Agents", ("strands-agents>=1.40",), "1.62.0"),
}
"""By the name of the adapter, which is also that of its page and, with dashes, of its extra."""


def missing(adapter: str) -> MissingDependencyError:
    """What an adapter raises whose framework is not there, or is older than what it needs."""
    return MissingDependencyError(FRAMEWORKS[adapter].requires[0], adapter.replace("_", "-"))
