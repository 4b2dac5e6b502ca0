"""The open files of one epoch of an embedded index: shared by its readers, reloaded after a write."""

from __future__ import annotations

import logging
import struct
import threading
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from tokenize import TokenError
from typing import Concatenate, ParamSpec, Protocol, TypeVar
from zipfile import BadZipFile

from tantivy import Searcher

from indexer.documents import AnalysedDocument
from indexer.engines.embedded import fulltext_index
from indexer.engines.embedded.checksums import EpochFiles
from indexer.engines.embedded.delta import load_delta
from indexer.engines.embedded.forward_index import load_forward_index
from indexer.engines.embedded.index_folder import FileStamp, IndexFolder, load_info, read_stamp
from indexer.engines.embedded.phrase_graph import load_phrase_graph
from indexer.engines.embedded.snapshot import EpochSnapshot
from indexer.engines.embedded.vectors.vector_index import load_vector_indexes
from indexer.engines.search_types import IndexInfo
from indexer.errors import EpochChanged
from indexer.model.phrase_model import PhraseModel

_LOG = logging.getLogger(__name__)
READ_ERRORS = (
    *(OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError),
    *(RuntimeError, SyntaxError, TokenError, BadZipFile, struct.error, zlib.error),
)
"""Errors that reading a broken file can raise."""


_REMEMBERED_PAGES = 8
_MAX_PAGE_HITS, _MAX_PAGE_CHARACTERS = 50, 500_000
"""Larger pages of hits are not remembered: sets, which are read once."""


@dataclass(frozen=True)
class EpochState:
    """One state of tantivy and of the phrase graph, as a read sees them."""

    searcher: Searcher
    snapshot: EpochSnapshot
    is_in_step: bool
    """Whether both contain the same writes: false after a writer died between its two commits."""
    _pages: deque[dict[str, AnalysedDocument]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED_PAGES))

    def remember_page(self, documents: Sequence[AnalysedDocument]) -> None:
        """Keep the documents of a page of hits for a while: most are explained at once and need not be read again."""
        if len(documents) <= _MAX_PAGE_HITS and sum(len(d.document.text) for d in documents) <= _MAX_PAGE_CHARACTERS:
            self._pages.append({document.document.id: document for document in documents})

    def find_remembered(self, ids: Sequence[str]) -> dict[str, AnalysedDocument]:
        """Return those of the documents that are on one of the last pages of hits, by id."""
        return {id: page[id] for page in tuple(self._pages) for id in ids if id in page}


class OpenEpoch:
    """An epoch opened for reading; raises EpochChanged once another one is current, CorruptIndex for broken files."""

    def __init__(self, folder: IndexFolder, epoch_name: str, current_stamp: FileStamp) -> None:
        """``current_stamp``: stamp of the file ``current`` when it named this epoch."""
        self.folder, self._current_stamp = folder, current_stamp
        self.path = folder.path / epoch_name
        self._reload_lock = threading.Lock()
        try:
            self.info = load_info(folder, self.path)
            self.files = EpochFiles(folder, self.path)
            self._compare_files()
            self.graph = load_phrase_graph(self.path / "graph")
            self.forward_index = load_forward_index(self.path / "graph", len(self.graph))
            self.vectors = load_vector_indexes(self.path / "graph")
            self._index = fulltext_index.open_index(self.path / "index")
            self.schema = self._index.schema
            self._delta_stamp: FileStamp | None = None
            self._reload()
        except READ_ERRORS as error:
            raise self.to_read_error(error) from error
        if self.forward_index is None:
            _LOG.info(
                "index %s was built by an older version and reads large sets slowly; "
                "rebuild it with: phrasecom refresh --index %s",
                folder.name, folder.name,
            )  # fmt: skip

    def is_current(self) -> bool:
        """Return whether this is still the current epoch."""
        try:
            return read_stamp(self.folder.current_file) == self._current_stamp
        except OSError:
            return False

    def current_state(self) -> EpochState:
        """Return the state that a read sees now, reloaded after a write. Raise EpochChanged or CorruptIndex."""
        if not self.is_current():
            raise self._changed_error()
        try:
            if read_stamp(self.path / "delta") != self._delta_stamp:
                self._reload()
        except READ_ERRORS as error:
            raise self.to_read_error(error) from error
        return self._state

    @cached_property
    def model(self) -> PhraseModel:
        """The phrase model, loaded on first use: a search needs none."""
        try:
            with (self.path / "model.npz").open("rb") as file:
                return PhraseModel.read(file)
        except READ_ERRORS as error:
            raise self.to_read_error(error) from error

    def find_phrase_row(self, phrase: str) -> int | None:
        """Return the row of a phrase in the graph, or None if it has none."""
        row = self.model.phrase_ids.get(phrase)
        return self.graph.other_phrases.get(phrase) if row is None else row

    def current_info(self) -> IndexInfo:
        """Return the index info with live documents and drift as of now."""
        snapshot = self.current_state().snapshot
        return replace(self.info, documents=snapshot.live_count, drift=snapshot.drift)

    def _reload(self) -> None:
        with self._reload_lock:
            delta_stamp = read_stamp(self.path / "delta")
            if delta_stamp == self._delta_stamp:
                return
            if self._delta_stamp is not None:
                self._compare_files()
            delta = load_delta(self.path / "delta")
            self._index.reload()
            is_in_step = delta.opstamp == fulltext_index.read_opstamp(self.path / "index")
            self._state = EpochState(self._index.searcher(), EpochSnapshot(self.graph, delta), is_in_step)
            self._delta_stamp = delta_stamp

    def _compare_files(self) -> None:
        """Compare the files that this machine has not compared before with their checksums, if they have any."""
        if self.files.have_checksums:
            self.files.compare(trust_stamps=True)

    def explain_error(self, error: BaseException) -> BaseException:
        """Translate an error of a read like ``to_read_error``, or return it if all files are as they were written."""
        if self.is_current() and self.files.have_checksums:
            try:
                self.files.compare(trust_stamps=False)
            except (OSError, ValueError) as damage:
                return self.to_read_error(damage)
            return error
        return self.to_read_error(error)

    def _changed_error(self) -> EpochChanged:
        return EpochChanged(f"index {self.folder.name!r} was rebuilt", fix="open it again")

    def to_read_error(self, error: BaseException) -> Exception:
        """Translate an error of reading a file: the epoch was replaced meanwhile, or the file is broken."""
        return self.folder.to_read_error(error) if self.is_current() else self._changed_error()


class _EpochUser(Protocol):
    _epoch: OpenEpoch


User = TypeVar("User", bound=_EpochUser)
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def report_damage(
    read: Callable[Concatenate[User, Arguments], Result],
) -> Callable[Concatenate[User, Arguments], Result]:
    """Let a method raise CorruptIndex with the fix if it fails because a file was damaged after it was opened."""

    @wraps(read)
    def read_or_report(self: User, /, *arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        try:
            return read(self, *arguments, **options)
        except READ_ERRORS as error:
            raise self._epoch.explain_error(error) from error
        except BaseException as error:
            if not fulltext_index.is_panic(error):
                raise
            raise self._epoch.explain_error(error) from error

    return read_or_report
