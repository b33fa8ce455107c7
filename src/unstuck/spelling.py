"""
The words of a call in their order: whether two calls ask about two things, or in two ways about one.

A sweep over a list has one place at which a new name stands in each call. Somebody who looks for one thing in vain puts the same
words in another order, other words around them, or other sentences in their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import islice
from typing import Any, TypeAlias

from xxhash import xxh32_intdigest as _xxh

from unstuck import words
from unstuck.fingerprint import text_of
from unstuck.lazily import lazily
from unstuck.sketch import words_of

Spelling: TypeAlias = Sequence[int]
"""The digests of the first `MOST` words in order; those of plain words (small letters between spaces) are complemented."""

MOST = 32
LONGEST_NAME = 6
"""Words that the name of one thing is made of at most: those of a UUID and one more."""
_READ = 1_024
_HUMP = lazily(r"(?<=[a-z])(?=[A-Z])")
_AROUND = "\"'`.,;:!?()[]{}<>"
_PAGING = frozenset((*words.RANGE_START_FIELDS, *words.RANGE_END_FIELDS, "page", "page_number", "pagenumber", "page_no"))
_OPERATOR = lazily(r"\w[*|+?\\.()]*[*|+?\\][*|+?\\.()sSwW]*\w")
_SPAN = lazily(r"['\"]?\d+(?:,\+?\d+)?p?['\"]?")


def spelling(value: Any, left_out: frozenset[str] = frozenset()) -> tuple[int, ...]:
    """The words of arguments in their order, without the fields *left_out* and without places in a file or a list."""
    return tuple(islice(_words(value, left_out), MOST))


def _words(value: Any, left_out: frozenset[str]) -> Iterator[int]:
    if isinstance(value, dict):
        for name, item in value.items():
            low = name.lower() if type(name) is str else ""
            if low not in left_out and not (low in _PAGING and _SPAN.fullmatch(str(item)[:40])):
                yield from _words_of_text(item if type(item) is str else text_of(item))
    else:
        yield from _words_of_text(text_of(value))


def _words_of_text(text: str) -> Iterator[int]:
    for token in text[:_READ].split():
        bare = token.strip(_AROUND)
        if bare.isalpha() and bare == bare.lower():
            plain = words_of(bare)
            if bare == bare.upper():  # a script without capitals, and perhaps without spaces
                plain = [bare[at : at + 4] for at in range(0, len(bare), 4)]
            yield from (~_digest(word) for word in plain)
        elif _SPAN.fullmatch(token) is None or "p" not in token:
            pattern = token.replace("\\b", " ")
            sentence = (
                "*" in pattern or _OPERATOR.search(pattern) is not None
            )  # a pattern that stands for words with anything between them
            yield from (~_digest(word) if sentence else _digest(word) for word in words_of(_HUMP.sub(" ", pattern)))


def with_tool(tool: str, spelt: Spelling) -> Spelling:
    """A call: its tool, then its words."""
    return (_digest(tool), *spelt)


def _digest(word: str) -> int:
    return _xxh(word.encode("utf-8", "surrogatepass"))


def known(spelt: Spelling) -> set[int]:
    """The words, whether plain or not."""
    return {word if word >= 0 else ~word for word in spelt}


def between(before: Spelling, now: Spelling) -> Spelling:
    """What stands in *now* between the beginning and the end that it shares with *before*."""
    most = min(len(before), len(now))
    start = next((at for at in range(most) if before[at] != now[at]), most)
    end = next((at for at in range(most - start) if before[-1 - at] != now[-1 - at]), most - start)
    return now[start : len(now) - end]


def names_another(before: Spelling, now: Spelling, met: Set[int]) -> bool:
    """
    Whether *now* differs from *before* in the name of a thing, at one place, half of whose words or more were not *met* before.

    Both begin with the tool's name.
    """
    name = between(before, now)
    if now[:1] != before[:1] or not name or len(name) > LONGEST_NAME or (len(name) > 1 and any(word < 0 for word in name)):
        return False
    parts = known(name)
    return 2 * len(parts & met) <= len(parts)


def is_next_of_many(before: Spelling, now: Spelling) -> bool:
    """Whether two tasks in words differ in what they are about: they begin alike, and new words stand at the same places further on."""
    name = between(before, now)
    if not name:
        return len(now) >= MOST and before != now  # what differs may stand where nobody looked
    if now[0] != before[0]:
        return False
    if len(now) == len(before):
        name = [new for new, old in zip(now, before, strict=True) if new != old]
    new = known(name) - known(before)
    return 2 * len(name) <= len(now) and 2 * len(new) >= len(known(name))


def differs_at_the_start(before: Spelling, now: Spelling) -> bool:
    """Whether nothing but new words at the very beginning tells two tasks apart."""
    name = between(before, now)
    return 0 < 2 * len(name) <= len(now) and now[0] != before[0] and known(name).isdisjoint(known(before))
