"""
Who may import whom.

Every import statement of the package is looked at, wherever it stands: at the top, inside a function, under
`TYPE_CHECKING`, relative, or as `import_module` with a literal name.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import unstuck

PACKAGE = Path(unstuck.__file__).parent

SAMENESS = {
    "words",
    "lazily",
    "phrases",
    "volatile",
    "sketch",
    "spelling",
    "fingerprint",
    "programs",
    "commands",
    "kinds",
    "degenerate",
    "gist",
} | {
    "unrecorded",
    "ranges",
}
EVIDENCE = {
    "records",
    "signs",
    "window",
    "cycles",
    "trail",
    "failures",
    "aims",
    "outcomes",
    "patience",
    "delegations",
    "redelegated",
    "empties",
    "talk",
    "sweeps",
    "ground",
    "chains",
    "swings",
    "spent",
    "intervals",
    "settle",
    "again",
    "fresh",
    "ceiling",
    "states",
    "reading",
    "view",
    "ledger_state",
    "ledger_rounds",
    "ledger_calls",
    "ledger",
}
JUDGEMENT = {"ladder", "detectors", "panel", "policy", "wording", "presets", "config"}
DOORS = {"live", "guard", "predicate", "watching"}
"""Ways into the core for a host's loop, on which adapters stand."""
CORE = {"events", "errors", "findings", "monitor", "window_ledger"} | SAMENESS | EVIDENCE | JUDGEMENT
"""What a live guard needs: these rooms, xxhash and the light part of the standard library."""

ROOMS: dict[str, set[str]] = {
    "events": set(),
    "findings": set(),
    "errors": {"findings"},  # `LoopStopped` carries a finding
    **{room: SAMENESS | {"events"} for room in SAMENESS},
    **{room: SAMENESS | EVIDENCE | {"events"} for room in EVIDENCE},
    "ladder": {"findings"},
    "detectors": SAMENESS | EVIDENCE | {"events", "findings", "ladder"},
    "panel": EVIDENCE | {"detectors"},
    "policy": {"findings", "ladder", "records", "trail", "detectors"},
    "wording": {"findings", "detectors"},
    "window_ledger": SAMENESS | EVIDENCE | {"events", "detectors"},  # the ledger of rules that look at the last calls only
    "monitor": CORE - {"config"},
    "presets": {"findings", "ladder", "reading", "detectors", "panel", "policy", "wording"},
    "config": SAMENESS | JUDGEMENT | {"findings", "reading"},
    "scan": CORE | {"readers", "traces", "cost"},
    "cost": CORE,
    "calibrate": CORE | {"scan", "readers"},
    "explain": CORE | {"scan", "readers", "traces"},
    "readers": {"events", "traces"},
    "traces": {"events"},
    "schemas": set(),
    "live": CORE,
    "guard": CORE | {"live"},
    "watching": CORE | {"live", "guard"},
    "predicate": CORE | {"live"},
    "adapters": CORE | {"live", "guard"},
    "compat": CORE | {"adapters"},
    "testing": CORE | DOORS | {"readers", "traces", "scan"},
    "testing_adapters": CORE | DOORS | {"testing", "traces", "scan", "adapters"},
    "hooks": CORE | DOORS | {"readers", "store"},
    "store": {"findings"},
    "telemetry": {"findings"},
    "reporters": {"findings", "scan", "explain"},
    "cli": CORE
    | DOORS
    | {
        "scan",
        "cost",
        "calibrate",
        "explain",
        "readers",
        "traces",
        "testing",
        "hooks",
        "store",
        "telemetry",
        "reporters",
        "schemas",
    },
    "__init__": CORE | {"watching", "predicate"},
    "__main__": {"cli"},
}
"""What each room may import besides `errors` and itself; a room that is not named here is an offence."""

APART = ("adapters", "compat", "readers", "reporters", "detectors")
"""Rooms in which no file imports a neighbour; the room's own `__init__` may import its files, and they it."""

CONTRACTS = {("detectors", "detector"), ("detectors", "windowed")}
"""Files in those rooms that say what their neighbours are."""

OUTSIDE: dict[str, set[str]] = {
    **{room: {"xxhash"} for room in CORE | DOORS | {"__init__", "__main__", "telemetry"}},
    **{
        room: {"click", "msgspec", "rich", "xxhash", "zstandard"}
        for room in ("readers", "scan", "reporters", "cli", "calibrate")
    },
    "cli": {"click", "msgspec", "rich", "watchfiles"},
    "hooks": {"xxhash"},
    "store": set(),
    "traces": {"compression", "msgspec", "zstandard"},  # `compression` is Python's own from 3.14 on
    "cost": {"genai_prices"},
    "fingerprint": {"msgspec", "xxhash"},  # msgspec late, for values that are large enough to pay for its import
}
"""Which packages of others a room may import; rooms that are not named here serve one framework a file."""

FRAMEWORKS = (
    "pydantic_ai",
    "langchain",
    "langgraph",
    "agents",
    "crewai",
    "google",
    "strands",
    "agno",
    "praisonaiagents",
)


class Import:
    """One import in one file: *target* is the full dotted name of what it brings."""

    def __init__(self, line: int, target: str) -> None:
        self.line = line
        self.target = target


def imports(tree: ast.AST, package: str) -> Iterator[Import]:
    """Every import under *tree*, a file that lies in the dotted *package*."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = absolute(node.module or "", node.level, package)
            yield from (Import(node.lineno, f"{origin}.{name.name}") for name in node.names)
        elif isinstance(node, ast.Call) and node.args and called(node.func) in ("import_module", "__import__"):
            name = literal(node.args[0])
            if name is not None:
                dots = len(name) - len(name.lstrip("."))
                yield Import(node.lineno, absolute(name[dots:], dots, package))


def absolute(name: str, level: int, package: str) -> str:
    if level == 0:
        return name
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])


def called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def literal(argument: ast.expr) -> str | None:
    """The text of a constant, or the constant text an f-string begins with."""
    if isinstance(argument, ast.JoinedStr) and argument.values:
        argument = argument.values[0]
    return argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else None


def offences(package: Path) -> list[str]:
    """One line an offence: file, line, what is imported and which rule it breaks."""
    found = []
    for path in sorted(package.rglob("*.py")):
        where = path.relative_to(package)
        room = where.parts[0].removesuffix(".py")
        dotted = ".".join(("unstuck", *where.parent.parts))
        if room not in ROOMS:
            found.append(f"{where.as_posix()}:1: the table of rooms does not know {room}")
            continue
        for one in imports(ast.parse(path.read_text("utf-8")), dotted):
            problem = judge(where, room, one.target, package)
            if problem:
                found.append(f"{where.as_posix()}:{one.line}: {problem}")
    return found


def judge(where: Path, room: str, target: str, package: Path) -> str | None:
    parts = target.split(".")
    if parts[0] != "unstuck":
        allowed = OUTSIDE.get(room)
        if allowed is None or parts[0] in sys.stdlib_module_names or parts[0] in allowed:
            return None
        return f"{room} may not import {parts[0]}"
    if parts[1:] == ["__version__"]:
        return None
    other = parts[1] if len(parts) > 1 else ""
    if other not in ROOMS and ((package / f"{other}.py").exists() or (package / other).is_dir()) and other:
        return None  # named once, at the room itself
    if other not in ROOMS:
        # A name of the package itself, or a prefix that an f-string goes on with.
        return None if room == "__init__" else f"{room} imports from the package's front; name the module"
    if other == room:
        return neighbour(where, room, parts, package)
    if other == "errors" or other in ROOMS[room]:
        return None
    return f"{room} may not import {other}"


def neighbour(where: Path, room: str, parts: list[str], package: Path) -> str | None:
    if room not in APART or where.name == "__init__.py" or len(parts) < 3:
        return None
    is_file = (package / room / f"{parts[2]}.py").exists() or (package / room / parts[2]).is_dir()
    if not is_file or (room, parts[2]) in CONTRACTS or parts[2] == where.parts[1].removesuffix(".py"):
        return None
    return f"{room[:-1]} {where.parts[1].removesuffix('.py')} may not import {room[:-1]} {parts[2]}"


def test_the_package_keeps_the_rules():
    """No file of the package imports what its room may not import."""
    assert offences(PACKAGE) == []


KNOTS = [{"unstuck.traces.head", "unstuck.traces.source"}]
"""Modules that import each other, for a type alone; take a line out when it is undone."""


def knots(package: Path) -> list[set[str]]:
    """The groups of modules that import each other in a ring, directly or by way of others."""
    edges: dict[str, set[str]] = {}
    for path in package.rglob("*.py"):
        where = path.relative_to(package)
        name = ".".join(("unstuck", *where.with_suffix("").parts)).removesuffix(".__init__")
        dotted = ".".join(("unstuck", *where.parent.parts))
        edges[name] = {one.target for one in imports(ast.parse(path.read_text("utf-8")), dotted)}
    for name, targets in edges.items():
        known = {target if target in edges else target.rpartition(".")[0] for target in targets}
        edges[name] = known & edges.keys() - {name, "unstuck"}
    reached = {name: reachable(name, edges) for name in edges if name != "unstuck"}
    found = [
        {other for other in others if name in reached.get(other, ())} for name, others in reached.items() if name in others
    ]
    return [group for index, group in enumerate(found) if group not in found[:index]]


def reachable(name: str, edges: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = list(edges[name])
    while ahead:
        one = ahead.pop()
        if one not in found:
            found.add(one)
            ahead.extend(edges[one])
    return found


def test_no_modules_import_each_other():
    """No ring of imports, not even under `TYPE_CHECKING` or inside functions, but for those that are known."""
    assert sorted(knots(PACKAGE), key=sorted) == KNOTS


def test_a_planted_ring_is_found(tmp_path):
    """Three modules that import each other in a ring, one of them late, are named together."""
    for name, code in {
        "a": "from .b import x",
        "b": "def f():\n    from unstuck import c",
        "c": "import unstuck.a",
        "d": "from . import a",
    }.items():
        (tmp_path / f"{name}.py").write_text(code + "\n", "utf-8")
    assert knots(tmp_path) == [{"unstuck.a", "unstuck.b", "unstuck.c"}]


PLANTED = [
    ("events.py", "from unstuck import monitor", "events may not import monitor"),
    ("events.py", "import unstuck.monitor", "events may not import monitor"),
    ("events.py", "from .monitor import Monitor", "events may not import monitor"),
    ("events.py", "from . import monitor", "events may not import monitor"),
    ("detectors/cycle.py", "from ..monitor import Monitor", "detectors may not import monitor"),
    ("policy.py", "def late():\n    from unstuck.monitor import Monitor", "policy may not import monitor"),
    ("policy.py", "if TYPE_CHECKING:\n    from unstuck.ledger import Ledger", "policy may not import ledger"),
    ("policy.py", "import importlib\nimportlib.import_module('unstuck.ledger')", "policy may not import ledger"),
    ("policy.py", "from importlib import import_module\nimport_module('.ledger', 'unstuck')", "policy may not import ledger"),
    ("policy.py", "import importlib\nimportlib.import_module(f'unstuck.readers.{1}')", "policy may not import readers"),
    ("policy.py", "__import__('unstuck.ledger')", "policy may not import ledger"),
    ("monitor.py", "import pydantic_ai", "monitor may not import pydantic_ai"),
    ("monitor.py", "def late():\n    import click", "monitor may not import click"),
    ("monitor.py", "from unstuck import Finding", "monitor imports from the package's front"),
    ("readers/codex.py", "from unstuck.readers.events import read", "reader codex may not import reader events"),
    ("readers/codex.py", "from .events import read", "reader codex may not import reader events"),
    ("readers/codex.py", "from . import events", "reader codex may not import reader events"),
    ("readers/codex.py", "from unstuck import scan", "readers may not import scan"),
    ("adapters/crewai.py", "def late():\n    from unstuck.adapters import agno", "adapter crewai may not import adapter agno"),
    ("scan.py", "from unstuck.cli import main", "scan may not import cli"),
    ("hooks/codex.py", "from unstuck.cli import main", "hooks may not import cli"),
    ("cli/scan.py", "from unstuck.adapters import agno", "cli may not import adapters"),
    ("tools.py", "", "the table of rooms does not know tools"),
]


@pytest.mark.parametrize(("file", "code", "problem"), PLANTED)
def test_a_planted_offence_is_named(tmp_path, file, code, problem):
    """An import that breaks a rule is found in each of its spellings, with file and line."""
    package = tmp_path / "unstuck"
    for name in ("monitor.py", "ledger.py", "scan.py", "readers/events.py", "adapters/agno.py", "cli/__init__.py", file):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).touch()
    (package / file).write_text(code + "\n", "utf-8")
    line = max(1, len(code.splitlines()))
    assert [found.split(";")[0] for found in offences(package)] == [f"{file}:{line}: {problem}"]


INNOCENT = [
    ("monitor.py", "from unstuck import policy, events\nimport json\nimport xxhash"),
    ("readers/codex.py", "from unstuck.events import Call\nfrom unstuck.readers import Reader\nimport msgspec"),
    ("readers/__init__.py", "from importlib import import_module\nimport_module(f'unstuck.readers.{1}')\nfrom . import events"),
    ("cli/scan.py", "from unstuck.cli.options import Options\nfrom .. import scan"),
    ("__main__.py", "from unstuck.cli import main"),
]


@pytest.mark.parametrize(("file", "code"), INNOCENT)
def test_an_allowed_import_is_no_offence(tmp_path, file, code):
    """What the table allows is not reported."""
    package = tmp_path / "unstuck"
    for name in ("readers/events.py", file):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).touch()
    (package / file).write_text(code + "\n", "utf-8")
    assert offences(package) == []


def loaded(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after *code*."""
    code += "\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


HEAVY = {"dataclasses", "inspect", "msgspec", "click", "rich", "sqlite3", "asyncio", *FRAMEWORKS}


@pytest.mark.parametrize(
    "module", ["unstuck", *(f"unstuck.{path.stem}" for path in sorted(PACKAGE.iterdir()) if path.stem in CORE)]
)
def test_the_core_is_light(module):
    """Importing any part of the core loads no framework, no command line, no dataclasses, and prints nothing."""
    assert loaded(f"import {module}") & HEAVY == set()
