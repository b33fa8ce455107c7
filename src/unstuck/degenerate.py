"""
Repetition inside one response, while it streams or when it is complete; any script.

Two signs. A tail that is one block, again and again, compared without case and white space; or, in running prose, hardly any
sequence of characters that was not there a moment ago, which is what slight variation cannot hide. Code, tables, lists and rules
repeat in lines: lines count only where they are equal. Cost is linear: each stretch of `STEP` characters is looked at once.
"""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

STEP = 256
"""New characters after which a stream is looked at again."""
TAIL = 4_096
"""Characters that are looked back on."""
LONGEST_UNIT = 500
SPAN = 480
"""Characters that equal laps must cover."""
LAPS = 4
BARE_SPAN = 1_600
"""The same for blocks of digits or of table rows, which honest data has too."""
PROSE = 1_200
"""Characters of prose in which novelty is measured."""
GRAM = 8
NOVEL = 0.42
"""The share of new sequences below which prose goes round."""
_PACKED = 0.3

_SPACE = re.compile(r"\s+")
_WORDY = re.compile(r"[^\W\d_]")


class Degenerate(NamedTuple):
    """What repeats: how long the block is, how many laps of it there are."""

    unit: int
    laps: int


class TextWatch:
    """Watches one response; `feed` takes what arrives and says what repeats as soon as something does."""

    __slots__ = ("found", "new", "tail")

    def __init__(self) -> None:
        self.tail = ""
        self.new = 0
        self.found: Degenerate | None = None

    def feed(self, text: str) -> Degenerate | None:
        """Take the next characters of the response."""
        if self.found is not None:
            return self.found
        if len(text) + self.new < STEP:
            self.tail += text
            self.new += len(text)
            return None
        at = 0
        while at < len(text):
            piece = text[at : at + STEP]
            at += STEP
            self.tail = (self.tail + piece)[-TAIL:]
            self.new += len(piece)
            if self.new >= STEP:
                self.new = 0
                self.found = repeating_tail(self.tail) or circling_prose(self.tail)
                if self.found is not None:
                    return self.found
        return None

    def end(self) -> Degenerate | None:
        """The response is complete: look at what came last."""
        if self.found is None and len(self.tail) >= SPAN:
            self.found = repeating_tail(self.tail) or circling_prose(self.tail)
        return self.found


def degenerate(text: str) -> Degenerate | None:
    """What repeats in a complete text."""
    if len(text) < SPAN:
        return None
    watch = TextWatch()
    return watch.feed(text) or watch.end()


def repeating_tail(tail: str) -> Degenerate | None:
    """One block again and again at the end of *tail*, whatever its case and white space."""
    text = _SPACE.sub(" ", tail).casefold()
    size = len(text)
    if size < SPAN:
        return None
    # A cut-off lap may stand at the end; the period is where the last characters stood before.
    key = text[-24:]
    at = text.rfind(key, max(size - LONGEST_UNIT - 24, 0), size - 1)
    if at < 0:
        return None
    unit = size - 24 - at
    length = _periodic(text, unit)
    laps = length // unit
    if laps < LAPS or length < SPAN:
        return None
    block = text[-unit:]
    wordy = _WORDY.search(block)
    if wordy is None and not any(character.isdigit() for character in block):
        return None  # a rule
    if (wordy is None or "|" in block) and length < BARE_SPAN:
        return None
    return Degenerate(unit, laps)


def _periodic(text: str, unit: int) -> int:
    """How many characters at the end of *text* have period *unit*."""
    size, low, high = len(text), 0, len(text) - unit
    while low < high:
        middle = (low + high + 1) // 2
        if text[size - middle :] == text[size - middle - unit : size - unit]:
            low = middle
        else:
            high = middle - 1
    return low + unit


def circling_prose(tail: str) -> Degenerate | None:
    """Prose in one paragraph in which hardly any sequence of characters is new."""
    text = tail[tail.rfind("\n") + 1 :]
    if len(text) < PROSE:
        return None
    text = _SPACE.sub(" ", text[-PROSE:]).casefold()
    packed = len(zlib.compress(text.encode("utf-8", "surrogatepass"), 1))
    if packed > _PACKED * len(text) or len(_WORDY.findall(text)) < len(text) // 2:
        return None
    grams = {text[index : index + GRAM] for index in range(len(text) - GRAM + 1)}
    share = len(grams) / (len(text) - GRAM + 1)
    return Degenerate(round(len(text) * share), round(1 / share)) if share <= NOVEL else None
