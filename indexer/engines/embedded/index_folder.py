"""The folder of an embedded index: its files, its write lock, and errors for what is wrong with it.

ROOT/NAME/current           name of the current epoch's folder, replaced in one step
ROOT/NAME/EPOCH/index/      tantivy
ROOT/NAME/EPOCH/graph/      phrase graph and forward index, as arrays; vectors, if documents have any
ROOT/NAME/EPOCH/model.npz   the phrase model
ROOT/NAME/EPOCH/info.json   IndexInfo, and the size of every file that never changes
ROOT/NAME/EPOCH/delta       documents changed since the epoch was built
ROOT/NAME/EPOCH/checksums   of all these files (checksums.py)
ROOT/.locks/NAME            locked by the writer
ROOT/.generations/NAME      the last generation of sequence numbers; has a lock of its own, and outlives the index

Only the owner may read an index. If ROOT gives its group access, so do the indexes in it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import stat
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import orjson

from indexer.atomic_files import replace_file
from indexer.engines.search_types import IndexInfo
from indexer.errors import BadSetting, CorruptIndex, EngineUnavailable, IndexBusy, UnsupportedVersion

FORMAT = 1
"""Number of the layout below EPOCH; another one is refused."""
_GENERATION_DIGITS = 16
_TANTIVY_WRITE_ERROR = re.compile(r"'([^']+) \(os error \d+\)'|index writer was killed")
FileStamp = tuple[int, int, int]
"""Inode, modification time and size: differs whenever a file is replaced."""


def read_stamp(path: Path) -> FileStamp:
    status = os.stat(path)  # noqa: PTH116 - on every read, and a third of the cost of Path.stat
    return status.st_ino, status.st_mtime_ns, status.st_size


class IndexFolder:
    """The folder of one index, which need not exist yet."""

    def __init__(self, root: Path, name: str) -> None:
        self.root, self.name = root, name
        self.path = root / name
        self.current_file = self.path / "current"

    def current_epoch(self) -> str | None:
        """Return the name of the current epoch's folder, or None if the index does not exist."""
        try:
            return self.current_file.read_bytes().decode("utf-8", "replace").strip()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def create_epoch(self) -> Path:
        """Create the folder of a new epoch, not yet the current one."""
        path = self.path / (time.strftime("%Y%m%dT%H%M%S-", time.gmtime()) + uuid.uuid4().hex[:8])
        for folder in (self.path, path, path / "index", path / "graph"):
            self.make_folder(folder)
        return path

    def make_folder(self, path: Path) -> None:
        """Create a folder below the root, and the root, unless they exist."""
        if not self.root.exists():
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.mkdir(exist_ok=True)
        self._restrict(path, 0o777)

    def restrict_file(self, path: Path) -> None:
        """Let only those read a file who may read the index."""
        self._restrict(path, 0o666)

    def _restrict(self, path: Path, mode: int) -> None:
        allowed = mode & (0o700 | stat.S_IMODE(self.root.stat().st_mode) & 0o070)
        present = stat.S_IMODE(path.stat().st_mode)
        if present & 0o777 != allowed:
            with suppress(PermissionError):  # it belongs to another member of the group
                path.chmod(present & ~0o777 | allowed)

    def switch_to(self, epoch: str) -> None:
        """Make an epoch the current one, in one step."""
        replace_file(self.current_file, epoch.encode())
        self.restrict_file(self.current_file)

    def remove_all_but(self, epoch: str | None) -> None:
        """Remove former epochs and leftovers of crashed builds; the caller has the write lock."""
        for path in self.path.iterdir() if self.path.is_dir() else ():
            if path.is_dir() and path.name != epoch:
                shutil.rmtree(path, ignore_errors=True)

    def remove(self) -> None:
        """Remove the index with all its epochs."""
        self.current_file.unlink(missing_ok=True)  # first: from here on the index does not exist
        shutil.rmtree(self.path, ignore_errors=True)

    def remove_if_empty(self) -> None:
        """Remove the folder of an index whose first build failed."""
        with suppress(OSError):
            self.path.rmdir()

    @contextmanager
    def write_lock(self, timeout: float) -> Iterator[None]:
        """Hold the write lock of the index. Raise IndexBusy if it is not free within ``timeout`` seconds."""
        path = self.root / ".locks" / self.name
        with translate_os_errors(self.root):
            self.make_folder(path.parent)
            lock = path.open("w")
            self.restrict_file(path)
        with lock:
            deadline = time.monotonic() + timeout
            while not _try_lock(lock.fileno()):
                if time.monotonic() >= deadline:
                    raise IndexBusy(f"index {self.name!r} is being written by another process", fix="try again later")
                time.sleep(0.02)
            with translate_os_errors(self.root):
                yield

    def read_generation(self) -> int:
        """Return the last generation that was started; 0 if there was none or the file is damaged."""
        with translate_os_errors(self.root):
            try:
                return _parse_generation(self._generations_file.read_bytes())
            except FileNotFoundError:
                return 0

    def start_write_generation(self, last_generation: int) -> int:
        """Start a generation above all others and ``last_generation``; return it once it is on disk."""
        with translate_os_errors(self.root):
            self.make_folder(self._generations_file.parent)
            handle = os.open(self._generations_file, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                self.restrict_file(self._generations_file)
                fcntl.flock(handle, fcntl.LOCK_EX)
                generation = max(_parse_generation(os.pread(handle, _GENERATION_DIGITS, 0)), last_generation) + 1
                os.pwrite(handle, b"%0*d" % (_GENERATION_DIGITS, generation), 0)  # one block, so never half of it
                os.fsync(handle)
            finally:
                os.close(handle)
            return generation

    @property
    def _generations_file(self) -> Path:
        return self.root / ".generations" / self.name

    def to_read_error(self, error: BaseException) -> BadSetting | CorruptIndex:
        """Translate an error of reading a file."""
        is_read_only = "ReadOnlyFilesystem" in str(error)
        if is_read_only or isinstance(error, PermissionError) or "PermissionDenied" in str(error):
            reason = "Read-only file system" if is_read_only else "Permission denied"
            return BadSetting(
                f"cannot read index {self.name!r} in {self.root}: {reason}",
                fix="fix the permissions of the folder; readers create lock files there, so they need write access too",
            )
        return CorruptIndex(
            f"index {self.name!r} in {self.root} is damaged ({_describe_damage(error)})", fix=self.rebuild_hint
        )

    def format_error(self, format: object) -> UnsupportedVersion:
        return UnsupportedVersion(
            f"index {self.name!r} in {self.root} has format {format}, this version reads {FORMAT}",
            fix=self.rebuild_hint,
        )

    @property
    def rebuild_hint(self) -> str:
        return f"rebuild it with: phrasecom index PATH --index {self.name}"


def _parse_generation(data: bytes) -> int:
    """Return the generation in a generations file; 0 for an empty or damaged one."""
    return int(data) if data.isdigit() else 0


def _describe_damage(error: BaseException) -> str:
    """Return the error in a few words, without the details that libraries add."""
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
def translate_os_errors(root: Path) -> Iterator[None]:
    """Translate errors of files, also those of tantivy, into BadSetting or EngineUnavailable with a one-line reason."""
    try:
        yield
    except ValueError as error:
        failure = _TANTIVY_WRITE_ERROR.search(str(error))
        if failure is None:
            raise
        reason = failure[1] or "an index writer failed; the disk may be full"
        raise EngineUnavailable(f"cannot use {root}: {reason}", fix="free disk space, or check the disk") from error
    except OSError as error:
        reason = error.strerror or f"not everything could be written ({error})"
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENOENT):
            raise BadSetting(f"cannot use {root} for indexes: {reason}", fix="choose a folder with --engine") from error
        raise EngineUnavailable(f"cannot use {root}: {reason}", fix="free disk space, or check the disk") from error


def save_info(epoch: Path, info: IndexInfo) -> None:
    """Write ``info.json``, the last file of an epoch."""
    fixed = [epoch / "model.npz", *sorted((epoch / "graph").iterdir())]
    sizes = {path.relative_to(epoch).as_posix(): path.stat().st_size for path in fixed}
    saved = {"format": FORMAT, "info": asdict(info), "files": sizes, "checksums": True}
    replace_file(epoch / "info.json", orjson.dumps(saved))


def load_info(folder: IndexFolder, epoch: Path) -> IndexInfo:
    """Read ``info.json`` and check the sizes of the files it lists.

    Raise UnsupportedVersion for another format, OSError or ValueError if a file is missing or cut short.
    """
    saved = orjson.loads((epoch / "info.json").read_bytes())
    if saved["format"] != FORMAT:
        raise folder.format_error(saved["format"])
    if saved.get("checksums") and not (epoch / "checksums").exists():
        raise ValueError("checksums is missing")
    for name, size in saved["files"].items():
        if (epoch / name).stat().st_size != size:
            raise ValueError(f"{name} has the wrong size")
    return IndexInfo(**saved["info"])


def sync_folder(folder: Path) -> None:
    """Flush every file below a folder to disk, so that it survives a power failure."""
    for path in [*folder.rglob("*"), folder]:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
