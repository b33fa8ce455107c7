"""Responses that go round in themselves are cut off while they stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta, ThinkingPart, ThinkingPartDelta
from pydantic_ai.models.wrapper import WrapperModel

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponseStreamEvent
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.tools import RunContext


class WatchedModel(WrapperModel):
    """Sends requests as *wrapped* does; a stream ends where *is_over* says so of what has come in, and is the response then."""

    def __init__(self, wrapped: Model, is_over: Callable[[str], bool]) -> None:
        super().__init__(wrapped)
        self._is_over = is_over

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """See `Model.request_stream`."""
        async with super().request_stream(messages, model_settings, model_request_parameters, run_context) as response:
            # The framework iterates whatever stands here; a stream of our own would have to copy all that this one knows.
            response._event_iterator = self._watched(response, aiter(response))  # noqa: SLF001
            yield response

    async def _watched(
        self, response: StreamedResponse, events: AsyncIterator[ModelResponseStreamEvent]
    ) -> AsyncIterator[ModelResponseStreamEvent]:
        async for event in events:
            yield event
            text = _text_of(event)
            if text and self._is_over(text):
                with suppress(NotImplementedError):  # not every provider's stream can be closed before its end
                    await response.cancel()
                return


def _text_of(event: ModelResponseStreamEvent) -> str | None:
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta | ThinkingPartDelta):
        return event.delta.content_delta
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart | ThinkingPart):
        return event.part.content
    return None
