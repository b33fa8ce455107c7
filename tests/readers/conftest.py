"""Databases for the tests, made from text."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parent.parent / "data"


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`database("opencode/opencode.sql")` is the database that the file describes."""

    def make(script: str, journal: str = "DELETE") -> Path:
        path = tmp_path_factory.mktemp("database") / f"{Path(script).stem}.db"
        with contextlib.closing(sqlite3.connect(path)) as base:
            base.executescript((DATA / script).read_text("utf-8"))
            base.execute(f"PRAGMA journal_mode = {journal}")
        return path

    return make
