"""Decompression, recognised by the first bytes rather than by the file's name."""

from __future__ import annotations

import io
import sys
from typing import Any, BinaryIO, Protocol, TypeAlias, cast

from unstuck.errors import MissingDependencyError

Errors: TypeAlias = tuple[type[Exception], ...]


class Readable(Protocol):
    """What gives lines of bytes."""

    def readline(self, size: int = -1, /) -> bytes:
        """The next line with its end, or its first *size* bytes; nothing at the end."""
        ...


def unpacked(stream: BinaryIO) -> tuple[Readable, Errors]:
    """
    *stream* decompressed, and what it raises where the data are broken.

    Raises `MissingDependencyError` for Zstandard data where neither Python (3.14 on) nor the extra `zstd` reads them.
    """
    buffered: Any = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", stream))
    start = buffered.peek(4)[:4]
    if start[:2] == b"\x1f\x8b":
        import gzip
        import zlib

        return gzip.GzipFile(fileobj=buffered), (OSError, EOFError, zlib.error)
    if start == b"\x28\xb5\x2f\xfd":
        return _zstd(buffered)
    return buffered, (OSError,)


def _zstd(stream: Any) -> tuple[Readable, Errors]:
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdError, ZstdFile

        return cast("Readable", ZstdFile(stream)), (OSError, EOFError, ZstdError)
    try:
        from zstandard import ZstdDecompressor, ZstdError
    except ImportError as error:
        raise MissingDependencyError("zstandard", "zstd") from error
    reader = ZstdDecompressor().stream_reader(stream, read_across_frames=True)
    return io.BufferedReader(cast("io.RawIOBase", reader)), (OSError, ZstdError)
