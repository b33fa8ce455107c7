"""Files as streams: compression, limits, and what is no file of events at all."""

from __future__ import annotations

import gzip
import io
import tracemalloc

import pytest

from unstuck.errors import MissingDependencyError, ReadError, UnknownFormatError
from unstuck.events import Result, User
from unstuck.readers import detect, read
from unstuck.traces.source import Source

LINE = b'{"type": "user", "run": "r", "text": "hi"}\n'


def events_of(data, **options):
    errors = []
    source = Source(io.BytesIO(data), "file", report=errors.append, **options)
    return list(read(source)[1]), [str(error) for error in errors]


def zstd(data):
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


PACKED = {"plain": bytes, "gzip": gzip.compress, "zstd": zstd, "with a byte order mark": lambda data: b"\xef\xbb\xbf" + data}


@pytest.mark.parametrize("kind", PACKED)
def test_compression_is_recognised_by_content(kind):
    """Plain, gzip and Zstandard data give the same events, whatever the file is called."""
    assert events_of(PACKED[kind](LINE * 3)) == ([User("r", "hi")] * 3, [])


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_two_compressed_parts_are_read_as_one(kind):
    """Logs that were compressed in pieces and put together are read to their end."""
    assert events_of(PACKED[kind](LINE) + PACKED[kind](LINE))[0] == [User("r", "hi")] * 2


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_compressed_data_that_end_early(kind):
    """What can be unpacked is read; nothing raises."""
    lines = b"".join(b'{"type": "user", "run": "r", "text": "%d"}\n' % number for number in range(20_000))
    packed = PACKED[kind](lines)
    events, _ = events_of(packed[: len(packed) // 2])
    assert 0 < len(events) < 20_000


def test_zstd_without_the_extra_names_it(monkeypatch):
    """Without a package that reads Zstandard data, the error says how to get one."""
    import sys

    if sys.version_info >= (3, 14):
        pytest.skip("Python reads Zstandard data itself")
    packed = zstd(LINE)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'unstuck\[zstd\]'"):
        Source(io.BytesIO(packed), "file")


def test_a_line_over_the_limit_is_refused_and_the_rest_is_read():
    """It is named, and not loaded: reading past a line of 40 MB takes no more memory than the limit."""
    data = LINE + b'{"type": "user", "run": "r", "text": "' + b"x" * 40_000_000 + b'"}\n' + LINE
    stream = io.BytesIO(data)
    errors = []
    tracemalloc.start()
    events = list(read(Source(stream, "file", limit=100_000, report=errors.append))[1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert events == [User("r", "hi")] * 2
    assert [str(error) for error in errors] == ["file:2: longer than 100000 bytes; raise --max-line-bytes to read it"]
    assert peak < 8_000_000


def test_a_long_line_within_the_limit_is_read():
    """A result of 50 MB is a result like another."""
    data = b'{"type": "result", "run": "r", "id": "c", "content": "' + b"y" * 50_000_000 + b'"}\n'
    (result,), errors = events_of(data)
    assert (type(result), len(result.content), errors) == (Result, 50_000_000, [])


def test_a_cut_off_last_line_is_named():
    """The error says that the file may end in the middle of a line."""
    events, errors = events_of(LINE + LINE[:20])
    assert events == [User("r", "hi")]
    assert errors == ["file:2: no JSON: Unterminated string starting at at column 18 (last line, no line end: cut off?)"]


def test_a_last_line_without_its_end_is_read():
    """A missing line end alone is no error."""
    assert events_of(LINE + LINE.rstrip()) == ([User("r", "hi")] * 2, [])


NO_EVENTS = {
    "binary": (b"\x7fELF\x02\x01\x01\0\0\0\0\0" * 400, "binary data"),
    "SQLite": (b"SQLite format 3\0" + bytes(4000), "binary data"),
    "UTF-16": ("\ufeff" + LINE.decode()).encode("utf-16-le"),
    "text": (b"hello\nworld\n", "not JSON"),
    "other JSON lines": (b'{"level": "info"}\n' * 3, "JSON of an unknown kind"),
    "an other document": (b'{\n "name": "x",\n "version": 1\n}\n', "JSON of an unknown kind"),
    "a number": (b"12", "JSON of an unknown kind"),
}
NO_EVENTS["UTF-16"] = (NO_EVENTS["UTF-16"], "UTF-16 text (save it as UTF-8)")


@pytest.mark.parametrize("kind", NO_EVENTS)
def test_what_no_reader_knows_is_refused(kind):
    """The error says what the content looks like."""
    data, looks = NO_EVENTS[kind]
    with pytest.raises(UnknownFormatError) as caught:
        events_of(data)
    assert str(caught.value) == f"file: no reader recognises this: {looks}"


def test_an_empty_file_is_refused():
    """There is nothing to recognise."""
    with pytest.raises(ReadError, match="file: the file is empty"):
        events_of(b"")


def test_broken_lines_at_the_beginning_do_not_hide_the_format():
    """A log whose beginning was cut away is still recognised, and read line by line."""
    events, errors = events_of(LINE[13:] + LINE * 50)
    assert (len(events), len(errors)) == (50, 1)


def test_detection_reads_no_further_than_it_must():
    """A stream is not read to its end to find out what it is."""

    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            part = (LINE * (len(buffer) // len(LINE) + 1))[: len(buffer)]
            buffer[: len(part)] = part
            return len(part)

    source = Source(io.BufferedReader(Endless()), "file")
    name, events = read(source)
    assert (name, next(events)) == ("events", User("r", "hi"))


def test_a_file_that_cannot_be_opened(tmp_path):
    """The error names the file."""
    with pytest.raises(ReadError, match="nowhere"):
        Source.open(tmp_path / "nowhere")


def test_a_third_partys_reader_is_found_by_its_entry_point(monkeypatch):
    """A package that offers a reader under `unstuck.readers` is asked like those of the house."""
    import importlib.metadata

    import unstuck.readers

    class Theirs:
        def detect(self, head):
            return head.raw.startswith(b"HELLO")

        def read(self, source):
            yield from (User(line.decode().strip()) for _, line in source.lines())

    class Point:
        name = "theirs"

        def load(self):
            return Theirs()

    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Point()] if group == "unstuck.readers" else [])
    unstuck.readers._installed.cache_clear()
    try:
        source = Source(io.BytesIO(b"HELLO\n"), "file")
        assert detect(source.head, "file") == "theirs"
        assert list(read(source)[1]) == [User("HELLO")]
    finally:
        unstuck.readers._installed.cache_clear()
