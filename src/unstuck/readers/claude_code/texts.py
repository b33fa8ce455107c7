"""Who wrote a text in a Claude Code log, and what a result's text says about how the call ended."""

from __future__ import annotations

import re

from unstuck.events import Outcome

_PROGRAM = re.compile(
    r"""\s*(?:
      <(?:system-reminder|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)|task-notification|user-memory-input
        |ide_(?:opened_file|selection|diagnostics)|user-prompt-submit-hook|session-start-hook|post-tool-use-hook|teammate-message
        |channel|tick|fork-boilerplate)[\s>]
      |\[Request\ interrupted\ by\ user
      |Caveat:\ The\ messages\ below\ were\ generated\ by\ the\ user
      |This\ session\ is\ being\ continued\ from\ a\ previous\ conversation
      |(?:Stop|SubagentStop|PreToolUse|PostToolUse|UserPromptSubmit)[:\w]*\ hook\ (?:feedback|error|blocking\ error|additional\ context)
      |Base\ directory\ for\ this\ skill:
    )""",
    re.VERBOSE,
)
_COMMAND = re.compile(r"\s*<command-(?:name|message)>")
_REMINDER = re.compile(r"\s*<system-reminder>(?:(?!</?system-reminder>).)*</system-reminder>\s*", re.DOTALL)
_IDE = re.compile(r"\s*<(ide_\w+)>(?:(?!</?ide_).)*</\1>\s*", re.DOTALL)
_REFUSED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "[Request interrupted by user",
    "User rejected",
)
_GUARDED = re.compile(
    r"(?:Pre|Post)ToolUse:\S* hook (?:blocking )?error|Permission to use \S+ .{0,80}denied|\S+ operation blocked by hook"
)


def is_request(said: str, *, local_command: bool = False) -> bool:
    """Whether a person asked for something here: reminders, command output, interruptions and hooks are a program's words."""
    said = _IDE.sub("", _REMINDER.sub("", said)).strip()
    if not said or _PROGRAM.match(said):
        return False
    return not (local_command and _COMMAND.match(said))


def without_reminders(result: str) -> str:
    """*result* without the reminders that Claude Code appends to it; they are not what the tool answered."""
    if "<system-reminder>" not in result:
        return result
    return _REMINDER.sub("", result) or result


def outcome_of(content: object, is_error: object, denial: object) -> Outcome:
    """How a call ended: a person's no is `denied`, that of a rule or hook is `blocked`."""
    if isinstance(denial, str) and denial:
        return "denied" if any(word in denial for word in ("user", "interrupt", "cancel", "reject")) else "blocked"
    if not is_error:
        return "ok"
    if isinstance(content, str):
        if content.lstrip().startswith(_REFUSED):
            return "denied"
        if _GUARDED.match(content.lstrip()):
            return "blocked"
    return "error"
