"""Sets of word digests: how alike two calls or two texts are, without keeping them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from xxhash import xxh32_intdigest as _xxh

MOST_WORDS = 96
"""Different words that one sketch holds."""

# Vowel signs and other marks belong to the letter before them, though they are none: without them Hindi falls to pieces.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u109f\u17b4-\u17d3\u3099\u309a"
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}])*")

Sketch = frozenset[int]


def words_of(text: str, longest: int = 4_096) -> list[str]:
    """The words of the first *longest* characters, in lower case; digits form words of their own."""
    return _WORD.findall(text[:longest].lower())


def sketch(words: Iterable[str], most: int = MOST_WORDS) -> Sketch:
    """The digests of up to *most* different words."""
    unique = list(dict.fromkeys(words))[:most]
    return frozenset(_xxh(word.encode("utf-8", "surrogatepass")) for word in unique)


def likeness(one: Sketch, other: Sketch) -> float:
    """The share of words that two sketches have in common (Jaccard), 1.0 for two empty ones."""
    if not one and not other:
        return 1.0
    return len(one & other) / len(one | other)


def share_known(new: Sketch, known: Sketch | set[int]) -> float:
    """The share of *new* that is in *known*; 1.0 where *new* is empty."""
    return len(new & known) / len(new) if new else 1.0
