"""Texts as they are shown: shortened, with the stretches marked that were not taken for news."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from unstuck import words
from unstuck.degenerate import degenerate
from unstuck.explain.answer import Shown
from unstuck.failures import left_out_of, telling_line
from unstuck.fingerprint import text_digest, text_of
from unstuck.records import Said
from unstuck.volatile import number_spans, spans

if TYPE_CHECKING:
    from unstuck.explain.journal import Made
    from unstuck.reading import Reading

LONGEST = 4_000
"""Characters of arguments, of a result or of a text that are kept; of a longer one the beginning and the end."""
TAIL = 1_000
GAP = " ... "

Spans = list[tuple[int, int]]


def shown(text: str, marks: Spans | None = None) -> Shown:
    """*text* in at most `LONGEST` characters, with those of its *marks* that remain."""
    kept, pieces, at = marks or [], [], 0
    for start, end in [*kept, (len(text), len(text))]:
        pieces.append(text[at:start])
        at = end
    whole = text_digest("\0".join(pieces))
    if len(text) <= LONGEST:
        return Shown(text, tuple(kept), whole)
    head, shift = LONGEST - TAIL - len(GAP), len(text) - LONGEST
    left = [(start, end) for start, end in kept if end <= head]
    right = [(start - shift, end - shift) for start, end in kept if start >= len(text) - TAIL]
    return Shown(text[:head] + GAP + text[len(text) - TAIL :], (*left, *right), whole)


def arguments_shown(args: Any) -> Shown:
    """Arguments as one line."""
    if args is None or args in ({}, ""):
        return Shown("")
    if isinstance(args, str):
        return shown(args)
    try:
        return shown(json.dumps(args, ensure_ascii=False, default=str))
    except Exception:
        return Shown(f"({type(args).__name__} that cannot be shown)")


def result_shown(made: Made, pattern: str, volatile: frozenset[str]) -> Shown:
    """
    What came back for *made*, or of a failure the line by which it is told from others; what was masked is marked.

    *volatile* are further names whose values are masked.
    """
    text = text_of(made.content)
    if pattern in ("repeated_failure", "failure_cascade", "recurring_failure", "unknown_tool"):
        said, line = Said(), telling_line(text)
        said.value = made.args
        return shown(line, _joined(line, sorted({*left_out_of(line, said), *spans(line, volatile)})))
    marks = spans(text, volatile if pattern == "near_repeat" else volatile | words.CURSOR_FIELDS)
    if made.kind == "delegate":
        marks = _with_numbers(text, marks)
    return shown(text, marks)


def _joined(line: str, found: Spans) -> Spans:
    """Stretches between which there are only signs, which are never compared, as one: the numbers of an address."""
    joined: Spans = []
    for start, end in found:
        if joined and end <= joined[-1][1]:
            continue
        between = line[joined[-1][1] : start] if joined else " "
        if not any(char.isalnum() or char.isspace() for char in between):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _with_numbers(text: str, masked: Spans) -> Spans:
    """The numbers too: of a receipt they are no news."""
    found = [span for span in number_spans(text) if all(span[1] <= start or span[0] >= end for start, end in masked)]
    return sorted([*masked, *found])


def not_compared(made: Made, pattern: str, reading: Reading) -> tuple[str, ...]:
    """The names of arguments that were not looked at: remarks and limits of alike calls, all but those that identify a call."""
    args, identifying = made.args, reading.identity.get(made.tool)
    if not isinstance(args, Mapping):
        return ()
    if identifying is not None:
        return tuple(str(name) for name in args if name not in identifying)
    if pattern != "near_repeat":
        return ()
    added = reading.kinds.words
    aside = words.REMARK_FIELDS | words.LIMIT_FIELDS | added.remark_fields | added.limit_fields
    return tuple(str(name) for name in args if str(name).lower() in aside)


def block_of(text: str) -> str:
    """The passage that a degenerate text repeats, as it stands where that was noticed; the end of the text where there is none."""
    found = degenerate(text)
    flat = " ".join(text.split())
    return flat[-found.unit :] if found is not None else flat[-TAIL:]
