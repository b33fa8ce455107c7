"""One file or stream of a scan: decompressed, line by line, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from unstuck.errors import LineError, ReadError
from unstuck.events import Usage
from unstuck.traces.head import LINES, SIZE, Head
from unstuck.traces.record import ANY, Decoder, decode
from unstuck.traces.unpack import unpacked

LINE_BYTES = 64 * 1024 * 1024
"""The longest line that is read, unless told otherwise."""
DOCUMENT_LINES = 16
"""A whole document may be as large as so many of the longest lines."""
BOM = b"\xef\xbb\xbf"

T = TypeVar("T")


class Source:
    """
    A recorded session, or many, as a stream.

    *name* is what reports and errors call it; *path* is the file, where it is one; *limit* is the longest line in bytes; *report*
    is told of every broken line.
    """

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        path: Path | None = None,
        limit: int = LINE_BYTES,
        report: Callable[[LineError], None] = lambda error: None,
    ) -> None:
        self.name = name
        self.path = path
        self.limit = limit
        self.usage: dict[str, tuple[Usage, str | None]] = {}
        self._report = report
        self._packed = stream
        self._stream, self._broken = unpacked(stream)
        self._lines = self._read_lines()
        self._peeked: list[tuple[int, bytes]] = []

    @classmethod
    def open(cls, path: Path, **options: Any) -> Source:
        """The file at *path*; raises `ReadError` where it cannot be opened."""
        try:
            return cls(path.open("rb"), str(path), path, **options)
        except OSError as error:
            raise ReadError(str(path), error.strerror or str(error)) from error

    def close(self) -> None:
        """Close the file."""
        self._packed.close()

    @property
    def position(self) -> int:
        """How many bytes of the file have been taken, as they lie on the disk; 0 for a pipe."""
        try:
            return self._packed.tell()
        except (OSError, ValueError):
            return 0

    def bad(self, line: int, problem: str) -> None:
        """Report that *line* (1-based) is broken and is left out."""
        self._report(LineError(self.name, line, problem))

    def note_usage(self, run: str, usage: Usage, model: str | None = None) -> None:
        """Add tokens that the format tells for a whole turn of *run* only, not for each response."""
        before = self.usage.get(run, (Usage(), None))[0]
        self.usage[run] = (Usage(*(a + b for a, b in zip(before, usage, strict=True))), model)

    @cached_property
    def head(self) -> Head:
        """The first lines; they are read again by `lines()`."""
        size = 0
        for number, line in self._lines:
            self._peeked.append((number, line))
            size += len(line)
            if len(self._peeked) >= LINES or size >= SIZE:
                break
        return Head(self, self._peeked)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Number and bytes of each line that holds something; lines over the limit are reported and skipped unread."""
        peeked, self._peeked = self._peeked, []
        for number, line in peeked:
            if line.strip():
                yield number, line
        del peeked
        for number, line in self._lines:
            if line.strip():
                yield number, line

    def records(self, decoder: Decoder[T]) -> Iterator[tuple[int, T]]:
        """Number and value of each line that is JSON of the wanted shape; the others are reported."""
        for number, line in self.lines():
            try:
                yield number, decode(line, decoder)
            except ValueError as error:
                self.bad(number, f"{error}" if line.endswith(b"\n") else f"{error} (last line, no line end: cut off?)")

    def whole(self) -> bytes:
        """All bytes, decompressed; raises `ReadError` over the limit for documents. The lines can still be read afterwards."""
        size = sum(len(line) for _, line in self._peeked)
        for number, line in self._lines:
            self._peeked.append((number, line))
            size += len(line)
            if size > self.limit * DOCUMENT_LINES:
                raise ReadError(
                    self.name, f"a document of more than {self.limit * DOCUMENT_LINES} bytes; raise --max-line-bytes"
                )
        return b"".join(line for _, line in self._peeked)

    @cached_property
    def document(self) -> Any:
        """The whole source as one JSON value; raises `ReadError` where it is none."""
        try:
            return decode(self.whole(), ANY)
        except ValueError as error:
            raise ReadError(self.name, f"not one JSON document: {error}") from error

    def _read_lines(self) -> Iterator[tuple[int, bytes]]:
        number = 0
        try:
            while line := self._stream.readline(self.limit + 1):
                number += 1
                if len(line) > self.limit and not line.endswith(b"\n"):
                    del line
                    self.bad(number, f"longer than {self.limit} bytes; raise --max-line-bytes to read it")
                    while (rest := self._stream.readline(SIZE)) and not rest.endswith(b"\n"):
                        pass
                    continue
                yield number, line[3:] if number == 1 and line.startswith(BOM) else line
        except self._broken as error:
            self.bad(number + 1, f"reading ends here: {error}")
