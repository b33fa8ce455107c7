"""
Outcomes that were not recorded: a placeholder for an image, base64 that was dropped, an old result that was cleared.

Such an answer says nothing about what the agent saw, so that two of them are not the same.
"""

from __future__ import annotations

import re
from typing import Any

from unstuck.fingerprint import arguments
from unstuck.lazily import lazily
from unstuck.sketch import words_of

UNSEEN = 4
"""Looks at what was not recorded that count as one; half as many steps, whose counts are doubled."""
_SAYS_ALL = frozenset(("write", "delegate", "talk", "shell"))
"""Kinds of tools whose whole answer is text."""
_LONGEST = 400
_RECEIPT = 60
"""Characters that may stand beside a placeholder: a receipt, not what was seen."""
_HINT = lazily(
    r"image|screenshot|picture|photo|video|audio|base64|omitted|redacted|cleared|removed|elided|stripped", re.IGNORECASE
)
_PICTURES = frozenset("image images img screenshot screenshots picture photo video audio base64".split())
_BESIDE = frozenset(
    "type source media data content mime url png jpeg jpg gif webp px kb mb bytes block placeholder file attachment attached taken captured "
    "successfully success ok true saved returned not shown recorded available a an the of with ephemeral "
    " cache control id format detail auto size width height x".split()
)
_GONE = frozenset("omitted redacted cleared removed elided stripped dropped".split())
_OF_WHAT = (
    _PICTURES
    | _BESIDE
    | _GONE
    | frozenset(
        "old previous tool result results output content contents data response observation text to for from by this was has been due limit "
        "space save context too large long history compaction".split()
    )
)
# Compiled when they are first needed.
_PLACEHOLDER = r"(?i)[\[<(] ?(?:base64 )?(?:image|img|screenshot|picture|photo|video|audio)\b[^\[\]<>()\n]{0,80}[\])>]"
_BLOCK = r'"type":\s*"(?:image|input_image|image_url|audio|video)'
_SENT = r"[A-Za-z0-9+/=_-]{100}"
_DIGIT = lazily(r"\d")
_HEAD = r"data:[a-z]+/[\w.+-]{1,40};base64,|(?:iVBORw0KGgo|/9j/4|R0lGOD|UklGR)[\w+/=]{0,100}"


def is_unseen(kind: str, tool: str, args: Any, text: str) -> bool:
    """Whether what a call of that *kind* came to was not recorded; an empty *text* was not where the call takes a picture."""
    if kind in _SAYS_ALL:
        return False
    return is_unrecorded(text) if text.strip() else takes_picture(tool, args)


def is_unrecorded(text: str) -> bool:
    """Whether an answer only stands for one that was not recorded: `[image]`, `[Old tool result content cleared]`, an image without data."""
    if len(text) > _LONGEST:
        return re.search(_BLOCK, text[:4_096]) is not None and re.search(_SENT, text) is None and len(text) < 4_096
    if _HINT.search(text) is None or re.search(_SENT, text) is not None:
        return False
    if re.search(_BLOCK, text) is not None:
        return True
    plain = re.sub(_PLACEHOLDER, "", text)
    if len(plain) < len(text) and len(plain.strip()) <= _RECEIPT:
        return True
    said = {word for word in words_of(re.sub(_HEAD, " base64 ", text)) if not word[0].isdigit()}
    whole = text.strip()
    enclosed = whole[:1] in "[<({" and whole[-1:] in "])>}"
    if said & _PICTURES and said <= _PICTURES | _BESIDE and (enclosed or _DIGIT.search(re.sub(_HEAD, "", text)) is None):
        return True
    return enclosed and bool(said & _GONE) and said <= _OF_WHAT


def holds_picture(text: str) -> bool:
    """Whether an answer is an image or a sound with its data: another one may show anything."""
    return re.search(_BLOCK, text[:4_096]) is not None or text.startswith(("data:image/", "data:audio/", "data:video/"))


def takes_picture(tool: str, args: Any) -> bool:
    """Whether a call takes a picture, so that an empty answer is one that was not recorded."""
    if "screenshot" in tool.lower():
        return True
    args = arguments(args)
    return isinstance(args, dict) and any(args.get(field) in ("screenshot", "zoom") for field in ("action", "command", "type"))
