"""What an error says once everything is taken away that differs from one attempt to the next."""

from __future__ import annotations

import json
import re
from typing import Any

from xxhash import xxh32_intdigest as _xxh

from unstuck import phrases
from unstuck.fingerprint import text_digest
from unstuck.lazily import lazily
from unstuck.records import Said
from unstuck.sketch import Sketch, words_of
from unstuck.volatile import MASK, mask, spans

_LONGEST = 4_096
_BLANKS = (": (none)", ": (empty)", ": none", ": null", ": 0")
"""How lines end that name an error or an output and say that there was none."""
_QUOTED = lazily(r"`[^`]{0,4096}`")


def telling_line(text: str) -> str:
    """The line of an error that says what went wrong: the last one with a word like `error` or `denied`, else the first."""
    head = text if len(text) <= _LONGEST else text[: _LONGEST // 2] + "\n" + text[-_LONGEST // 2 :]
    if head[:1] == "{":
        head = head.replace("\\n", "\n")  # lines in a text within JSON
    lines = [line.strip() for line in _QUOTED.sub(" ", head).splitlines()]
    lines = [line for line in lines if line and not line.endswith(_BLANKS)] or [""]
    for line in reversed(lines):
        low = line.lower()
        if any(mark in low for mark in phrases.ERROR_MARKS):
            return line[:300]
    return lines[0][:300]


def failure_class(text: str, said: Said) -> int:
    """
    The digest of an error's telling line: masked, without numbers (status codes aside), ids, and without names out of the call itself.

    Only names are taken out (paths, hosts, identifiers), not plain words: an argument in prose shares those with any sentence. A
    name is out of the call in the singular or the plural, a path where its last part is.
    """
    said.settle()
    echoed: Sketch = said.everything or frozenset()
    kept: list[str] = []
    for token in mask(telling_line(text)).split():
        parts = words_of(token)
        if not _is_echo(token, parts, echoed):
            kept += [part for part in parts if not _MADE_UP.fullmatch(part) or (len(part) == 3 and part[0] in "45")]
    return text_digest(" ".join(kept))


def left_out_of(line: str, said: Said) -> list[tuple[int, int]]:
    """The stretches of a telling line that its class does not depend on, as first character and end."""
    said.settle()
    echoed: Sketch = said.everything or frozenset()
    found = spans(line)
    masked, starts, ends, at = "", [], [], 0
    for start, end in [*found, (len(line), len(line))]:
        masked += line[at:start] + MASK
        starts += [*range(at, start), start]
        ends += [*range(at + 1, start + 1), end]
        at = end
    for token in _TOKEN.finditer(masked, 0, len(masked) - 1):
        parts = words_of(token[0])
        if parts and _is_echo(token[0], parts, echoed):
            found.append((starts[token.start()], ends[token.end() - 1]))
            continue
        for word in _DIGITS.finditer(masked, *token.span()):
            if not (len(word[0]) == 3 and word[0][0] in "45"):
                found.append((starts[word.start()], ends[word.end() - 1]))
    return _joined(found)


def _joined(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


_TOKEN = lazily(r"\S+")
_ID = r"\d+|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,64}"
_MADE_UP = lazily(_ID, re.IGNORECASE)
_DIGITS = lazily(rf"(?<![^\W_])(?:{_ID})(?![^\W_])", re.IGNORECASE)
"""Numbers, and ids in hexadecimal."""
_NAME = lazily(r"[\w\"'`(]*[\d/\\_@=.:-]+\w|[a-z]+[A-Z]|[\"'`]")


def _is_echo(token: str, parts: list[str], echoed: Sketch) -> bool:
    """Whether a token is a name that the call itself holds."""
    if _NAME.match(token) is None:
        return False
    if all(_is_known(part, echoed) for part in parts):
        return True
    last = words_of(_DIRECTORIES.sub("", token))
    return len(last) < len(parts) and last != [] and all(_is_known(part, echoed) for part in last)


def _is_known(word: str, echoed: Sketch) -> bool:
    return _digest(word) in echoed or _digest(f"{word}s") in echoed or (word[-1:] == "s" and _digest(word[:-1]) in echoed)


_DIRECTORIES = lazily(r"^.*[/\\](?=\w)")


def _digest(word: str) -> int:
    return _xxh(word.encode("utf-8", "surrogatepass"))


def reports_failure(text: str) -> bool:
    """Whether an answer that came back as a success says that something failed (a build, a test, a command)."""
    return _REPORT.search(text, 0, _LONGEST) is not None


_REPORT = lazily(
    r"^[^\w\n]*(?:error|failure|fatal|exception)\b[^\n]{0,40}:|^[^\S\n]*(?:\w+ )?(?:build|compile|compilation|tests?|command) failed"
    r"|Traceback \(most recent call last\)|^\S*(?:Error|Exception): ",
    re.IGNORECASE | re.MULTILINE,
)


def is_transient(text: str) -> bool:
    """Whether an error is of the kind that passes by itself: rate limits, time-outs, overload, no quota that is used up."""
    low = telling_line(text).lower()
    if not any(mark in low for mark in phrases.TRANSIENT):
        return False
    if not any(mark in low for mark in phrases.FINAL):
        return True
    whole = text[:_LONGEST].lower()
    return any(mark in whole for mark in phrases.PASSING)


def names_unknown_tool(text: str) -> bool:
    """Whether an answer says that the tool called does not exist."""
    low = text[:400].lower()
    return any(mark in low for mark in phrases.UNKNOWN_TOOL)


def is_final(text: str) -> bool:
    """Whether a short answer says that what was looked at is over: it failed, was cancelled, is gone."""
    return len(text) <= 400 and _FINAL.search(text) is not None


_FINAL = lazily(
    r"(?:status|state|phase|conclusion)\W{1,8}(?:failed|failure|cancell?ed|killed|terminated|aborted|expired|rejected|completed|succeeded"
    r"|finished|exited)\b|\b(?:job|run|task|process|build|shell|session|pod|order)\b[^\n.]{0,40}\b(?:not found|does not exist"
    r"|no longer exists|(?:has|was) (?:finished|exited|terminated|killed|cancell?ed))|^\W{0,3}(?:cancell?ed|failed|killed|terminated)\W*$",
    re.IGNORECASE,
)


def refuses(text: str) -> bool:
    """Whether an answer says, in a word by which errors are known, that something was refused or is not possible."""
    return _REFUSAL.search(text, 0, 400) is not None


_REFUSAL = lazily(rf"(?<!\bno )(?<!\b0 )(?<!without )(?<!not )(?<!\w)(?:{'|'.join(phrases.REFUSALS)})(?!\w)", re.IGNORECASE)


def lists_hits(text: str) -> bool:
    """Whether an answer names what was found: addresses, paths, several lines or items."""
    return "\n" in text.strip() or _HIT.search(text) is not None


_HIT = lazily(r"\w/\w|\w\.[a-z]{2,5}\b|\[\s*[\"{]|^\s*(?:1[.)]|[-*•])\s", re.IGNORECASE)


def is_empty_answer(text: str, extra: frozenset[str] = frozenset()) -> bool:
    """Whether a whole answer says no more than: there is nothing."""
    size = len(text)
    if size > 120 and (size > 300 or text[0] != "<"):
        return False
    head = text[:2]
    if size > 40 and head not in _HEADS and head[0] != "{" and not head[0].isspace():
        return False
    if head in _PLACES:
        return _PAST_THE_END.match(text) is not None
    low = text[:40].strip().lower()
    if low[:2] in _BEGINNINGS and low.startswith(phrases.EMPTY_STARTS):
        return True
    if low[:1] == "{" and low[1:] != "}":
        fields = _EMPTY_OBJECT.fullmatch(text.strip())
        return fields[1] is not None if fields is not None else "{" in text[1:] and _is_empty_envelope(text)
    if size > 40:
        return False
    low = low.rstrip(".!")
    return low in _EMPTY or low in extra


def _is_empty_envelope(text: str) -> bool:
    """Whether an answer is an object of objects of which every list of hits is empty."""
    if "[]" not in text and "0}" not in text:
        return False
    try:
        return _holds_nothing(json.loads(text)) is True
    except (ValueError, RecursionError):
        return False


def _holds_nothing(value: dict[str, Any]) -> bool | None:
    """`True` where something in *value* says that nothing was found, `None` where nothing says anything, else `False`."""
    found = None
    for name, item in value.items():
        low = name.lower()
        said: bool | None = None
        if isinstance(item, dict):
            said = _holds_nothing(item)
        elif low in _HITS:
            said = not item
        elif low not in _BESIDE and not isinstance(item, bool) and item is not None:
            said = False
        if said is False:
            return False
        found = found or said
    return found


_HITS = frozenset((*phrases.EMPTY_FIELDS, "edges", "nodes"))
_BESIDE = frozenset(phrases.EMPTY_BESIDE)
_PLACES = frozenset(("Of", "of", "Li", "li", "St", "st", "Pa", "pa", "Po", "po"))
_PAST_THE_END = lazily(
    r"(?:start(?:ing)? )?(?:line|offset|page|position)s? (?:number )?\d+[^\n]{0,20}"
    r"\b(?:out of range|(?:beyond|past|exceeds|after) (?:the )?(?:end|last|number|total|length|file))"
    r"|start(?:ing)? (?:line|offset) [^\n]{0,30}greater than",
    re.IGNORECASE,
)
_EMPTY = frozenset(phrases.EMPTY)
_EMPTY_OBJECT = lazily(
    rf'\{{(?:\s*(?:("(?:{"|".join(phrases.EMPTY_FIELDS)})"\s*:\s*(?:\[\s*\]|\{{\s*\}}|null|0|""))'
    rf'|"(?:{"|".join(phrases.EMPTY_BESIDE)})"\s*:\s*(?:true|false|null|\d+|"[^"]*")|"error"\s*:\s*(?:null|false|""))\s*(?:,|(?=\}})))+\}}',
    re.IGNORECASE,
)
_BEGINNINGS = frozenset(start[:2] for start in phrases.EMPTY_STARTS)
_HEADS = frozenset(
    head for start in _BEGINNINGS for head in (start, start.upper(), start.capitalize(), start[0] + start[1:].upper())
).union(_PLACES)
"""How an answer of more than 40 characters that says no more than that may begin."""
