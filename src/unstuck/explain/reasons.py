"""Why a count went back, and why an exchange did not raise it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from unstuck.events import Event, Message, Result, User
from unstuck.failures import is_transient
from unstuck.fingerprint import text_of

if TYPE_CHECKING:
    from unstuck.explain.counters import Subject
    from unstuck.explain.journal import Journal, Made
    from unstuck.ledger import Ledger

WHY: Mapping[str, str] = {
    "person": "a person's request begins a new turn",
    "changed_world": "changed the world",
    "other_outcome": "another outcome",
    "new_answer": "an answer with new words or an advancing number",
    "other_arguments": "arguments that are no spelling of those before",
    "batch": "different calls of the tool in one response: a batch",
    "success": "a success",
    "other_error": "an error of another kind",
    "own_words": "a result that says more than the arguments",
    "found_something": "an answer that held something",
    "new_ground": "a read that was new, or came out otherwise",
    "new_state": "a state that it did not have just before",
    "other_task": "another task, or an agent that had passed it on already",
    "worked": "somebody did other work",
    "acted": "the agent made a call",
    "other_text": "another text",
    "other_interval": "an interval with other steps",
    "other_round": "a round that does not go on with the sequence",
    "forgotten": "no longer remembered: too many other calls in between",
    "harness": "made by a program",
    "retry": "sent again by the transport",
    "exempt": "the tool is exempt",
    "approved": "a person allowed it",
    "blocked": "blocked, so it did not run",
    "no_result": "no result",
    "same_response": "counts once in a response",
    "free_reread": "one re-read after a compaction is free",
    "slow_look": "after a wait: ten looks after a minute and more count as one, two after a shorter sleep",
    "longer_wait": "waited longer than before: patience",
    "passing_error": "an error that passes by itself: two count as one",
    "asked_again": "asked for again after a block",
    "same_outcome": "the outcome it had before",
    "new_outcome": "new arguments or a new outcome",
    "first": "the first, with nothing to compare it with",
    "another_thing": "named another thing, at one place: three such looks count as one",
    "ahead": "counted before it ran; as recorded, it came out otherwise",
    "not_counted": "not counted",
}
"""The reasons in words."""

CALL_ENDS = {
    "repeated_result": "other_outcome",
    "stuck_poll": "other_outcome",
    "repeated_call": "new_answer",
    "echoed_change": "own_words",
    "empty_answers": "found_something",
    "recovered_ground": "new_ground",
    "oscillation": "new_state",
    "delegation_loop": "other_task",
}
OF_THE_WORLD = (
    "repeated_result",
    "stuck_poll",
    "repeated_call",
    "near_repeat",
    "repeated_failure",
    "unknown_tool",
    "empty_answers",
)
"""Patterns whose count a change of the world ends."""
FAILURES = ("repeated_failure", "unknown_tool", "failure_cascade", "recurring_failure")


class Small(NamedTuple):
    """What the ledger said of a call and its tool before an event: enough to tell afterwards why a count stayed."""

    unknown: bool = True
    raw: int = 0
    free: int = -1
    slow: int = 0
    chain: int = 0
    chain_raw: int = 0


def small(ledger: Ledger, made: Made | None) -> Small:
    """The fields of *made*'s records that tell a reason."""
    trail = ledger.trails.get(made.agent) if made is not None else None
    if made is None or trail is None:
        return Small()
    state, tool = trail.known(made.key), trail.tools.get(made.tool)
    return Small(
        state is None,
        state.raw if state is not None else 0,
        state.fresh_read if state is not None else -1,
        state.slow if state is not None else 0,
        tool.chain if tool is not None else 0,
        tool.raw if tool is not None else 0,
    )


def why_not(subject: Subject, made: Made, was: Small, now: Small, earlier: int) -> str:
    """Why an exchange left the count as it was; *earlier* is the round of the exchange that counted last."""
    if made.left_out is not None:
        return made.left_out
    if made.round == earlier:
        return "same_response"
    if subject.pattern in ("repeated_result", "stuck_poll") and not subject.ceiling:
        if now.free != was.free:
            return "free_reread"
        if now.slow > was.slow:
            return "slow_look"
    if subject.pattern in FAILURES and is_transient(text_of(made.content)):
        return "longer_wait"
    if subject.pattern == "empty_answers" and earlier and was.unknown:
        return "another_thing"
    if earlier == 0 and was.unknown:
        return "first"
    if subject.pattern == "repeated_call":
        return "same_outcome" if now.raw == was.raw else "new_answer"
    return "new_outcome" if subject.pattern == "turn_budget" else "not_counted"


def why_back(subject: Subject, event: Event, journal: Journal, was: Small, now: Small) -> str:
    """Why the count of *subject* went back at *event*."""
    if isinstance(event, User) and event.origin == "user":
        return "person"
    if isinstance(event, Message):
        return _of_message(subject, event)
    made = journal.now if isinstance(event, Result) else None
    if made is not None and subject.pattern in FAILURES:
        return "success" if made.outcome in ("ok", "denied") else "other_error"
    if made is not None and subject.pattern == "near_repeat":
        if now.chain == 0:
            return "batch"
        return "other_outcome" if was.chain_raw != now.chain_raw else "other_arguments"
    if subject.pattern in CALL_ENDS and (made is not None or subject.pattern == "delegation_loop"):
        return CALL_ENDS[subject.pattern]
    return "other_interval" if subject.pattern == "stalled" else "forgotten"


def _of_message(subject: Subject, event: Message) -> str:
    if subject.pattern not in ("repeated_text", "monologue", "empty_response"):
        return CALL_ENDS.get(subject.pattern, "forgotten")
    return "acted" if event.calls else "other_text"
