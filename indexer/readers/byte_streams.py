"""Bytes of a file or of standard input, unzipped if they are gzipped, and their lines of bounded length."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from indexer.errors import BadInput

STDIN = "-"
_GZIP_MAGIC = b"\x1f\x8b"
BROKEN_GZIP_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error)


@contextmanager
def open_byte_stream(source: str) -> Iterator[BinaryIO]:
    """Open a file, or standard input for ``-``, as a stream of unzipped bytes; raise BadInput if it cannot be read."""
    with _open_raw(source) as raw:
        if raw.peek(2)[:2] == _GZIP_MAGIC:
            with gzip.GzipFile(fileobj=raw) as unzipped:
                yield io.BufferedReader(cast(io.RawIOBase, unzipped), 1 << 16)
        else:
            yield raw


@contextmanager
def _open_raw(source: str) -> Iterator[io.BufferedReader]:
    if source == STDIN:
        yield cast(io.BufferedReader, sys.stdin.buffer)
        return
    try:
        stream = Path(source).open("rb")  # noqa: SIM115  closed below
    except OSError as error:
        raise BadInput(f"cannot read {source}: {error.strerror}", fix="name a readable file or folder") from None
    with stream:
        yield stream


def read_bounded_lines(stream: BinaryIO, max_bytes: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield (line number from 1, line without its end); None for a line of more than ``max_bytes``.

    However long a line is, no more than ``max_bytes`` of it are in memory.
    """
    number = 0
    while line := stream.readline(max_bytes + 2):
        number += 1
        if len(line) > max_bytes + 1 and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(1 << 20)
            yield number, None
        else:
            yield number, line.rstrip(b"\r\n")
