"""The answer of `unstuck scan --json`: one JSON object a run and line, as `schemas/scan.schema.json` describes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from unstuck.findings import Finding, Level

if TYPE_CHECKING:
    from unstuck.scan import RunReport

CONTENT_CHARACTERS = 2000
"""As much of arguments, results and texts is shown for one finding with `--content`."""


def line(report: RunReport) -> str:
    """One run as a line of JSON in ASCII, without the line end."""
    return json.dumps(record(report))


def record(report: RunReport) -> dict[str, Any]:
    """One run as plain values."""
    findings = [_finding(finding) for finding in report.findings]
    for finding, content in zip(findings, report.contents or (), strict=False):
        finding["content"] = {name: _shown(value) for name, value in content.items()}
    first = {level: report.first(Level.named(level)) for level in ("nudge", "block", "stop")}
    usd = report.repeated.usd
    return {
        "run": report.run,
        "source": report.source,
        "format": report.format,
        "calls": report.calls,
        "messages": report.messages,
        "findings": findings,
        "first": {name: found and {"call": found.call, "message": found.message} for name, found in first.items()},
        "repeated": {
            "calls": report.repeated.calls,
            "tokens": report.repeated.tokens,
            "usd": None if usd is None else round(usd, 6),
        },
    }


def _finding(finding: Finding) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "loop": finding.loop,
        "pattern": finding.pattern,
        "call": finding.call,
        "message": finding.message,
        "first_call": finding.first_call,
        "count": finding.repeats,
        "tools": list(finding.tools),
        "agent": finding.agent,
        "decision": finding.level.label,
        "fingerprints": list(finding.fingerprints),
    }
    if finding.would is not None:
        shown["would"] = finding.would.label
    return shown


def _shown(value: object) -> str | None:
    if value is None:
        return None
    try:
        shown = value if isinstance(value, str) else json.dumps(value, default=str)
    except (RecursionError, TypeError, ValueError):
        return f"({type(value).__name__} that cannot be shown)"
    return shown if len(shown) <= CONTENT_CHARACTERS else f"{shown[:CONTENT_CHARACTERS]}… ({len(shown)} characters)"
