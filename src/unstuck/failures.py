"""What an error says once everything is taken away that differs from one attempt to the next."""

from __future__ import annotations

from unstuck import words
from unstuck.fingerprint import text_digest
from unstuck.sketch import Sketch, words_of
from unstuck.trail import Said
from unstuck.volatile import mask
from xxhash import xxh32_intdigest as _xxh

_LONGEST = 4_096


def telling_line(text: str) -> str:
    """The line of an error that says what went wrong: the last one with a word like `error` or `denied`, else the first."""
    head = text if len(text) <= _LONGEST else text[: _LONGEST // 2] + "\n" + text[-_LONGEST // 2 :]
    lines = [line.strip() for line in head.splitlines()]
    lines = [line for line in lines if line] or [""]
    for line in reversed(lines):
        low = line.lower()
        if any(mark in low for mark in words.ERROR_MARKS):
            return line[:300]
    return lines[0][:300]


def failure_class(text: str, said: Said) -> int:
    """
    The digest of an error's telling line: masked, without numbers (status codes aside) and without words of the call itself.
    """
    said.settle()
    echoed: Sketch = said.everything or frozenset()
    kept = [word for word in words_of(mask(telling_line(text))) if _counts(word, echoed)]
    return text_digest(" ".join(kept))


def _counts(word: str, echoed: Sketch) -> bool:
    if word.isdigit():
        return len(word) == 3 and word[0] in "45"
    return _xxh(word.encode("utf-8", "surrogatepass")) not in echoed


def is_transient(text: str) -> bool:
    """Whether an error is of the kind that passes by itself: rate limits, time-outs, overload."""
    low = telling_line(text).lower()
    return any(mark in low for mark in words.TRANSIENT)


def names_unknown_tool(text: str) -> bool:
    """Whether an answer says that the tool called does not exist."""
    low = text[:400].lower()
    return any(mark in low for mark in words.UNKNOWN_TOOL)


def is_empty_answer(text: str, extra: frozenset[str] = frozenset()) -> bool:
    """Whether a whole answer says no more than: there is nothing."""
    if len(text) > 120:
        return False
    low = text.strip().lower().rstrip(".!")
    return low in _EMPTY or low in extra or low.startswith(words.EMPTY_STARTS)


_EMPTY = frozenset(words.EMPTY)
