"""Where an embedded index lives.

ROOT/NAME/current             the version in use, replaced in one step
ROOT/NAME/VERSION/index/      tantivy
ROOT/NAME/VERSION/graph/      the edges, as arrays, and what large sets ask of documents
ROOT/NAME/VERSION/model.npz   the phrase model
ROOT/NAME/VERSION/info.json   what it is, and the size of every file that never changes
ROOT/NAME/VERSION/delta       documents changed since
ROOT/.locks/NAME              held by whoever writes
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import orjson

from indexer.engines.base import IndexInfo
from indexer.engines.embedded.delta import replace_file
from indexer.errors import BadSetting, CorruptIndex, EngineUnavailable, IndexBusy, UnsupportedVersion

FORMAT = 1
Stamp = tuple[int, int, int]
"""Changes whenever a file is replaced: inode, time, size."""


def stamp(path: Path) -> Stamp:
    seen = os.stat(path)  # noqa: PTH116 - on every read, and a third of the cost of Path.stat
    return seen.st_ino, seen.st_mtime_ns, seen.st_size


class IndexFolder:
    def __init__(self, root: Path, name: str) -> None:
        self.root, self.name = root, name
        self.path = root / name
        self.current = self.path / "current"

    def version(self) -> str | None:
        try:
            return self.current.read_text().strip()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def new_version(self) -> Path:
        version = time.strftime("%Y%m%dT%H%M%S-", time.gmtime()) + uuid.uuid4().hex[:8]
        path = self.path / version
        path.mkdir(parents=True)
        return path

    def switch_to(self, version: str) -> None:
        replace_file(self.current, version.encode())

    def remove_all_but(self, version: str | None) -> None:
        """Remove former epochs and what crashed builds left; only for the holder of the lock."""
        for path in self.path.iterdir() if self.path.is_dir() else ():
            if path.is_dir() and path.name != version:
                shutil.rmtree(path, ignore_errors=True)

    def remove(self) -> None:
        self.current.unlink(missing_ok=True)  # first: from here on it does not exist
        shutil.rmtree(self.path, ignore_errors=True)

    def remove_if_empty(self) -> None:
        """Of an index that was never there nothing stays, when its first build fails."""
        with suppress(OSError):
            self.path.rmdir()

    @contextmanager
    def writing(self, timeout: float) -> Iterator[None]:
        """Hold the index's write lock; wait ``timeout`` seconds for it at most."""
        lock = self.root / ".locks" / self.name
        with telling(self.root):
            lock.parent.mkdir(parents=True, exist_ok=True)
            held = lock.open("w")
        with held:
            end = time.monotonic() + timeout
            while not _try_lock(held.fileno()):
                if time.monotonic() >= end:
                    raise IndexBusy(f"index {self.name!r} is being written by another process", fix="try again later")
                time.sleep(0.02)
            with telling(self.root):
                yield

    def corrupt(self, error: BaseException) -> CorruptIndex:
        return CorruptIndex(f"index {self.name!r} in {self.root} is damaged ({_damage(error)})", fix=self.rebuilding)

    def forbidden(self) -> BadSetting:
        return BadSetting(
            f"cannot read index {self.name!r} in {self.root}: Permission denied",
            fix="mend the permissions of the folder; readers take locks in it, so they must be able to write there",
        )

    def unreadable(self, format: object) -> UnsupportedVersion:
        return UnsupportedVersion(
            f"index {self.name!r} in {self.root} has format {format}, this version reads {FORMAT}", fix=self.rebuilding
        )

    @property
    def rebuilding(self) -> str:
        return f"rebuild it with: phrasecom index PATH --index {self.name}"


def _damage(error: BaseException) -> str:
    """In a few words; libraries say more, and not always what helps."""
    if isinstance(error, OSError) and error.filename:
        return f"{Path(error.filename).name}: {error.strerror}"
    text = str(error).partition(". ")[0]
    return "an array cannot be read" if "pickle" in text else text[:120]


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def telling(root: Path) -> Iterator[None]:
    """Say in one line why the folder cannot be used."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENOENT):
            raise BadSetting(f"cannot use {root} for indexes: {reason}", fix="choose a folder with --engine") from error
        raise EngineUnavailable(f"cannot use {root}: {reason}", fix="make room or check the disk") from error


def save_info(version: Path, info: IndexInfo) -> None:
    fixed = [version / "model.npz", *sorted((version / "graph").iterdir())]
    sizes = {path.relative_to(version).as_posix(): path.stat().st_size for path in fixed}
    replace_file(version / "info.json", orjson.dumps({"format": FORMAT, "info": asdict(info), "files": sizes}))


def load_info(folder: IndexFolder, version: Path) -> IndexInfo:
    """Raises OSError or ValueError when something is missing or cut short."""
    saved = orjson.loads((version / "info.json").read_bytes())
    if saved["format"] != FORMAT:
        raise folder.unreadable(saved["format"])
    for name, size in saved["files"].items():
        if (version / name).stat().st_size != size:
            raise ValueError(f"{name} has the wrong size")
    return IndexInfo(**saved["info"])
