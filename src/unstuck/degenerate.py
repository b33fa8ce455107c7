"""
Repetition inside one response, while it streams or when it is complete; any script.

Two signs. A tail that is one block, again and again, compared without case and white space; or, in running prose, few sequences of
characters that were not there a moment ago, which is what slight variation cannot hide. Code, tables, lists and rules repeat in
lines: lines count only where they are equal. Data and code on one line show by their brackets and signs. Cost is linear: each
stretch of `STEP` characters is looked at once.
"""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

from unstuck.lazily import lazily

STEP = 256
"""New characters after which a stream is looked at again."""
TAIL = 4_096
"""Characters that are looked back on."""
LONGEST_UNIT = 500
LONGEST_PASSAGE = 1_200
"""The same for passages of prose, of which `LAPS_OF_A_PASSAGE` are enough."""
LAPS_OF_A_PASSAGE = 3
SPAN = 480
"""Characters that equal laps must cover."""
LAPS = 4
BARE_SPAN = 1_600
"""The same for blocks of digits, of table rows or without spaces and marks, which honest data has too."""
COUNTED_LINES = 64
"""Lines alike but for their numbers that are taken for no list."""
COUNTED_SPAN = 3_900
"""Characters of such lines that are, however long each is."""
LEAST_WORDS = 5
"""Words that such a line holds at least: shorter ones are entries."""
BLANK_LINES = 200
PROSE = 1_200
"""Characters of prose in which novelty is measured."""
GRAM = 8
NOVEL = 0.5
"""The share of new sequences up to which prose goes round; in encyclopedia articles it was never under 0.8."""
SIGNS = 1 / 30
"""The share of brackets and signs above which a line is data or code."""
_PACKED = 0.3

_SPACE = lazily(r"\s+")
_DIGITS = lazily(r"\d+")
_NO_DIGIT = lazily(r"\D{12,}")
_UNBROKEN = lazily(r"[\w+/=-]+", re.ASCII)
_WORDY = lazily(r"[^\W\d_]")
# Vowel signs and other marks that belong to letters without being any: half of what stands on a page of Hindi.
_LETTERS = lazily(r"[^\W\d_]|[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u109f\u1780-\u17ff]")
_SIGNS = lazily(r"[{}\[\]()<>=|_;:\\%#&@$+/~^]")


class Degenerate(NamedTuple):
    """What repeats: how long the block is, how many laps of it there are."""

    unit: int
    laps: int


class TextWatch:
    """Watches one response; `feed` takes what arrives and says what repeats as soon as something does."""

    __slots__ = ("blank", "found", "fresh", "line", "tail")

    def __init__(self) -> None:
        self.blank = 0  # line breaks with nothing but white space between, up to where we are
        self.tail = ""  # without case and runs of white space
        self.line = ""
        self.fresh = ""  # what came since the last look
        self.found: Degenerate | None = None

    def feed(self, text: str) -> Degenerate | None:
        """Take the next characters of the response."""
        if self.found is not None:
            return self.found
        self.fresh += text
        if len(self.fresh) < STEP:
            return None
        text, at = self.fresh, 0
        while len(text) - at >= STEP:
            self._take(text[at : at + STEP])
            if self.found is not None:
                return self.found
            at += STEP
        self.fresh = text[at:]
        return None

    def end(self) -> Degenerate | None:
        """The response is complete: look at what came last."""
        if self.found is None:
            self._take(self.fresh)
            self.fresh = ""
        return self.found

    def _take(self, piece: str) -> None:
        flat = _SPACE.sub(" ", piece).casefold()
        if flat[:1] == " " and self.tail[-1:] == " ":
            flat = flat[1:]
        self.tail = (self.tail + flat)[-TAIL:]
        begin = piece.rfind("\n") + 1
        self.line = piece[begin:] if begin else (self.line + piece)[-PROSE:]
        if "\n" in piece:
            shown = piece.rstrip()
            self.blank = piece.count("\n", len(shown)) + (0 if shown else self.blank)
        elif not piece.isspace():
            self.blank = 0
        if self.blank >= BLANK_LINES:
            self.found = Degenerate(1, self.blank)
            return
        self.found = repeating_tail(self.tail) or circling_prose(self.line) or counted_tail(self.tail)


def degenerate(text: str) -> Degenerate | None:
    """What repeats in a complete text."""
    if len(text) < SPAN:
        return None
    watch = TextWatch()
    return watch.feed(text) or watch.end()


def repeating_tail(text: str) -> Degenerate | None:
    """One block again and again at the end of *text*, which has neither upper case nor runs of white space."""
    size = len(text)
    if size < SPAN:
        return None
    # A cut-off lap may stand at the end; the period is where the last characters stood before.
    key = text[-24:]
    at = text.rfind(key, max(size - LONGEST_PASSAGE - 24, 0), size - 1)
    if at < 0:
        return None
    unit = size - 24 - at
    length = _periodic(text, unit)
    laps = length // unit
    if laps < LAPS_OF_A_PASSAGE or length < SPAN:
        return None
    block = text[-unit:]
    if unit > LONGEST_UNIT:
        return Degenerate(unit, laps) if not is_structured(block) and _WORDY.search(block) is not None else None
    if laps < LAPS:
        return None
    wordy = _WORDY.search(block)
    if wordy is None and not any(character.isdigit() for character in block):
        return None  # a rule
    if (wordy is None or "|" in block or _UNBROKEN.fullmatch(block)) and length < BARE_SPAN:
        return None
    return Degenerate(unit, laps)


def counted_tail(text: str) -> Degenerate | None:
    """Lines of prose, one after another, that differ in their numbers only."""
    part = _NO_DIGIT.search(text, max(len(text) - 120, 0))
    if part is None or text.count(part[0][:16]) < COUNTED_LINES // 2:
        return None
    flat = _DIGITS.sub("#", text)
    size, key = len(flat), flat[-24:]
    at = flat.rfind(key, 0, size - 1)
    if at < 0:
        return None
    unit = size - 24 - at
    length = _periodic(flat, unit)
    laps, block = length // unit, flat[-unit:]
    if (
        (laps < COUNTED_LINES and length < COUNTED_SPAN)
        or "#" not in block
        or "|" in block
        or is_structured(block.replace("#", ""))
    ):
        return None
    if len(_WORDY.findall(block)) * 2 < len(block) or len(block.split()) < LEAST_WORDS:
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


def is_structured(text: str) -> bool:
    """Whether *text* is markup, code or data and not prose: such texts share their words without saying the same."""
    return len(_SIGNS.findall(text)) > SIGNS * len(text)


def circling_prose(line: str) -> Degenerate | None:
    """
    Prose on one line in which few sequences of characters are new.

    Laps that vary cannot be counted exactly: there are at least `LAPS` of them.
    """
    if len(line) < PROSE:
        return None
    text = _SPACE.sub(" ", line[-PROSE:]).casefold()
    plain = text.encode("utf-8", "surrogatepass")
    if len(zlib.compress(plain, 1)) > _PACKED * len(plain):
        return None
    if is_structured(text) or _UNBROKEN.fullmatch(text) or len(_LETTERS.findall(text)) < len(text) // 2:
        return None
    grams = {text[index : index + GRAM] for index in range(len(text) - GRAM + 1)}
    share = len(grams) / (len(text) - GRAM + 1)
    return Degenerate(round(len(text) * share), max(LAPS, round(1 / share))) if share <= NOVEL else None
