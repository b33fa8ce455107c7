"""
Writes where people look what the code knows best: the rungs of each pattern, and what there is for which framework and format; into
`pyproject.toml` which releases the frameworks' extras bring.

    python3 dev.py run python docs/tables.py

`tests/test_docs.py` fails where a page is older than the code.
"""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import unstuck
from unstuck.adapters import FRAMEWORKS
from unstuck.hooks import AGENTS, module_of
from unstuck.readers import READERS

if TYPE_CHECKING:
    from unstuck.ladder import Ladder

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = ROOT / "docs" / "patterns.md"
README = ROOT / "README.md"
SCAN = ROOT / "docs" / "scan.md"
HOOKS = ROOT / "docs" / "hooks.md"
PROJECT = ROOT / "pyproject.toml"
ADAPTERS = ROOT / "src" / "unstuck" / "adapters"
ROW = re.compile(r"^(\| \[`(\w+)`\]\(#\2\) \| .* \| )(.+) \|$", re.MULTILINE)


def patterns(page: str) -> str:
    """*page* with the last column of the table of patterns as the presets have it; patterns in none keep what stands there."""
    states = presets()
    return ROW.sub(lambda row: f"{row[1]}{states.get(row[2], row[3])} |", page)


def presets() -> dict[str, str]:
    """For each pattern its rungs in the preset `default`, or else the presets that look for it."""
    states = {detector.pattern: rungs(detector.ladder) for detector in unstuck.preset("default").detectors}
    others: dict[str, list[str]] = {}
    for name in unstuck.PRESETS:
        for detector in unstuck.preset(name).detectors:
            if detector.pattern not in states:
                others.setdefault(detector.pattern, []).append(f"`{name}`")
    return states | {pattern: f"in {', '.join(names)}" for pattern, names in others.items()}


def rungs(ladder: Ladder) -> str:
    """A ladder as the page writes it."""
    return ", ".join("-" if rung is None else str(rung) for rung in ladder)


def frameworks(page: str) -> str:
    """*page* with a row for each adapter, after that of home-made loops."""
    rows = "\n".join(sorted(adapters(), key=str.lower))
    return re.sub(r"(\| \[a loop of your own\].*\n)(?:\|.*\n)*", lambda found: f"{found[1]}{rows}\n", page, count=1)


def adapters() -> list[str]:
    """For each adapter the framework, the module and the line to write, from the first sentence of its file."""
    rows = []
    for path in ADAPTERS.iterdir():
        file = path / "__init__.py" if path.is_dir() else path
        if path.stem[0] == "_" or path.suffix not in ("", ".py") or not file.exists():
            continue
        text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
        name, _, how = text.split("\n\n", 1)[0].replace("\n", " ").partition(": ")
        name = name.removeprefix("The guard for ").partition(" (")[0]
        rows.append(f"| [{name}](docs/frameworks/{path.stem}.md) | `unstuck.adapters.{path.stem}` | {how.rstrip('.')} |")
    return rows


def extras(project: str) -> str:
    """*project*, the text of `pyproject.toml`, with the requirements of each adapter's extra as the table of frameworks has them."""
    for name, framework in FRAMEWORKS.items():
        extra, requires = name.replace("_", "-"), ", ".join(f'"{one}"' for one in framework.requires)
        project = re.sub(rf"^{extra} = \[.*\]$", f"{extra} = [{requires}]", project, count=1, flags=re.MULTILINE)
    return project


def formats(page: str) -> str:
    """*page* with a row for each reader in its table of formats: the one that stands there, or one made from the reader's file."""
    found = re.search(r"\| format \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", page)
    if found is None:
        raise SystemExit("the page has no table of formats")
    rows = {row.split("`")[1]: row for row in found[1].splitlines()}
    made = [rows.get(name) or f"| `{name}` | {recorded(module)} |" for name, module in READERS.items()]
    return page[: found.start(1)] + "\n".join(made) + "\n" + page[found.end(1) :]


def recorded(module: str) -> str:
    """What a reader reads, from the first sentence of its file."""
    text = import_module(module).__doc__ or ""
    first = " ".join(text.split("\n\n", 1)[0].split()).partition(". ")[0]
    return first.removeprefix("Reads ").rstrip(".")


def agents(page: str) -> str:
    """*page* with a row in its table of coding agents for each that has hooks."""
    rows = "".join(f"| {row} |\n" for row in map(agent, AGENTS))
    return re.sub(r"(\| agent \| settings \|.*\n\|[-|]+\|\n)(?:\|.*\n)*", lambda found: f"{found[1]}{rows}", page, count=1)


def agent(name: str) -> str:
    """The row of the coding agent *name*: title, settings files, how far its hooks can go."""
    module = module_of(name)
    variable, home, file = module.HOME
    user = "/".join(part for part in ("~", home, file) if part)
    ends = "told, refused the call, ended" if module.ENDS else "told, refused the call, then every call until you speak"
    return f"{module.TITLE} | `{user}` (`{variable}` moves it), in a project `{module.PROJECT}` | {ends}"


if __name__ == "__main__":
    PATTERNS.write_text(patterns(PATTERNS.read_text("utf-8")), "utf-8")
    README.write_text(agents(formats(frameworks(README.read_text("utf-8")))), "utf-8")
    HOOKS.write_text(agents(HOOKS.read_text("utf-8")), "utf-8")
    PROJECT.write_text(extras(PROJECT.read_text("utf-8")), "utf-8")
    SCAN.write_text(formats(SCAN.read_text("utf-8")), "utf-8")
