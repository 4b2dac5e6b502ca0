"""Damage to the files of an embedded index, and indexes as former versions built them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson


def get_epoch_folder(root: str | Path, index: str = "papers") -> Path:
    folder = Path(root) / index
    return folder / (folder / "current").read_text()


@contextmanager
def flipped_bit(path: Path, bit: int, *, keeps_time: bool) -> Iterator[None]:
    """Flip a bit of a file in the block; ``keeps_time``: as a faulty disk does, without a new modification time."""
    content, status = path.read_bytes(), path.stat()
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    path.write_bytes(damaged)
    if keeps_time:
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    try:
        yield
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def remove_checksums(epoch: Path) -> None:
    """Make an epoch one of a former version, which wrote no checksums."""
    (epoch / "checksums").unlink()
    info = orjson.loads((epoch / "info.json").read_bytes())
    del info["checksums"]
    (epoch / "info.json").write_bytes(orjson.dumps(info))
