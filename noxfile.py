"""
One session a concern: `nox -l` lists them, `nox -s lint` runs one.

The README's test command needs no nox; this file is for environments of their own: one a framework, as `.ci/run` wants them, and several
Pythons side by side.
"""

from __future__ import annotations

from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "types", "docs", "tests"]

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)
EXTRAS = "prices,pydantic-ai,zstd"
ADAPTERS = {path.stem: path for path in sorted(Path("src/unstuck/adapters").iterdir()) if path.stem[0] != "_"}


def install(session: nox.Session, *groups: str, extras: str = EXTRAS) -> None:
    """Install the package with *extras* and the requirements of the dependency *groups*."""
    requirements = nox.project.dependency_groups(PROJECT, *groups)
    session.install("--editable", f".[{extras}]" if extras else ".", *requirements)


def suites(name: str, room: str = "adapters") -> list[str]:
    """The test files of one framework or system."""
    return sorted(map(str, Path("tests", room).glob(f"test_{name}*.py")))


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The tests with every extra, on each Python."""
    install(session, "test")
    session.run("pytest", *session.posargs)


@nox.session(python=PYTHONS[0])
@nox.parametrize("name", list(ADAPTERS))
def adapter(session: nox.Session, name: str) -> None:
    """One framework in an environment of its own: its tests, and mypy on its adapter."""
    install(session, "test", "types", extras=name.replace("_", "-"))
    session.run("pytest", *suites(name), *session.posargs)
    session.run("pytest", "tests/test_docs.py", "-k", f"frameworks/{name}")
    # By file names: pyproject.toml leaves these folders out, and that holds for `--package` too.
    place = ADAPTERS[name]
    session.run("mypy", *map(str, [place] if place.is_file() else sorted(place.rglob("*.py"))))


@nox.session(python=PYTHONS[0])
@nox.parametrize("name", list(ADAPTERS))
def adapter_lowest(session: nox.Session, name: str) -> None:
    """One framework at the oldest release that its extra allows."""
    extra = name.replace("_", "-")
    install(session, "test", extras=extra)
    session.install(*(one.replace(">=", "==") for one in PROJECT["project"]["optional-dependencies"][extra]))
    # What an old release calls has been deprecated since.
    session.run("pytest", "-W", "ignore::DeprecationWarning", *suites(name), *session.posargs)


@nox.session(python=PYTHONS[0])
@nox.parametrize("name", ["praisonai", "pydantic_ai_harness", "pydantic_deep"])
def compat(session: nox.Session, name: str) -> None:
    """One published system in an environment of its own, beside the names that stand in for it."""
    extras = {"praisonai": "praisonai", "pydantic_ai_harness": "pydantic-ai"}
    install(session, "test", extras=extras.get(name, ""))
    if name not in extras:
        session.install("pydantic-deep>=0.3.50")
    session.run("pytest", *suites(name, "compat"), *session.posargs)


@nox.session(python=PYTHONS[0])
def bare(session: nox.Session) -> None:
    """The tests without any extra: what needs one skips, nothing else may fail."""
    install(session, "test", extras="")
    session.run("pytest", "-m", "not slow", *session.posargs)


@nox.session(python=PYTHONS[0])
def lowest(session: nox.Session) -> None:
    """The tests with the oldest base dependencies that pyproject.toml allows."""
    install(session, "test")
    lowest = [requirement.replace(">=", "==") for requirement in PROJECT["project"]["dependencies"]]
    session.install(*lowest)
    session.run("pytest", "-m", "not slow", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """The linter and the formatter, as a check."""
    session.install(*nox.project.dependency_groups(PROJECT, "lint"))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")


@nox.session
def types(session: nox.Session) -> None:
    """Both type checkers: mypy on everything, pyright on the public names."""
    install(session, "types", "test")
    session.run("mypy")
    session.run("pyright")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation; a dead link is an error."""
    install(session, "docs")
    session.run("mkdocs", "build", "--strict", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """What importing the package costs beside an empty Python."""
    install(session)
    session.run("python", "bench/imports.py")


@nox.session
def quality(session: nox.Session) -> None:
    """The scoreboard with all other guards; give it event files with verdicts or labels beside them."""
    install(session)
    session.install("pydantic-deep", "praisonaiagents", "agent-loop-guard", "rapidfuzz", "loopguard-runtime", "loop-guardrail")
    session.run("python", "bench/quality.py", *session.posargs)
