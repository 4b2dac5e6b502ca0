"""Bytes of a file or of standard input, a line at a time, unzipped where they are zipped."""

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
_GZIP = b"\x1f\x8b"
BROKEN_ZIP = (EOFError, gzip.BadGzipFile, zlib.error)


@contextmanager
def open_bytes(source: str) -> Iterator[BinaryIO]:
    """The unzipped bytes of a file, or of standard input for ``-``."""
    with _raw(source) as raw:
        if raw.peek(2)[:2] == _GZIP:
            with gzip.GzipFile(fileobj=raw) as unzipped:
                yield io.BufferedReader(cast(io.RawIOBase, unzipped), 1 << 16)
        else:
            yield raw


@contextmanager
def _raw(source: str) -> Iterator[io.BufferedReader]:
    if source == STDIN:
        yield cast(io.BufferedReader, sys.stdin.buffer)
        return
    try:
        stream = Path(source).open("rb")  # noqa: SIM115  closed below
    except OSError as error:
        raise BadInput(f"cannot read {source}: {error.strerror}", fix="name a readable file or folder") from None
    with stream:
        yield stream


def bounded_lines(stream: BinaryIO, limit: int) -> Iterator[tuple[int, bytes | None]]:
    """(line number, line without its end); None for a line of more than ``limit`` bytes.

    However long a line is, no more than ``limit`` bytes of it are held.
    """
    number = 0
    while line := stream.readline(limit + 2):
        number += 1
        if len(line) > limit + 1 and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(1 << 20)
            yield number, None
        else:
            yield number, line.rstrip(b"\r\n")
