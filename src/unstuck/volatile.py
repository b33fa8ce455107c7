"""
What does not make a result new: clocks, dates, durations, ages, process ids, addresses, client ports, request ids, temporary paths,
attempt counters, tallies.

Masking is asymmetric on purpose. A masked token must say nothing about the world; percent, `item n of m`, offsets, failures
left and everything else that may be progress stays. Masking a masked text changes nothing.
"""

from __future__ import annotations

import re
from functools import cache, partial

from unstuck import words
from unstuck.fingerprint import text_digest
from unstuck.lazily import lazily

MASK = "~"
HALF = 4_096
"""Characters at each end of a long text that are masked; what lies between counts as it is."""
CLIPPED = 2 * HALF + 64
"""Characters from which on what lies between is kept as its digest only."""

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*"
_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?"
_COUNTED = r"(?:[Aa]ttempt|[Cc]all|[Ee]xecution|[Ii]nvocation|[Pp]oll|[Qq]uerie|[Qq]uery|[Rr]equest|[Rr]etry)"
_REST_OF_DATE = rf"(?:,? {_CLOCK})?(?: [A-Z]{{3,4}})?(?:,? \d{{4}})?"
_TEMPORARY = r"(?:tmp[a-z0-9_]{8}|tmp\.[A-Za-z0-9]{6,12}|pytest-\d+)"
_LOGGED_BY = r" [\w.-]{1,64} [\w./@-]{1,64}\[\d{1,7}\](?=:)"
# Grouped by what they begin with, so that most characters of a text are passed over at the first look.
_BEGIN_WITH_A_DIGIT = (
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}",  # uuid
    rf"\d{{4}}[-/]\d\d[-/]\d\d(?:[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?(?:{_LOGGED_BY})?)?",
    rf"\d{{1,2}}[./]\d{{1,2}}[./]\d{{4}}(?:,? {_CLOCK})?",
    rf"\d{{1,2}} {_MONTH}{_REST_OF_DATE}",
    rf"{_CLOCK}(?: ?[AaPp][Mm])?(?![:\d])",
    r"1[5-9]\d{8}(?:\.\d+|\d{3}(?:\d{3}(?:\d{3})?)?)?",  # seconds, milliseconds ... since 1970
    r"(?:\d+[smhdw]){1,3} ago",
    r"(?:\d+h ?)?\d+m ?\d+(?:\.\d+)?s",
    r"\d+(?:[.,]\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|mins?|minutes?|hrs?|hours?)(?![\w~])(?! (?:left|remaining|to go))",
    r"0x[0-9a-fA-F]{6,}",
    r"\d+(?:st|nd|rd|th) (?:call|time|attempt|try|read|request|look)",
    r"\d+ (?:days?|weeks?|months?|years?) ago",
    r"(?:\d+[smhd]){1,2}(?= +(?:Normal|Warning) )",  # an event of Kubernetes
    r"\d+(?:,\d+)* tokens used",
    r"01[0-9A-HJKMNP-TV-Z]{24}",  # ulid
)
_BEGIN_WITH_A_LETTER = (
    r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
    rf"{_MONTH} {{1,2}}\d{{1,2}} {_CLOCK}{_LOGGED_BY}",  # a line of syslog
    rf"(?:{_DAY},? )?(?:{_MONTH}\.? {{1,2}}\d{{1,2}}|\d{{1,2}} {_MONTH}){_REST_OF_DATE}",
    r"(?:read|called|viewed|seen|accessed|invoked|used|requested|fetched|shown|executed|tried) \d+ ?(?:x|×|times?)",
    r"(?:[Aa]ttempt|ATTEMPT|[Rr]etry|[Tt]ry)(?: (?:no\.?|number))?[ :#=]{1,3}\d+(?: ?(?:/|of) ?\d+)?",
    rf"{_COUNTED} (?:count(?:er)?|no\.?|number|#)[ :=#]{{0,3}}\d+",
    rf"(?:[Tt]otal|[Nn]umber of) {_COUNTED}s?[ :=]{{1,3}}\d+|{_COUNTED}s (?:so far|made|to date)[ :=]{{1,3}}\d+",
    r"(?:[Pp]rocess|pid|PID) ?\[\d{2,7}\]",
    r"(?:In|Out) ?\[\d+\]",
    r"(?:p?pid|tid|PID) #?\d+",
    r"(?:[Tt]okens used|[Tt]otal tokens):? \d+(?:,\d+)*(?:, cost:? \$\d+(?:\.\d+)?)?",
    r"eyJ(?=[\w-]{0,64}\d)[\w-]{10,}\.[\w-]{4,}(?:\.[\w-]*)?",  # a signed token
    r"(?:req|request|trace|span|resp|chatcmpl|toolu)[_-](?=[A-Za-z]{0,31}\d{1,31}[A-Za-z])[A-Za-z0-9]{10,64}",
    r'W/"(?=[^"\n]{0,63}\d)[\w+/=.-]{4,64}"',  # a weak etag
    r"goroutine \d+",
    r"WebKitFormBoundary(?=[A-Za-z]{0,15}\d)\w{16}",
    r"Chunk ID: (?=[a-f]{0,7}\d)[0-9a-f]{4,8}",
    _TEMPORARY,
)
_BEGIN_OTHERWISE = (
    rf"[\[(](?:{_COUNTED}|[Tt]urn|[Mm]ove|[Tt]ry|[Ii]teration) #?\d+[\])]",
    r"\[\d{3,7}\](?= (?:DEBUG|LOG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|PANIC|CRITICAL|STATEMENT|DETAIL|HINT)\b)",  # a process
    r"\(x\d+ over [\dsmhd]{2,12}\)",
    r"==\d{2,7}==|\((?:node|pid|PID): ?\d{2,7}\)|\[\d{2,7}:\d{1,7}:\d{4}/\d{6}\.\d{3,6}(?=:)",  # of Valgrind, of Node, of Chromium
    r"\(ID \d{6,12}\)|--randomly-seed=\d+",
    r"--[=-]{0,6}_(?:Next)?Part_(?=[\w.=]{0,64}\d)[\w.=-]{4,80}|--[-]{0,6}WebKitFormBoundary(?=[A-Za-z]{0,15}\d)\w{16}",
)
_CLIENT_PORT = r"[3-6](?:(?<=\d\.\d:.)|(?<=\.\d\d:.)|(?<=\.\d\d\d:.)|(?<=localhost:.))(?:(?<=3)[3-9]|(?<=[45])\d|(?<=6)[0-5])\d{3}(?![\w~.])"
"""Above 32,999, where systems take the port of an outgoing connection from."""
_QUERY = lazily(rf"(?<=[?&])(?:{'|'.join(sorted(words.THROWAWAY_QUERY))})=[^&#\s\"'`)]*&?", re.IGNORECASE)
_DIGIT = lazily(r"\d")


@cache
def _tokens() -> re.Pattern[str]:
    begins = (r"\d", _BEGIN_WITH_A_DIGIT), ("[A-Za-z]", _BEGIN_WITH_A_LETTER), (r"[\[(=-]", _BEGIN_OTHERWISE)
    found = "|".join(rf"(?={first})(?:{'|'.join(tokens)})" for first, tokens in begins)
    found = rf"(?<![\w~:./-])(?:{found})(?![\w~])|(?<=/){_TEMPORARY}(?![\w~])|{_CLIENT_PORT}"
    return lazily(rf"(?=[\w\[(=-])(?:{found})")


_AGE = r"(?:\d{1,3}[smhd]){1,2}[ \t]*$"
_VALUE = lazily(rf"([\"']?(?:[:=] ?| ?#| (?=[0-9a-f-]{{5}}|{_AGE}))[\"']?)(?=[\w.:+-]{{0,63}}\d)([\w.:+-]+)", re.MULTILINE)
_READY = lazily(r"\s\d+/\d+\s")
_NAME = lazily(r"(?<![\w~-])(?<!~[.:+])[A-Za-z][\w-]*$")
_HEX = lazily(r"(?=[0-9a-f-]*\d)[0-9a-f-]{5,}", re.IGNORECASE)
_NONCE = lazily(r"(?=[0-9a-f-]*[a-f])(?=[0-9a-f-]*\d)[0-9a-f-]{8,}", re.IGNORECASE)
_PLAIN_NAMES = frozenset(name.replace("_", "").replace("-", "") for name in words.VOLATILE_FIELDS)
_LEADS = frozenset(lead.replace(" ", "") for lead in words.VOLATILE_LEADS)


def _volatile_field(extra: frozenset[str], found: re.Match[str]) -> str:
    separator, value = found[1], found[2]
    named = _NAME.search(found.string, max(found.start() - 24, 0), found.start())
    if named is None:
        return separator + MASK if separator == " " and _READY.search(_line_before(found)) else found[0]  # an age
    name = named[0]
    plain = name.lower().replace("_", "").replace("-", "")
    volatile: object
    if separator.isspace() or "#" in separator:
        volatile = plain in _LEADS and _HEX.fullmatch(value)
    elif plain in _PLAIN_NAMES or name.lower() in extra:
        volatile = True
    elif plain in _LEADS:
        volatile = _HEX.fullmatch(value)
    else:
        volatile = plain == "id" and _NONCE.fullmatch(value)
    return separator + MASK if volatile else found[0]


def _line_before(found: re.Match[str]) -> str:
    """What stands before a value in its line: at most 160 characters of it, nothing before a brace, nothing after a mask."""
    text, place = found.string, found.start()
    if text[place - 1 : place] == MASK:
        return ""
    near = text[max(place - 160, 0) : place]
    return near[max(near.rfind(end) for end in "\n{}") + 1 :]


def mask(text: str, extra_fields: frozenset[str] = frozenset()) -> str:
    """*text* with every volatile token replaced by `~`; *extra_fields* are further names whose values are volatile."""
    if not _DIGIT.search(text):
        return text
    if len(text) > 2 * HALF:
        return mask(text[:HALF], extra_fields) + text[HALF:-HALF] + mask(text[-HALF:], extra_fields)
    if " " in text or ":" in text or "=" in text or "#" in text:  # nothing else separates a name from its value
        text = _VALUE.sub(partial(_volatile_field, extra_fields), text)
    return _tokens().sub(MASK, text)


def plain_address(text: str) -> str:
    """*text* with its addresses' throwaway parameters taken out: clocks and random numbers that only pass a cache by."""
    return _QUERY.sub("", text).rstrip("?&") if "?" in text else text


def surely_differ(one: str, other: str, extra_fields: frozenset[str] = frozenset()) -> bool:
    """
    Whether two texts differ once they are masked, told from the first piece in which they differ; `False` tells nothing.

    Pieces end at line breaks and braces. No volatile token holds one, so that a piece is masked alike wherever it stands, apart from
    names of temporary files without a digit and from values at the beginning of a line.
    """
    one, other = one[:HALF], other[:HALF]
    if one == other:
        return False
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    if _far_from_tokens(one, low) and _far_from_tokens(other, low):
        return True
    start = max(one.rfind(end, 0, low) for end in "\n{}") + 1
    pieces = []
    for text in (one, other):
        ends = [place for end in "\n{}" if (place := text.find(end, low)) >= 0]
        piece = text[start : min(ends, default=start)]
        if not ends or "tmp" in piece or (piece[:1] in _LEADING and one[start - 1 : start] == "\n"):
            return False
        pieces.append(mask(piece, extra_fields))
    return pieces[0] != pieces[1]


def _far_from_tokens(text: str, place: int) -> bool:
    """
    Whether four blanks stand between *place* and the nearest digit on either side.

    A volatile token has a digit within three, but for names of temporary files.
    """
    start = end = place
    for _ in range(4):
        start = text.rfind(" ", 0, start) if start > 0 else -1
        end = text.find(" ", end + 1) if end >= 0 else -1
    if end < 0 and len(text) == HALF:
        return False  # it may go on
    around = text[max(start, 0) : end if end >= 0 else len(text)]
    return "tmp" not in around and _DIGIT.search(around) is None


_LEADING = (":", "=", "#", " ", "'", '"')


def clipped(text: str) -> str:
    """A text as far as `mask` looks into it: both ends of a long one, and between them the digest of what lies there."""
    if len(text) <= CLIPPED:
        return text
    return f"{text[:HALF]}\x00{text_digest(text[HALF:-HALF]):x}\x00{text[-HALF:]}"


def spans(text: str, extra_fields: frozenset[str] = frozenset()) -> list[tuple[int, int]]:
    """Where the tokens stand that `mask` replaces, as first character and end; between them nothing is changed."""
    if not _DIGIT.search(text):
        return []
    if len(text) > 2 * HALF:
        shift = len(text) - HALF
        tail = spans(text[-HALF:], extra_fields)
        return [*spans(text[:HALF], extra_fields), *((start + shift, end + shift) for start, end in tail)]
    fields = [found.span(2) for found in _VALUE.finditer(text) if _volatile_field(extra_fields, found) != found[0]]
    half, place = text, list(range(len(text) + 1))  # the text as the tokens are looked for, and where its characters stood
    for start, end in reversed(fields):
        half, place[start:end] = half[:start] + MASK + half[end:], [start]
    tokens = [(place[found.start()], place[found.end() - 1] + 1) for found in _tokens().finditer(half)]
    return sorted({*fields, *tokens})


@cache
def _number() -> re.Pattern[str]:
    return lazily(r"(?<![\w.~])-?\d+(?:\.\d+)?(?![0-9A-Za-z_]*[A-Za-z_])|(?<=[A-Za-z]{3}_)\d+|(?<=[A-Za-z]{3})\d+(?!\w)")


def numbers(masked: str, most: int = 4) -> tuple[float, ...]:
    """The first *most* numbers in a masked text; identifiers in hexadecimal are none."""
    found: list[float] = []
    for match in _number().finditer(masked[:HALF]):
        found.append(float(match[0]))
        if len(found) == most:
            break
    return tuple(found)


def number_spans(text: str) -> list[tuple[int, int]]:
    """Where the numbers stand that `template` takes out."""
    return [found.span() for found in _number().finditer(text)]


def template(masked: str) -> str:
    """A masked text with its numbers taken out: what stays the same while a counter runs."""
    return _number().sub("#", masked)
