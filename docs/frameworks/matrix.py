"""
Writes `matrix.md` from runs of the adapters' suite: what each framework can do, and the incident of 47 reads in each; and into
`index.md` the releases that the adapters need.

    nox -s adapter -- --junitxml=FILE      for each framework, or pytest in an environment of your own
    python docs/frameworks/matrix.py FILE...

A run with failures, or with tests that were left out, is refused: a cell is green or has a reason.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from unstuck.adapters import FRAMEWORKS
from unstuck.testing_adapters import AdapterSuite
from unstuck.testing_adapters.world import USEFUL

PAGE = Path(__file__).parent / "matrix.md"
INDEX = Path(__file__).parent / "index.md"
CHECKS = [name for name in vars(AdapterSuite) if name.startswith("test_")]
INCIDENT = "test_the_incident_of_47_reads"
NAMES = {
    "AgentFramework": "Agent Framework",
    "ClaudeAgentSDK": "Claude Agent SDK",
    "OpenAIAgents": "OpenAI Agents",
    "GoogleADK": "Google ADK",
    "PydanticAI": "Pydantic AI",
}


class Column(NamedTuple):
    """One suite: for each check the reasons of its cases (`None`: passed), by the case; and what the incident recorded."""

    name: str
    module: str
    checks: dict[str, dict[str, str | None]]
    incident: dict[str, str]


def columns(files: list[Path]) -> list[Column]:
    """The suites in *files*, by name; raises `SystemExit` for a run that is not whole."""
    found: dict[str, Column] = {}
    for path in files:
        for case in ET.parse(path).iter("testcase"):  # noqa: S314 - written by pytest here
            module, _, suite = case.get("classname", "").rpartition(".")
            check, _, parameter = case.get("name", "").partition("[")
            if not suite.startswith("Test") or check not in CHECKS:
                continue
            name = NAMES.get(suite[4:], suite[4:])
            column = found.setdefault(name, Column(name, module.rpartition(".test_")[2], {}, {}))
            column.checks.setdefault(check, {})[parameter.rstrip("]")] = reason(case, f"{path}: {suite}.{case.get('name')}")
            if check == INCIDENT:
                column.incident.update({one.get("name", ""): one.get("value", "") for one in case.iter("property")})
    for column in found.values():
        if missing := set(CHECKS) - set(column.checks):
            raise SystemExit(f"{column.name}: {', '.join(sorted(missing))} did not run")
    return sorted(found.values(), key=lambda column: column.name.lower())


def reason(case: ET.Element, where: str) -> str | None:
    """Why a case is a gap, `None` where it passed."""
    if case.find("failure") is not None or case.find("error") is not None:
        raise SystemExit(f"{where} failed")
    skipped = case.find("skipped")
    if skipped is None:
        return None
    if skipped.get("type") != "pytest.xfail":
        raise SystemExit(f"{where} was skipped: {skipped.get('message')}")
    return skipped.get("message")


def cell(cases: dict[str, str | None]) -> str:
    """Yes, a gap, or the ways in that pass and those that do not."""
    passed, gaps = [case for case, why in cases.items() if not why], [case for case, why in cases.items() if why]
    if cases.keys() == {""} or cases.keys() == set(USEFUL) or not passed:
        return "gap" if gaps else "yes"
    return ", ".join([*passed, *(f"gap: {case}" for case in gaps)])


def gaps_of(cases: dict[str, str | None]) -> list[tuple[str, str]]:
    """The cases that do not pass, with the reasons; one row without a case where the reason is one for all."""
    gaps = [(f" ({case})" if case else "", why) for case, why in cases.items() if why]
    if len(gaps) == len(cases) and len({why for _, why in gaps}) == 1:
        return [("", gaps[0][1])]
    return gaps


def told(column: Column) -> str:
    """When the guard spoke to the model, by the number of the request."""
    said: dict[str, str] = json.loads(column.incident["told"])
    blocks = [number for number, text in said.items() if "not executed" in text]
    nudges = [number for number, text in said.items() if "not executed" not in text]
    return f"nudge in request {', '.join(nudges)}; block in {', '.join(blocks)}"


def page(found: list[Column]) -> str:
    """The whole page."""
    head = "| | " + " | ".join(column.name for column in found) + " |\n|---|" + "---|" * len(found) + "\n"
    releases = "| release | " + " | ".join(column.incident["release"] for column in found) + " |\n"
    rows = "".join(
        f"| {check[5:].replace('_', ' ')} | {' | '.join(cell(column.checks[check]) for column in found)} |\n"
        for check in CHECKS
    )
    gaps = "".join(
        f"| {column.name} | {check[5:].replace('_', ' ')}{case} | {why} |\n"
        for column in found
        for check in CHECKS
        for case, why in gaps_of(column.checks[check])
    )
    incidents = "".join(
        f"| {column.name} | {column.incident['executed']} of 47 times | {told(column)} | `{column.incident['caller']}` |\n"
        for column in found
    )
    words = re.sub(r"\s+", " ", json.loads(found[0].incident["told"])["4"])
    return TEMPLATE.format(head=head + releases, rows=rows, gaps=gaps, incidents=incidents, words=words)


def index(text: str) -> str:
    """*text* with a row for each framework in its table of releases."""
    rows = "".join(
        f"| [{framework.title}]({name}.md) | `{name.replace('_', '-')}` | `{'`, `'.join(framework.requires)}` | {framework.tried} |\n"
        for name, framework in sorted(FRAMEWORKS.items(), key=lambda item: item[1].title.lower())
    )
    return re.sub(r"(\| framework \| extra \|.*\n\|[-|]+\|\n)(?:\|.*\n)*", lambda found: f"{found[1]}{rows}", text, count=1)


TEMPLATE = """# What was checked

<!-- Written by docs/frameworks/matrix.py from runs of the suite; do not edit. -->

Every adapter runs one suite in front of its real framework, with a scripted model.
This page is made from such runs: each cell passed, or is a gap with its reason below.

{head}{rows}
## Gaps

| framework | what | why not |
|---|---|---|
{gaps}
## The 47 reads

A model asks for the same file 47 times, whatever it is told.
This is what becomes of it, with the preset `default`:

| framework | the file was read | the model was told | the caller got |
|---|---|---|---|
{incidents}
The nudge reads:

> {words}

With `on_stop="end"` the run ends in the framework's own quiet way instead, where it has one.
"""

if __name__ == "__main__":
    INDEX.write_text(index(INDEX.read_text("utf-8")), "utf-8")
    PAGE.write_text(page(columns([Path(name) for name in sys.argv[1:]])), "utf-8")
