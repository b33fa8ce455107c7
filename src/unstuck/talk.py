"""How one response without calls moves the counters of an agent's talk."""

from __future__ import annotations

from unstuck.degenerate import is_structured
from unstuck.events import Message
from unstuck.fingerprint import text_digest
from unstuck.patience import SLOW
from unstuck.sketch import share_known, sketch, words_of
from unstuck.trail import Trail

HEARTBEAT = 120
"""Characters up to which the same answer to a program's every prompt may be what the program asks for."""


def settle_text(trail: Trail, event: Message, message: int) -> None:
    """Count responses in a row without calls: empty ones, equal ones, ones that say nothing new."""
    text, reasoning = event.text or "", event.reasoning or ""
    prompted, before = trail.prompted, trail.spoke_at
    trail.prompted, trail.spoke_at = False, event.time
    if not text.strip():
        trail.text_count = 0
        trail.silent = 0 if reasoning.strip() else trail.silent + 1
        return
    trail.silent = 0
    late = event.time is not None and before is not None and event.time - before >= SLOW
    due = prompted and (late or len(text) <= HEARTBEAT)
    digest = text_digest("".join(text.split()).casefold())
    if trail.text_count and digest == trail.text:
        trail.text_count, trail.text_due = trail.text_count + 1, trail.text_due + due
    else:
        trail.text, trail.text_count, trail.text_first, trail.text_due = digest, 1, message, 0
    said = sketch(word for word in words_of(text) if not word.isdigit())
    # A long text shares its small words with any other, so more of it must be known.
    share = share_known(said, trail.talk) if trail.talk else 0.0
    if share >= (0.5 if len(said) <= 30 else 0.8) and not is_structured(text):
        trail.talk_count, trail.talk_due = trail.talk_count + 1, trail.talk_due + due
    else:
        trail.talk_count, trail.talk_first, trail.talk_due = 1, message, 0
    if len(trail.talk) < 512:
        trail.talk |= said
