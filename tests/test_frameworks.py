"""One table says what the adapters need; everything that repeats it agrees with it."""

from __future__ import annotations

import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from unstuck.adapters import FRAMEWORKS
from unstuck.testing_adapters import AdapterSuite

ROOT = Path(__file__).resolve().parent.parent
ADAPTERS = ROOT / "src" / "unstuck" / "adapters"
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
MATRIX = ROOT / "docs" / "frameworks" / "matrix.md"
CHECKS = {name[5:].replace("_", " ") for name in vars(AdapterSuite) if name.startswith("test_")}


def test_every_adapter_is_in_the_table():
    """The table names the adapters that there are, each with a test file and a page."""
    assert set(FRAMEWORKS) == {path.stem for path in ADAPTERS.iterdir() if path.stem[0] != "_"}
    for name in FRAMEWORKS:
        assert (ROOT / "tests" / "adapters" / f"test_{name}.py").is_file()
        assert (ROOT / "docs" / "frameworks" / f"{name}.md").is_file()


def test_adapters_are_short():
    """No module of an adapter is over 150 lines: what is the same everywhere stands outside of them."""
    long = {
        path.relative_to(ADAPTERS).as_posix() for path in ADAPTERS.rglob("*.py") if path.read_text("utf-8").count("\n") > 150
    }
    assert long == set()


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_extra_is_what_the_table_says(name):
    """The extra, called after the adapter, installs the releases of the table."""
    assert tuple(EXTRAS[name.replace("_", "-")]) == FRAMEWORKS[name].requires


def test_extras_are_written_from_the_table(monkeypatch):
    """A release that is raised in the table is raised in `pyproject.toml` by `docs/tables.py`, and nothing else there changes."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    written = runpy.run_path(str(ROOT / "docs" / "tables.py"))["extras"]
    assert written(text) == text
    monkeypatch.setitem(FRAMEWORKS, "agno", FRAMEWORKS["agno"]._replace(requires=("agno>=9.9", "other>=1")))
    raised = written(text)
    assert tomllib.loads(raised)["project"]["optional-dependencies"] == EXTRAS | {"agno": ["agno>=9.9", "other>=1"]}
    assert len(raised.splitlines()) == len(text.splitlines())


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_missing_framework_names_the_extra(name):
    """Without its framework, or with one that is too old, an adapter says what it needs and what to install."""
    code = (
        "import sys\n"
        "sys.meta_path.insert(0, type('Nothing', (), {'find_spec': staticmethod(lambda name, path=None, target=None: "
        "None if name.split('.')[0] in {'unstuck', 'xxhash', 'msgspec', *sys.stdlib_module_names} "
        "else (_ for _ in ()).throw(ModuleNotFoundError(name)))}))\n"
        "try:\n"
        f"    import unstuck.adapters.{name}\n"
        "except ImportError as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("MissingDependencyError"), done.stdout
    assert f"pip install 'unstuck[{name.replace('_', '-')}]'" in done.stdout
    assert FRAMEWORKS[name].requires[0] in done.stdout


def test_the_overview_is_that_of_the_table():
    """The documentation's table of releases is made from the table."""
    overview = ROOT / "docs" / "frameworks" / "index.md"
    made = runpy.run_path(str(ROOT / "docs" / "frameworks" / "matrix.py"))["index"](overview.read_text("utf-8"))
    assert overview.read_text("utf-8") == made


def test_the_matrix_has_every_check():
    """The page of what was checked has a row for each check of the suite; `docs/frameworks/matrix.py` writes it."""
    rows = {line.split(" | ")[0].removeprefix("| ") for line in MATRIX.read_text("utf-8").splitlines() if line.startswith("| ")}
    assert rows >= CHECKS
