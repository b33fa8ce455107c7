"""The shape of the repository: sizes, and papers that agree with the code."""

from __future__ import annotations

import ast
import re
import runpy
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "unstuck"
README = (ROOT / "README.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

FILE_LINES = 400
FUNCTION_LINES = 60
FUNCTION_LINES_P90 = 30
PARAMETERS = 6
"""Outside the command line, where each option is a parameter."""


def sources() -> list[Path]:
    """Every Python file that a person maintains here, tests included."""
    folders = [PACKAGE, ROOT / "tests", ROOT / "bench", ROOT / "docs", ROOT / "examples"]
    return sorted([*ROOT.glob("*.py"), *(path for folder in folders for path in folder.rglob("*.py"))])


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    named = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len([one for one in named if one.arg not in ("self", "cls")])


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_can_be_read_in_one_sitting(path):
    """No file is over 400 lines."""
    assert len(path.read_text("utf-8").splitlines()) <= FILE_LINES


def test_functions_fit_a_screen():
    """No function is over 60 lines, and nine of ten are not over 30."""
    found = [
        (length(one), f"{path.relative_to(ROOT)}:{one.lineno} {one.name}") for path in sources() for one in functions(path)
    ]
    assert [name for lines, name in found if lines > FUNCTION_LINES] == []
    inside = sorted(length(one) for path in PACKAGE.rglob("*.py") for one in functions(path))
    assert inside[len(inside) * 9 // 10] <= FUNCTION_LINES_P90


def test_functions_take_few_parameters():
    """Outside the command line no function takes more than six parameters."""
    outside = [path for path in PACKAGE.rglob("*.py") if "cli" not in path.relative_to(PACKAGE).parts]
    many = [
        f"{path.name}:{one.lineno} {one.name}" for path in outside for one in functions(path) if parameters(one) > PARAMETERS
    ]
    assert many == []


def test_no_vague_file_names():
    """No module is called after nothing in particular."""
    vague = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}
    assert [path.name for path in PACKAGE.rglob("*.py") if path.stem.strip("_") in vague] == []


@pytest.mark.parametrize("extra", PROJECT["project"]["optional-dependencies"])
def test_every_extra_has_a_row_in_the_readme(extra):
    """The README's table of extras names each, so that a person can install it."""
    assert f"| `{extra}` |" in README


def test_the_readme_names_no_extra_that_does_not_exist():
    """What the README tells people to install is declared."""
    told = {name for group in re.findall(r"unstuck\[([\w,-]+)\]", README) for name in group.split(",")}
    assert told <= set(PROJECT["project"]["optional-dependencies"])


def names(room: str) -> list[str]:
    """The files and folders of a room of the package, without what is its own."""
    found = (PACKAGE / room).iterdir() if (PACKAGE / room).is_dir() else ()
    return sorted(
        path.stem for path in found if path.stem[0] != "_" and (path.suffix == ".py" or (path / "__init__.py").exists())
    )


@pytest.mark.parametrize(
    ("room", "name"), [(room, name) for room in ("adapters", "compat") for name in names(room)], ids=lambda value: value
)
def test_what_there_is_for_a_framework_stands_in_the_readme(room, name):
    """Each adapter and each system that can be replaced has a row in the README, and an adapter an extra of its name."""
    assert f"| `unstuck.{room}.{name}` |" in README
    if room == "adapters":
        assert name.replace("_", "-") in PROJECT["project"]["optional-dependencies"]


def test_the_readme_names_no_framework_that_is_not_there():
    """No row of the README is about a module that does not exist."""
    told = re.findall(r"\| `unstuck\.(adapters|compat)\.(\w+)` \|", README)
    assert [f"{room}.{name}" for room, name in told if name not in names(room)] == []


def test_the_changelog_has_this_version():
    """The version of the package has a section in the changelog."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"## [{PROJECT['project']['version']}]" in changelog


def test_the_commands_of_the_readme_exist():
    """Each `python3 dev.py JOB` in the papers is a job of dev.py, and the two that matter are in the README."""
    jobs = set(runpy.run_path(str(ROOT / "dev.py"))["COMMANDS"])
    papers = README + (ROOT / "CONTRIBUTING.md").read_text("utf-8") + (ROOT / ".ci" / "run").read_text("utf-8")
    assert set(re.findall(r"python3 dev\.py (\w+)", papers)) <= jobs
    assert {"python3 dev.py demo", "python3 dev.py test"} <= set(re.findall(r"^python3 dev\.py \w+$", README, re.MULTILINE))


@pytest.mark.parametrize("paper", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_links_between_papers_lead_somewhere(paper):
    """A relative link in a top-level paper names a file that exists."""
    text = (ROOT / paper).read_text("utf-8")
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", text)
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_license_file_is_the_declared_license():
    """The license file is the license that the metadata name."""
    assert PROJECT["project"]["license"] == "Apache-2.0"
    assert "Apache License\n                           Version 2.0, January 2004" in (ROOT / "LICENSE").read_text("utf-8")
