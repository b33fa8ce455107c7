"""The published JSON schemas."""

from __future__ import annotations

from importlib.resources import files


def schema(name: str) -> str:
    """The text of the schema *name*, such as `scan`; raises `FileNotFoundError` for an unknown one."""
    return (files(__name__) / f"{name}.schema.json").read_text("utf-8")
