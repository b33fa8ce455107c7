"""
What an exchange came to, whatever its result's `outcome` says.

Shells and servers often report a failure in the text of a success; `grep` that finds nothing is reported as a failure. Only what
is sure is corrected: reports of tests and builds stay what they are said to be, and so do texts that were read.
"""

from __future__ import annotations

import re

from unstuck.events import Result
from unstuck.kinds import kind_of_name
from unstuck.lazily import lazily
from unstuck.sketch import words_of
from unstuck.states import Pending
from unstuck.volatile import mask

ENDS = 200
"""Characters at both ends of a shell's output in which its failure is looked for."""
SHORT = 400
"""Characters up to which an answer may be nothing but the report of a failure."""
OPENING = 4
_WORDS = (
    "error",
    "fatal",
    "failed to",
    "failure",
    "exception",
    "traceback (",
    "unable to",
    "cannot ",
    "invalid ",
    "connection ",
    "request failed",
    "<html",
    "<!doctype",
    "### Page",
)
OPENINGS = frozenset(
    start[:OPENING]
    for word in _WORDS
    for start in (word, word.capitalize(), word.upper(), f"<{word}", f"[{word.upper()}", f"[{word}")
) | frozenset(
    (
        '{"er',
        "400 ",
        "401 ",
        "403 ",
        "404 ",
        "405 ",
        "409 ",
        "410 ",
        "422 ",
        "429 ",
        "500 ",
        "502 ",
        "503 ",
        "504 ",
        '{"su',
        '{"ok',
        '{"is',
        '{"st',
        '{ "e',
        "{\n  ",
        '{"me',
        '{"de',
        '{"co',
        '{"da',
        '{"re',
        "npm ",
    )
)
"""How answers begin that may report a failure: a cheap test on the way of every answer."""
_SAYS_SO = lazily(
    r"[<\[(\W]{0,6}(?:error|fatal|failure|exception)\b(?:[ \w.-]{0,60}:|\]|>|[ ](?:executing|calling|running|while|reading|from|in)\b)"
    r"|[\W]{0,6}(?:failed to|(?:unable to|cannot)(?! find| locate)|invalid)\s|npm ERR!|connection (?:to )?[^\n]{0,100}(?:refused|failed|reset|timed out|closed)|request failed"
    r"|[45]\d\d (?:bad request|unauthorized|forbidden|not found|method not|conflict|gone|unprocessable|too many|internal|bad gateway|service unav|gateway t)"
    r"|<(?:!doctype )?html[^\n]{0,200}<title>[^<]{0,60}(?:\b[45]\d\d\b|not found|denied|forbidden|robot|captcha|just a moment|attention required)"
    r"|traceback \(most recent call last\)",
    re.IGNORECASE,
)
_AS_JSON = lazily(
    r'"is_?error"\s*:\s*true|"(?:success|succeeded|ok)"\s*:\s*false|"error"\s*:\s*(?:"[^"]|\{\s*"|true|\[\s*[^\]\s])'
    r'|"status"\s*:\s*"error"|"data"\s*:\s*null\s*,\s*"errors"\s*:\s*\[\s*[^\]\s]'
    r'|"code"\s*:\s*(?!20)[1-9]\d{2,}\s*,\s*"(?:msg|message|reason)"\s*:\s*"(?!ok|success)',
    re.IGNORECASE,
)
_TESTED = lazily(
    r"(?<!port )\b\d+ (?:failed|passed|failing|passing|failures?|errors?|skipped|tests?|warnings?)\b|\bFAIL(?:ED|URES?)?\b|\bPASS(?:ED)?\b"
    r"|AssertionError|\bTests?:|test result:|not ok \d|[✕✗]|(?i:(?:build|compilation|tests?) failed)",
)
_SHELL_SIGNS = ("xit", "raceback", "enied", "o such file", "ot found", "ot a directory", "s a directory", "not permitted")
_STATUS = lazily(
    r"(?:exit(?:ed)?(?:[ _](?:with[ ])?(?:code|status))?|return ?code)[\"'\s:=()\[\]]{1,4}(?!0\b)(\d{1,3})\b", re.IGNORECASE
)
_SHELL_LINE = lazily(
    r"^[^\n]{1,300}: (?:command not found|No such file or directory|Permission denied|not found|Is a directory|Not a directory"
    r"|Operation not permitted)\.?$"
)
_RAISED = lazily(r"^[\w.]*(?:Error|Exception|Interrupt|Exit)\b")
_UNCHANGED = lazily(
    r"\b(?:not found|no match(?:es)?(?: found)?|did ?n[o']t match|could not (?:find|locate|be found|apply)|does not exist"
    r"|no changes? (?:were |was )?made|no (?:replacements?|edits?|changes?) (?:was|were)|nothing to (?:commit|change|do|replace)"
    r"|unchanged|no such|already exists|0 replacements|must be unique|multiple (?:matches|occurrences)|not unique)\b",
    re.IGNORECASE,
)
_IDLE = lazily(r"nothing to (?:commit|change|do)|already up.to.date|\bFile exists$", re.IGNORECASE | re.MULTILINE)
_DONE = lazily(
    r"[\W]{0,4}(?:ok|done|success\w*|updated|wrote|written|created|saved|applied|added|file \S+ (?:has|was)|(?:the )?\S+(?: \S+)? (?:updated|written|created|saved|changed|edited|applied|inserted))\b",
    re.IGNORECASE,
)
_WHOLE = ("Traceback", "<html", "<!doctype", "<!DOCTYPE", "<HTML", "### Page")
"""How answers of any length begin whose beginning says what they are."""
_PAGE = lazily(
    r"Page Title: [^\n]{0,60}(?:\b[45]\d\d\b|not found|denied|forbidden|robot|captcha|just a moment|attention required)",
    re.IGNORECASE,
)
_STATUS_WORDS = frozenset(
    "error command process failed exited exit with code status returned returncode return non zero nonzero output stdout stderr empty "
    "no none null the tool ran without any metadata duration seconds wall time chunk id result false success".split()
)


def corrected(event: Result, pending: Pending, text: str) -> Result:
    """*event*, a result with *text*, with the outcome that the exchange really had; without text where that was a mere status."""
    outcome = event.outcome
    if outcome == "error":
        if not pending.is_shell or not _is_answer(pending, text):
            return event
        return event._replace(content="" if _is_bare(text) else text, outcome="ok")
    if outcome == "ok" and text and pending.kind not in _SAYS_NOTHING and _failed(pending, text):
        return event._replace(content=text, outcome="error")
    return event


_SAYS_NOTHING = frozenset(("delegate", "talk"))


def _failed(pending: Pending, text: str) -> bool:
    if text[:OPENING] in OPENINGS and _is_report(text):
        return True
    if pending.is_shell and _fails_in_shell(pending, text):
        return True
    if pending.kind != "write" or len(text) > SHORT or _DONE.match(text) is not None:
        return False
    if kind_of_name(pending.tool) != "shell":
        return _UNCHANGED.search(text) is not None
    if _IDLE.search(text) is not None:
        pending.kind = "read"  # what found nothing to change has only looked
    return False


def _is_report(text: str) -> bool:
    """Whether a whole answer that came back as a success is the report of a failure."""
    head = text[:SHORT]
    if text[:1] == "{":
        return _AS_JSON.search(head) is not None and _TESTED.search(head) is None
    if len(text) > SHORT and not head.startswith(_WHOLE):
        return False
    if text[:4] == "### ":
        return _PAGE.search(head) is not None
    return _SAYS_SO.match(head) is not None and _TESTED.search(text) is None


def _fails_in_shell(pending: Pending, text: str) -> bool:
    """Whether the output of a command shows for sure that it failed, and not that a test did."""
    ends = text if len(text) <= 2 * ENDS else f"{text[:ENDS]}\n{text[-ENDS:]}"
    if not any(sign in ends for sign in _SHELL_SIGNS):
        return False
    last = ends.rstrip().rpartition("\n")[2].strip()
    # What was only read may be the log of another command: there the status stands before or behind everything else.
    listed = text.startswith("Command: ")  # as Gemini CLI lists what a command came to
    where = [ends.partition("\n")[0], last] if pending.kind == "read" and not listed else ends.splitlines()
    status = next(filter(None, map(_STATUS.search, where)), None)
    raised = "Traceback (most recent call last)" in ends and _RAISED.match(last) is not None
    refused = len(text) <= SHORT and _SHELL_LINE.match(last) is not None
    if status is None and not raised and not refused:
        return False
    if status is not None and status[1] == "1" and _is_answer(pending, text):
        return False
    return _TESTED.search(text) is None


def _is_answer(pending: Pending, text: str) -> bool:
    """Whether a command whose exit status is its answer said no."""
    return pending.may_say_no() and _is_bare(text)


def _is_bare(text: str) -> bool:
    """Whether a text holds no more than an exit status of 1."""
    return len(text) <= SHORT and all(word in _STATUS_WORDS or word in ("0", "1") for word in words_of(mask(text)))
