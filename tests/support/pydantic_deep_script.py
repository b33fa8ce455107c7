"""Scripted agents of Pydantic AI for the tests of what pydantic-deep publishes."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel


def scripted(*calls: tuple[str, dict[str, Any]]) -> FunctionModel:
    """A model that makes one call a response, then says `done`."""

    def respond(messages: list[Any], info: Any) -> ModelResponse:
        at = sum(isinstance(message, ModelResponse) for message in messages)
        return ModelResponse(parts=[ToolCallPart(*calls[at])] if at < len(calls) else [TextPart("done")])

    return FunctionModel(respond)


def run(agent: Any, **settings: Any) -> Any:
    """The finished run of *agent*."""
    return asyncio.run(agent.run("go", **settings))
