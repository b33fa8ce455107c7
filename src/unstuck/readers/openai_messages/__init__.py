"""
Reads chat-completions messages, as many programs save them.

A file holds one conversation (a list of messages, or one message a line), or many (objects that hold their messages, in a list or
one a line). The messages of an object stand under one of `HOLDERS`; a stored answer (`choices`) is its last message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from unstuck.events import Event, RunEnd
from unstuck.readers.openai_messages.conversation import Conversation, is_message
from unstuck.traces.record import ANY, text

if TYPE_CHECKING:
    from unstuck.traces.head import Head
    from unstuck.traces.source import Source

HOLDERS = ("messages", "traj", "conversation", "history", "chat", "input_messages", "prompt")
IDS = ("run_id", "session_id", "conversation_id", "trace_id", "instance_id", "task_id", "id")
OTHERS = frozenset(("trajectory_format", "trajectory", "eval", "samples", "sessionId", "projectHash"))
"""Fields of other formats whose objects hold messages too, beside their own record of the run."""


def detect(head: Head) -> bool:
    """A message, a list of messages, or an object or list of objects that hold such a list."""
    records = [head.document] if head.document is not None else head.records
    return any(_conversation(part) is not None or is_message(part) for record in records for part in _parts(record))


def read(source: Source) -> Iterator[Event]:
    """The conversations, each a run; only text ids are taken for runs, since numbers of tasks come again in every file."""
    if source.head.document is not None:
        document = source.head.document
        if isinstance(document, dict) and is_message(document):
            document = [document]
        yield from _conversations(source, [(1, document)])
    else:
        yield from _conversations(source, source.records(ANY))


def _conversations(source: Source, records: Iterable[tuple[int, Any]]) -> Iterator[Event]:
    loose: Conversation | None = None
    for line, record in records:
        if is_message(record):
            loose = loose or Conversation(source, "", {})
            yield from loose.take(line, record)
            continue
        for part in _parts(record):
            messages = _conversation(part)
            if messages is None:
                source.bad(line, "an object without messages")
                continue
            about = part if isinstance(part, dict) else {}
            run = next((about[name] for name in IDS if text(about.get(name))), "")
            conversation = Conversation(source, run, about)
            for message in messages:
                yield from conversation.take(line, message)
            yield RunEnd(run)


def _parts(record: Any) -> list[Any]:
    """A list of objects that each hold a conversation, or the one thing there is."""
    if isinstance(record, list) and record and not any(is_message(message) for message in record[:8]):
        return record
    return [record]


def _conversation(part: Any) -> list[Any] | None:
    """The list of messages that *part* is or holds."""
    if isinstance(part, list):
        return part if any(is_message(message) for message in part[:8]) else None
    if not isinstance(part, dict) or OTHERS & part.keys() or "model_stats" in (part.get("info") or ()):
        return None
    request = part.get("request")
    for holder in (part, request) if isinstance(request, dict) else (part,):
        for name in HOLDERS:
            messages = holder.get(name)
            if isinstance(messages, list) and any(is_message(message) for message in messages[:8]):
                return [*messages, *_answers(part)]
    return None


def _answers(part: dict[str, Any]) -> list[Any]:
    """The message of a stored response, with its tokens and model."""
    response = part["response"] if isinstance(part.get("response"), dict) else part
    choices = response.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    if not isinstance(choice.get("message"), dict):
        return []
    return [{name: response.get(name) for name in ("usage", "model", "created")} | choice["message"]]
