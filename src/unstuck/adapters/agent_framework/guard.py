"""`LoopGuard`: what it makes of responses and calls; its middlewares bring them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from warnings import catch_warnings

from agent_framework import MiddlewareBundle

from unstuck.adapters.agent_framework.middleware import Calls, Requests, Runs, id_of
from unstuck.events import Usage
from unstuck.guard import Guard, failsafe
from unstuck.live import LiveAgent

with catch_warnings(action="ignore"):

    class _Bundle(MiddlewareBundle):
        """The framework says once in a process that bundles are experimental; the guard's users need not hear it."""


class LoopGuard(Guard, _Bundle):
    """Middleware that watches agents; takes the arguments of `unstuck.guard.Guard`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        Guard.__init__(self, *args, **kwargs)
        _Bundle.__init__(self, [Runs(self), Requests(self), Calls(self)])

    @failsafe
    def heard(self, agent: LiveAgent, response: Any) -> None:
        """The model answered; for a streamed answer, once it is whole."""
        contents = [content for message in response.messages for content in message.contents]
        names = ("input_token_count", "output_token_count", "cache_read_input_token_count")
        used = response.usage_details
        usage = Usage(*(used.get(name) or 0 for name in names)) if used else None
        calls = sum(content.type == "function_call" for content in contents)
        agent.responded(response.text, calls, usage=usage, model=response.model if hasattr(response, "model") else None)

    @failsafe
    def called(self, agent: LiveAgent, context: Any) -> str | None:
        """The words in place of the result of a call that must not run."""
        given = context.arguments
        args = dict(given) if isinstance(given, Mapping) else given.model_dump()
        return agent.refusal(id_of(context), context.function.name, args)

    @failsafe
    def returned(self, agent: LiveAgent, context: Any) -> None:
        """A call has run."""
        result = context.result
        if isinstance(result, list):
            result = "\n".join(str(getattr(part, "text", part)) for part in result)
        agent.returned(id_of(context), result)
