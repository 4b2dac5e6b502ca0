"""Checksums of the files of an epoch, so that a damaged one is reported before an answer is computed from it.

EPOCH/checksums      size and CRC-32 of every file, replaced at the end of each write; the first line is its own CRC-32
EPOCH/writing        exists while a writer works, and after one that died: the files it changes may be newer than the
                     list and are not compared with it
ROOT/.checked/NAME   stamps of the files that this machine has compared with their checksums, so that it reads a file
                     once; a file that was copied or replaced has another stamp

CRC-32 finds every damaged bit and takes 0.3 seconds per GiB, a quarter of what BLAKE2b takes. It protects from faulty
disks and memory, not from people who may write the files.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import orjson

from indexer.atomic_files import open_replacement
from indexer.engines.embedded.index_folder import FileStamp, IndexFolder, read_stamp
from indexer.progress import Progress, no_progress

LIST_NAME, MARKER_NAME = "checksums", "writing"
CHANGING_FILES = frozenset({"delta", "index/meta.json", "index/.managed.json"})
"""Files that a write replaces; all others stay as they are, or are new, or are removed."""
_UNLISTED_FILES = frozenset({LIST_NAME, MARKER_NAME, "delta.prepared"})
_CHUNK_BYTES = 1 << 20
_PROGRESS_BYTES = 1 << 26

Checksums = dict[str, tuple[int, int]]
"""Path in the epoch -> size and CRC-32."""


class EpochFiles:
    """The files of one epoch."""

    def __init__(self, folder: IndexFolder, path: Path) -> None:
        self._folder, self._path = folder, path
        self._list_path, self._marker_path = path / LIST_NAME, path / MARKER_NAME
        self._stamps_path = folder.root / ".checked" / folder.name

    @property
    def have_checksums(self) -> bool:
        """Whether the files have checksums; those of an epoch built by a former version have none."""
        return self._list_path.exists()

    def start_writing(self) -> None:
        """Announce that files will change; the caller has the write lock."""
        self._marker_path.touch()

    def finish_writing(self) -> None:
        """Save the checksums of the files as they are now, if they have any; the caller has the write lock."""
        if self.have_checksums:
            self.save_checksums(self._load_list()[1])
        self._marker_path.unlink(missing_ok=True)

    def save_checksums(self, known: Checksums | None = None) -> None:
        """Save the checksums of all files, read if they are not ``known``, and restrict who may read the files."""
        checksums: Checksums = {}
        for name in sorted(self._list_names()):
            self._folder.restrict_file(self._path / name)
            is_known = known is not None and name in known and name not in CHANGING_FILES
            checksums[name] = known[name] if known and is_known else _compute_checksum(self._path / name)
        content = orjson.dumps(checksums)
        with open_replacement(self._list_path, is_synced=True) as stream:
            stream.write(b"%08x\n" % zlib.crc32(content) + content)
        self._folder.restrict_file(self._list_path)
        self._save_stamps({name: read_stamp(self._path / name) for name in checksums})

    def compare(self, *, trust_stamps: bool, progress: Progress = no_progress) -> None:
        """Compare the files with their checksums; raise OSError or ValueError if one is missing or differs.

        ``trust_stamps``: leave out what this machine has compared before.
        """
        while True:
            state = self._read_state()
            try:
                self._compare_files(trust_stamps, progress)
                return
            except (OSError, ValueError):
                if state == self._read_state():
                    raise
                # a writer has changed files and list meanwhile

    def _read_state(self) -> tuple[FileStamp | None, bool]:
        return (read_stamp(self._list_path) if self.have_checksums else None), self._marker_path.exists()

    def _compare_files(self, trust_stamps: bool, progress: Progress) -> None:
        known = self._load_stamps() if trust_stamps else {}
        total, checksums = self._load_list()
        is_writing, stamps, done = self._marker_path.exists(), dict[str, FileStamp](), 0
        for name, (size, checksum) in checksums.items():
            path = self._path / name
            if is_writing and (name in CHANGING_FILES or (name.startswith("index/") and not path.exists())):
                continue
            stamps[name] = read_stamp(path)
            if stamps[name][2] != size:
                raise ValueError(f"{name} has the wrong size")
            if stamps[name] != known.get(name) and _compute_checksum(path, progress, done, total) != (size, checksum):
                raise ValueError(f"{name} differs from its checksum")
            done += size
        if stamps != {name: known.get(name) for name in stamps}:
            self._save_stamps(stamps)

    def _list_names(self) -> Iterator[str]:
        for path in self._path.rglob("*"):
            name = path.relative_to(self._path).as_posix()
            is_hidden = path.name.startswith(".") and name not in CHANGING_FILES  # locks and temporary files
            if path.is_file() and not is_hidden and name not in _UNLISTED_FILES:
                yield name

    def _load_list(self) -> tuple[int, Checksums]:
        """Return the size of all files together and the checksums. Raise ValueError if the list is damaged."""
        check, _, content = self._list_path.read_bytes().partition(b"\n")
        if check != b"%08x" % zlib.crc32(content):
            raise ValueError(f"{LIST_NAME} differs from its checksum")
        checksums = {name: (size, checksum) for name, (size, checksum) in orjson.loads(content).items()}
        return sum(size for size, _ in checksums.values()), checksums

    def _load_stamps(self) -> dict[str, FileStamp]:
        try:
            saved = orjson.loads(self._stamps_path.read_bytes())
            return {name: tuple(stamp) for name, stamp in saved[self._path.name].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def _save_stamps(self, stamps: dict[str, FileStamp]) -> None:
        with suppress(OSError):  # a folder that cannot be written is compared at each opening
            self._folder.make_folder(self._stamps_path.parent)
            with open_replacement(self._stamps_path, is_private=True) as stream:
                stream.write(orjson.dumps({self._path.name: stamps}))


def _compute_checksum(
    path: Path, progress: Progress = no_progress, done: int = 0, total: int = 0
) -> tuple[int, int]:  # fmt: skip
    """Return size and CRC-32 of a file; ``done`` of ``total`` bytes were read before it."""
    size = checksum = 0
    chunk = bytearray(_CHUNK_BYTES)
    with path.open("rb", buffering=0) as stream:
        while count := stream.readinto(chunk):
            checksum = zlib.crc32(memoryview(chunk)[:count], checksum)
            size += count
            if size % _PROGRESS_BYTES < count:
                progress("check MB", (done + size) >> 20, total >> 20)
    return size, checksum
