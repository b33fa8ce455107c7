"""How a run ends that looped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from agent_framework import ChatResponse, ChatResponseUpdate, Content, Message, MiddlewareFailure, ResponseStream

from unstuck.errors import LoopStopped as _LoopStopped


class LoopStopped(_LoopStopped, MiddlewareFailure):
    """A run was ended because it looped; the framework passes this failure on, where it absorbs others."""


def last_words(text: str, stream: bool) -> Any:
    """The response that stands for the model's where a run ends quietly."""
    if not stream:
        return ChatResponse(messages=[Message("assistant", [text])])

    async def parts() -> AsyncIterator[ChatResponseUpdate]:
        yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(text)])

    return ResponseStream(parts(), finalizer=ChatResponse.from_updates)
