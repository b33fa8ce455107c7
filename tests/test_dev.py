"""The one-line commands of a fresh clone."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def dev():
    """`dev.py` as a module of its own for each test."""
    spec = importlib.util.spec_from_file_location("dev", ROOT / "dev.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["run"]])
def test_an_unknown_job_is_told_the_known_ones(dev, capsys, arguments):
    """Without a job it knows, it prints how it is used, sets nothing up and exits with 2."""
    dev.prepare = None
    assert dev.main(arguments) == 2
    assert "python3 dev.py test" in capsys.readouterr().err


def test_an_old_python_gets_a_sentence(dev, capsys, monkeypatch):
    """A Python that is too old is told so with its version and its place."""
    dev.prepare = None
    monkeypatch.setattr(sys, "version_info", (3, 10, 13))
    assert dev.main(["test"]) == 2
    assert "needs Python 3.11 or newer" in capsys.readouterr().err


def test_groups_are_read_with_what_they_include(dev):
    """The requirements of a group hold those of the groups it includes."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    assert set(groups["test"]) <= set(dev.group_requirements(("dev",)))
    assert all(isinstance(requirement, str) for requirement in dev.group_requirements(("dev",)))


def index(folder: Path, name: str, content: bytes) -> str:
    """A package index of one file, as the address of pip's page."""
    (folder / name).write_bytes(content)
    (folder / "index.html").write_text(
        f'<a href="pip-24.0-py3-none-any.whl#sha256=0">a</a><a href="{name}#sha256=1">b</a>', "utf-8"
    )
    return (folder / "index.html").as_uri()


def test_pip_comes_from_the_index_where_there_is_none(dev, tmp_path):
    """The pinned wheel is found on the index page and checked against its digest."""
    dev.PIP_SHA256 = hashlib.sha256(b"a wheel").hexdigest()
    assert dev.download_pip(index(tmp_path, dev.PIP_WHEEL, b"a wheel")) == b"a wheel"


@pytest.mark.parametrize(("name", "problem"), [(None, "unexpected digest"), ("pip-1.0-py3-none-any.whl", "does not offer")])
def test_another_wheel_is_refused(dev, tmp_path, name, problem):
    """A wheel with another digest, or an index without the pinned one, ends the set-up with the reason."""
    with pytest.raises(SystemExit, match=problem):
        dev.download_pip(index(tmp_path, name or dev.PIP_WHEEL, b"something else"))


@pytest.mark.slow
def test_the_demo_works_in_a_fresh_clone(tmp_path):
    """The files of a commit, a bare environment and one command show the run that read one file 47 times; the second time is quick."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("this is no git checkout")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    base = Path(sys.base_prefix) / ("python.exe" if os.name == "nt" else f"bin/python3.{sys.version_info.minor}")
    environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    command = [str(base), "dev.py", "demo"]
    first = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert first.returncode == 0, first.stderr
    assert "setting up" in first.stderr
    assert "46" in first.stdout
    second = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert "setting up" not in second.stderr
    assert second.stdout == first.stdout
