"""How one response without calls moves the counters of an agent's talk."""

from __future__ import annotations

import re

from unstuck.degenerate import is_structured
from unstuck.events import Message
from unstuck.fingerprint import text_digest
from unstuck.lazily import lazily
from unstuck.patience import SLOW
from unstuck.sketch import Sketch, share_known, sketch, words_of
from unstuck.trail import Trail
from unstuck.volatile import mask, numbers

HEARTBEAT = 120
"""Characters up to which the same answer to a program's every prompt may be what the program asks for."""


SHORT = 30
"""Different words up to which a text is a short one."""
POLITE = 0.85
"""The share of polite words from which on a text is a courtesy."""
_CORE = sketch("thank thanks welcome pleasure goodbye bye appreciate cheers".split())
_POLITE = _CORE | sketch(
    "you your so very much again really it for the help helpful my happy glad to have a an great nice wonderful good lovely day "
    "evening week one too take care always anytime any time be been was i we m re are is of and all best wishes let know if need "
    "anything else no problem at kind kindly many enjoy rest see talk soon assist assistance helping helped support sure don t hesitate "
    "reach out feel free conversation luck that s with as well same likewise here me us ll will do can could more further in this "
    "patience time team everyone amazing awesome fantastic truly most".split(),
    160,
)
LONG_FOR_AN_APOLOGY = 60
KNOWN = 0.5
"""The share of known words from which on a short text says nothing new."""
KNOWN_IF_SORRY = 0.35
"""The same for one that begins with an apology."""
KNOWN_IF_LONG = 0.8
"""The same for a long text: it shares its small words with any other."""
KNOWN_IF_DISCUSSED = 0.95
"""The same for a long text before which another agent spoke: a draft that was talked about keeps most of its words."""
STEPS = 3
"""Texts with rising numbers that count as one."""
_OF_MANY = lazily(r"\d\s*(?:/|of|out of|von|de|di|sur|из)\s*\d|\d\s?%")
_SORRY = lazily(
    r"\W*(?:oh,? |ah,? |i(?:'m| am) (?:\w+ )?|i |my |we |please )*(?:sorry|apolog|pardon|forgive|excuse me|you(?:'re| are) (?:\w+ )?right"
    r"|entschuldig|verzeihung|tut mir leid|désolé|pardonnez|lo siento|perdón|disculp|mi scusi|scusa|desculp|извините|простите|对不起|抱歉"
    r"|申し訳|すみません)",
    re.IGNORECASE,
)


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
    _settle_talk(trail, text, message, due)


def _settle_talk(trail: Trail, text: str, message: int, due: bool) -> None:
    """Count responses that are made of words used before."""
    said = sketch(word for word in words_of(text) if not word.isdigit())
    known = trail.talk and share_known(said, trail.talk) >= _least(trail, said, text) and not is_structured(text)
    onward = _advances(trail, text)
    if not known or (onward and _OF_MANY.search(text)):
        trail.talk_count, trail.talk_first, trail.talk_due, trail.talk_steps = 1, message, 0, 0
    elif onward:  # one thing after another is done, or so it says
        trail.talk_steps += 1
        again = trail.talk_steps % STEPS == 0
        trail.talk_count, trail.talk_due = trail.talk_count + again, trail.talk_due + again
    else:
        trail.talk_count, trail.talk_due = trail.talk_count + 1, trail.talk_due + due
    trail.told = False
    if len(trail.talk) < 512:
        trail.talk |= said


def _least(trail: Trail, said: Sketch, text: str) -> float:
    """The share of known words from which on a text says nothing new."""
    if len(said) <= SHORT and is_courtesy(said):
        return 0.0
    if len(said) <= LONG_FOR_AN_APOLOGY and _SORRY.match(text) is not None:
        return KNOWN_IF_SORRY
    if len(said) <= SHORT:
        return KNOWN
    return KNOWN_IF_DISCUSSED if trail.told else KNOWN_IF_LONG


def is_courtesy(said: Sketch) -> bool:
    """Whether a text thanks, wishes well or takes leave and says hardly anything else."""
    return not said.isdisjoint(_CORE) and share_known(said, _POLITE) >= POLITE


def _advances(trail: Trail, text: str) -> bool:
    """Whether a text differs from the one before in numbers that rise: steps done, not attempts."""
    before, now = trail.talk_numbers, numbers(mask(text))
    trail.talk_numbers = now
    return len(now) == len(before) > 0 and now != before and all(new >= old for new, old in zip(now, before, strict=True))
