"""The answer of `unstuck explain --json`: one object, as `docs/explain.md` describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unstuck.explain import Exchange, Reset

if TYPE_CHECKING:
    from unstuck.explain import Closest, Explanation, Next, Rung, Shown, Strand


def record(explanation: Explanation, *, content: bool = True) -> dict[str, Any]:
    """The explanation as plain values; without *content* no arguments, results, texts and masked tokens."""
    return {
        "run": explanation.run,
        "source": explanation.source,
        "format": explanation.format,
        "calls": explanation.calls,
        "messages": explanation.messages,
        "rules": explanation.rules,
        "loops": [_strand(strand, content=content) for strand in explanation.strands],
        "closest": [_closest(one) for one in explanation.closest],
    }


def _closest(one: Closest) -> dict[str, Any]:
    return {
        "pattern": one.pattern,
        "agent": one.agent,
        "tools": list(one.tools),
        "count": one.repeats,
        "unit": one.unit,
        "rung": one.rung,
        "first_call": one.first_call,
        "call": one.call,
        "message": one.message,
    }


def _strand(strand: Strand, *, content: bool) -> dict[str, Any]:
    return {
        "loop": strand.loop,
        "pattern": strand.pattern,
        "agent": strand.agent,
        "tools": list(strand.tools),
        "decision": strand.level.label,
        "unit": strand.unit,
        "period": strand.period,
        "rule": strand.rule or None,
        "ladder": strand.ladder._asdict(),
        "ladder_from": strand.ladder_from,
        "rungs": [_rung(rung) for rung in strand.rungs],
        "entries": [
            _exchange(entry, content=content) if isinstance(entry, Exchange) else _reset(entry) for entry in strand.entries
        ],
        "left_out": [{"reason": group.reason, "calls": list(group.calls)} for group in strand.left_out],
        "between": strand.between,
        "next": _next(strand.next),
        "elsewhere": [{"pattern": pattern, **_rung(rung)} for pattern, rung in strand.elsewhere],
    }


def _rung(rung: Rung) -> dict[str, Any]:
    return {
        "decision": rung.level.label,
        "would": rung.would.label if rung.would is not None else None,
        "call": rung.call,
        "message": rung.message,
        "count": rung.repeats,
        "carried": rung.carried,
        "before_call": rung.before,
    }


def _exchange(entry: Exchange, *, content: bool) -> dict[str, Any]:
    return {
        "kind": "exchange" if entry.tool is not None else "response" if entry.call is None else "interval",
        "call": entry.call,
        "message": entry.message,
        "agent": entry.agent,
        "tool": entry.tool,
        "args": _text(entry.args) if content else None,
        "outcome": entry.outcome,
        "result": _text(entry.result) if content else None,
        "masked": list(entry.result_masked) if content else None,
        "ignored": list(entry.ignored),
        "count": entry.repeats,
        "why": entry.why,
        "earlier": entry.earlier,
        "decisions": [decided.level.label for decided in entry.decisions],
    }


def _reset(entry: Reset) -> dict[str, Any]:
    return {
        "kind": "reset",
        "call": entry.call,
        "message": entry.message,
        "reason": entry.reason,
        "calls": list(entry.calls),
        "tools": list(entry.tools),
        "carried": entry.carried,
    }


def _next(ahead: Next) -> dict[str, Any]:
    return {
        "decision": ahead.level.label if ahead.level is not None else None,
        "count": ahead.repeats,
        "more": ahead.more,
        "before_call": ahead.before,
        "carried": ahead.carried,
        "why": ahead.why,
    }


def _text(shown: Shown | None) -> str | None:
    return shown.text if shown is not None else None
