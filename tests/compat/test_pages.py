"""The tables of the pages about published guards name tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted((ROOT / "docs" / "compat").glob("*.md"))
TESTS = {name for path in (ROOT / "tests").rglob("*.py") for name in re.findall(r"def (test_\w+)", path.read_text("utf-8"))}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_each_promise_has_its_test(path):
    """Whatever stands as a test on the page is one."""
    named = set(re.findall(r"`(test_\w+)`", path.read_text("utf-8")))
    assert named
    assert named - TESTS == set()
