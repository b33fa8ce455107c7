"""
`unstuck hook run AGENT`: one event on standard input, the answer on standard output.

Runs before and after every tool call, so it imports no more than it needs. It fails open: whatever goes wrong, the call goes through
and the reason stands in the hooks' log.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from unstuck.errors import ReadError, UnstuckError
from unstuck.findings import Level
from unstuck.hooks import AGENTS, log, module_of
from unstuck.hooks.guard import MARK, REFUSED, Guard, Verdict
from unstuck.store import FILE, BrokenFileError, Key, Saved, Store, folder, set_aside

if TYPE_CHECKING:
    from unstuck.hooks.dialect import Action, Answer, Delivered, Dialect, Environ
    from unstuck.presets import Rules

BUDGET = 5.0
"""Seconds after which a hook gives up and lets the call through."""
MOST_BYTES = 256 * 1024 * 1024
"""Of one event. What takes more memory than a hook may is not looked at; JSON takes two to ten times its size."""
PATIENCE = 2.5
"""Of these, seconds that it waits for other hooks that are writing."""
USAGE = f"usage: unstuck hook run AGENT, where AGENT is one of {', '.join(AGENTS)}"
HELP = f"""{USAGE}

Answers one event on standard input, as AGENT understands it. Coding agents call this themselves once
`unstuck hook install` has entered it into their settings; `unstuck log` shows what came of it.

Example: unstuck hook run claude_code < event.json"""
_OWN = ("UNSTUCK_HOME",)
_LEFT: list[Store] = []


class Done(NamedTuple):
    """What a hook process prints, and what goes into the log."""

    output: str
    entries: tuple[Mapping[str, Any], ...] = ()


def main(arguments: Sequence[str]) -> int:
    """Answer the event on standard input for the agent named in *arguments*; returns 0, or 1 where there is no such agent."""
    if {"-h", "--help"} & set(arguments):
        print(HELP)
        return 0
    if len(arguments) != 1 or arguments[0] not in AGENTS:
        print(USAGE, file=sys.stderr)
        # Not 2: to coding agents that means "block".
        return 1
    where = folder(os.environ)
    _watch(arguments[0], where)
    done = answer(arguments[0], _taken(sys.stdin.buffer), os.environ, time.time(), last=True)
    _write(where, (*done.entries, *_printed(done.output, arguments[0])))
    # Everything is written; taking the interpreter down in order would cost a person time on every call.
    os._exit(0)


def _taken(stream: BinaryIO) -> bytes:
    """All of *stream*, of which no more is kept than shows that it is too long: whoever writes it must not find it closed."""
    raw = stream.read(MOST_BYTES + 1)
    while len(raw) > MOST_BYTES and stream.read(1024 * 1024):
        pass
    return raw


def _printed(output: str, agent: str) -> tuple[Mapping[str, Any], ...]:
    """Print *output*; what goes into the log where that cannot be done."""
    if not output:
        return ()
    try:
        sys.stdout.write(output)
        sys.stdout.flush()
    except OSError as error:
        return ({"time": time.time(), "program": agent, "error": f"the answer cannot be written: {error.strerror}"},)
    return ()


def answer(agent: str, raw: bytes, environ: Environ, now: float, *, last: bool = False) -> Done:
    """What to print about the event *raw* of *agent* at *now*, and what to log; *last*: the process ends then. Never raises."""
    about: dict[str, Any] = {"time": now, "program": agent}
    try:
        module = module_of(agent)
        payload = _parsed(raw)
        about["event"] = payload.get("hook_event_name") if isinstance(payload.get("hook_event_name"), str) else None
        delivered = module.read(payload, environ, now)
        if delivered is None:
            return Done("")
        about |= {"session": delivered.session, "agent": delivered.agent, "project": delivered.project}
        verdict = judge(agent, delivered, environ, last=last)
        return _done(module, about, verdict) if verdict is not None else Done("")
    except UnstuckError as error:
        problem = str(error)
    except Exception as error:
        # The text of a foreign error may quote what the event holds.
        problem = f"{type(error).__name__} in {_place(error)}"
    return Done("", ({**about, "error": problem},))


def _parsed(raw: bytes) -> dict[str, Any]:
    """The event; raises `ReadError` where it is none, with a place and nothing of its text."""
    if len(raw) > MOST_BYTES:
        raise ReadError("the event", f"it is longer than {MOST_BYTES // (1024 * 1024)} MB")
    try:
        payload = json.loads(raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        problem = f"no JSON: {error.msg} at line {error.lineno}, column {error.colno}" if raw.strip() else "it is empty"
        raise ReadError("the event", problem) from None
    if not isinstance(payload, dict):
        raise ReadError("the event", "it is no JSON object")
    return payload


def judge(agent: str, delivered: Delivered, environ: Environ, *, last: bool = False) -> Verdict | None:
    """
    The verdict on *delivered*, its session taken up from the store and put back in one transaction.

    *last*: the store stays open until the process ends. Closing it would carry over what was written and wait for the disk, which
    takes as long as everything else; SQLite does so by itself once in a while.
    """
    rules = rules_for(delivered.project or ".", environ)
    path = os.path.join(folder(environ), FILE)
    try:
        store = Store(path, PATIENCE)
        try:
            with store:
                return _judge(store, rules, agent, delivered)
        finally:
            if last:
                _LEFT.append(store)
            else:
                store.close()
    except BrokenFileError as error:
        away = set_aside(path, error.inode)
        raise BrokenFileError(f"{error.problem}; it is now {away} and counting begins anew") from error


def _judge(store: Store, rules: Rules, agent: str, delivered: Delivered) -> Verdict | None:
    key = Key(agent, delivered.session, delivered.agent)
    verdict = _turn(store, rules, key, delivered)
    event = delivered.event
    if getattr(event, "origin", None) == "user" and type(event).__name__ == "User":
        # A person speaks to the whole session.
        for name in store.agents(agent, delivered.session):
            if name != delivered.agent:
                _turn(store, rules, key._replace(agent=name), delivered)
    return verdict


def _turn(store: Store, rules: Rules, key: Key, delivered: Delivered) -> Verdict | None:
    saved = store.load(key)
    guard = Guard(rules, saved.state, saved.memory) if saved else Guard(rules)
    verdict = guard.judge(delivered)
    if verdict is not None:
        project = saved.project if saved else delivered.project
        store.save(key, Saved(guard.monitor.dump(), guard.memory.dump(), guard.monitor.calls, project))
    return verdict


def rules_for(directory: str, environ: Environ) -> Rules:
    """The rules that hold in *directory*; the configuration is loaded only where there is one."""
    if any(name.startswith("UNSTUCK_") and name not in _OWN for name in environ) or _is_configured(directory):
        from unstuck.config import Options

        return Options.load(directory, environ).rules()
    from unstuck.presets import preset

    return preset("default")


def _is_configured(directory: str) -> bool:
    here = os.path.abspath(directory)
    while True:
        if os.path.isfile(os.path.join(here, "unstuck.toml")):
            return True
        try:
            with open(os.path.join(here, "pyproject.toml"), "rb") as file:
                if b"tool.unstuck" in file.read():
                    return True
        except OSError:
            pass
        above = os.path.dirname(here)
        if above == here:
            return False
        here = above


def _done(module: Dialect, about: dict[str, Any], verdict: Verdict) -> Done:
    given: Answer | None = None
    if verdict.level >= Level.NUDGE and verdict.text:
        over = verdict.level is Level.STOP and not module.ENDS and REFUSED not in verdict.text
        text = f"{MARK}{verdict.text}{f' {REFUSED}' if over else ''}"
        given = module.answer(about["event"], verdict.level, text)
    action: Action | None = given.action if given else None
    entries: list[Mapping[str, Any]] = []
    findings = verdict.findings or ((verdict.finding,) if action and verdict.finding else ())
    for finding in findings:
        level = finding.would or finding.level
        entries.append(
            {
                **about,
                "action": action if finding.would is None else None,
                "level": (verdict.level if action else level).label,
                "shadow": finding.would is not None,
                "pattern": finding.pattern,
                "count": finding.repeats,
                "unit": finding.unit,
                "tools": list(finding.tools),
                "loop": finding.loop,
                "call": finding.call if verdict.findings else verdict.call,
            }
        )
    if verdict.note:
        entries.append({**about, "error": verdict.note})
    output = json.dumps(given.output, separators=(",", ":")) if given and given.output else ""
    return Done(output, tuple(entries))


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else "unstuck"


def _write(where: str, entries: Sequence[Mapping[str, Any]]) -> None:
    for entry in entries:
        try:
            log.append(where, entry)
        except OSError as error:
            problem = entry.get("error") or entry.get("pattern")
            print(f"unstuck: {problem} (and the log cannot be written: {error.strerror})", file=sys.stderr)
            return


def _watch(agent: str, where: str) -> None:
    """Let the call through when the budget is used up, whatever the process is doing then."""
    import _thread

    def give_up() -> None:
        time.sleep(BUDGET)
        _write(where, [{"time": time.time(), "program": agent, "error": f"no answer within {BUDGET:g} s"}])
        os._exit(0)

    _thread.start_new_thread(give_up, ())
