"""What `import unstuck` offers, and what it costs."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version

import pytest

import unstuck

LOADED = "import json, sys; import unstuck; print(json.dumps(sorted(sys.modules)))"
BARE = "import json, sys; print(json.dumps(sorted(sys.modules)))"


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)


@pytest.mark.parametrize("name", unstuck.__all__)
def test_every_exported_name_exists(name):
    """Every name in `__all__` can be had from the package."""
    assert getattr(unstuck, name) is not None


def test_all_equals_reality():
    """`__all__` names, once each, exactly what the package makes reachable."""
    assert set(unstuck.__all__) == {*unstuck._HOMES, "__version__"}
    assert len(set(unstuck.__all__)) == len(unstuck.__all__)
    assert set(unstuck.__all__) <= set(dir(unstuck))


def test_version_is_that_of_the_distribution():
    """`__version__` comes from the installed metadata."""
    assert unstuck.__version__ == version("unstuck")


def test_unknown_name_is_an_attribute_error():
    """A name that does not exist is refused as from any module."""
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        unstuck.nonsense  # noqa: B018


def test_import_is_silent():
    """Importing the package prints nothing."""
    done = python("import unstuck")
    assert (done.stdout, done.stderr) == ("", "")


def test_import_loads_only_the_package_itself():
    """Importing the package loads no other module at all: no framework, no dataclasses, no click, not even typing."""
    bare = set(json.loads(python(BARE).stdout))
    assert set(json.loads(python(LOADED).stdout)) - bare == {"unstuck"}
