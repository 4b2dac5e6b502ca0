"""Files that are replaced in one step: a reader sees the old content or the new one, never half of it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def open_replacement(path: Path, *, is_synced: bool = False, is_private: bool = False) -> Iterator[BinaryIO]:
    """Open a temporary file next to ``path`` that takes its place when the block ends, and is removed if it raises.

    ``is_synced`` brings the content to disk before the file is replaced, so that a power failure leaves one of the
    two whole. ``is_private`` makes the new file readable by its owner only. Raise OSError if it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    mode = 0o600 if is_private else 0o666
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
            yield stream
            if is_synced:
                stream.flush()
                os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def replace_file(path: Path, data: bytes) -> None:
    """Replace the content of a file, synced to disk."""
    with open_replacement(path, is_synced=True) as stream:
        stream.write(data)
