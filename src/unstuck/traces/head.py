"""The beginning of a source, by which readers recognise their format."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from unstuck.errors import ReadError
from unstuck.traces.record import ANY, decode

if TYPE_CHECKING:
    from unstuck.traces.source import Source

LINES = 40
SIZE = 1024 * 1024
"""A head ends after so many lines or bytes, whatever comes first."""


class Head:
    """The *raw* bytes and the JSON values (*records*) of a source's first lines; *path* is its file, where it is one."""

    def __init__(self, source: Source, lines: list[tuple[int, bytes]]) -> None:
        self.raw = b"".join(line for _, line in lines)
        self.path = source.path
        self.records: list[Any] = []
        self._source = source
        first_is_json = True
        for index, (_, line) in enumerate(lines):
            try:
                self.records.append(decode(line, ANY))
            except ValueError:
                first_is_json = first_is_json and index > 0
        objects = sum(isinstance(record, dict) for record in self.records)
        spread = not first_is_json and self.raw.lstrip()[:1] in (b"{", b"[") and objects * 2 < len(lines)
        self._may_be_document = len(lines) == 1 or spread

    @cached_property
    def document(self) -> Any:
        """The source as one JSON value, or `None` where it is none; a source of several JSON lines is none."""
        if not self._may_be_document:
            return None
        try:
            return self._source.document
        except ReadError:
            return None

    @cached_property
    def tables(self) -> frozenset[str]:
        """The tables of the source where it is an SQLite database, else none."""
        if not self.raw.startswith(b"SQLite format 3\0"):
            return frozenset()
        from unstuck.traces.database import tables

        return tables(self._source)

    @property
    def looks(self) -> str:
        """What the content looks like, in a few words, for error messages."""
        if self.raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return "UTF-16 text (save it as UTF-8)"
        if b"\0" in self.raw[:8192]:
            return "binary data"
        if self.records or self.document is not None:
            return "JSON of an unknown kind"
        return "not JSON"
