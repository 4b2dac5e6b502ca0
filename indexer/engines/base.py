"""The interface every engine implements: Engine, Reader and Build. There are two, Elasticsearch and tantivy.

An engine holds named indexes. An index has one current *epoch*: a complete build with its phrase
model, swapped in atomically. Between epochs documents may be added, replaced and deleted.

Access: ``groups=None`` reads everything; otherwise a document is visible if its ``acl`` is
empty or shares a group with ``groups``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from indexer.documents import AnalysedDocument
from indexer.engines.attached_source import AttachedSource, AttachedVersion
from indexer.engines.attachment import Attachment
from indexer.engines.date_histogram import Interval
from indexer.engines.joined_build import JoinedBuild
from indexer.engines.query_tree import BY_ID, BY_SCORE, SortKey, add_id_tiebreak, find_constant_score
from indexer.engines.rank_fusion import check_vector_query
from indexer.engines.search_types import (
    Groups,
    IndexInfo,
    Neighbourhood,
    NeighbourhoodRequest,
    SearchRequest,
    SearchResult,
    Selection,
    TextQuery,
    VectorQuery,
)
from indexer.engines.text_query import build_vector_query
from indexer.engines.write_order import ClaimCheck, WriteResult, skip_claim_check
from indexer.errors import BadSetting
from indexer.model.phrase_model import PhraseModel
from indexer.progress import Progress, no_progress


class Build(ABC):
    """A new epoch under construction; nothing of it is visible before ``commit``.

    Use it as a context manager: leaving the block without a ``commit`` aborts the build.
    """

    is_attached: bool = False
    """Whether the documents come from an index that is searched in place of this one, where the engine can do that;
    set before the first write. Their vectors are then stored, but not searched here."""

    keeps_text_vectors: bool = False
    """Whether ``write_text_vectors`` keeps what it is given."""

    def set_words(self, word_ids: Mapping[str, int]) -> None:  # noqa: B027
        """Tell, before the first write, the ids that words have in the model of ``commit``.

        Without this, an engine that stores words by their ids has to hold all words of the documents until then.
        """

    def write(self, documents: Iterable[AnalysedDocument]) -> None:
        """Write documents; a later one replaces an earlier one with the same id.

        Raises
        ------
        BadInput
            If a document cannot be stored, e.g. for an id that is too long, or a vector of other dimensions than those
            before it.
        """
        self.write_prepared(map(self.prepare_document, documents))

    @staticmethod
    def prepare_document(analysed: AnalysedDocument) -> Any:
        """Return the document in the form ``write_prepared`` takes; may run in another process."""
        return analysed

    @abstractmethod
    def write_prepared(self, prepared: Iterable[Any]) -> None:
        """Write documents returned by ``prepare_document``; raises like ``write``."""

    def write_text_vectors(self, batches: Iterable[NDArray[np.float32]]) -> None:
        """Write vectors made from the texts of all documents, after these, where ``keeps_text_vectors`` says so.

        A batch has the shape (documents, dimensions), in the order in which the documents were written; zeros for a
        document without one. They are searched, but are no part of the documents.
        """
        raise NotImplementedError(f"{type(self).__name__} keeps no vectors of texts")

    def share(self) -> JoinedBuild:
        """Let other processes join the build (``Engine.join_build``), and join it here too.

        Only an attached one: vectors that the others write are not searched. Raise BadSetting if the engine's builds
        cannot be shared.
        """
        raise _make_not_shared_error()

    def note_marked(self, ids: Iterable[str]) -> None:
        """Take note of what ``JoinedBuild.write`` returned, before ``commit``."""
        raise _make_not_shared_error()

    @abstractmethod
    def commit(self, model: PhraseModel, info: IndexInfo) -> None:
        """Store the model, make this build the current epoch and remove the previous one.

        Raises
        ------
        IndexBusy
            If another build of the same index took over; the current epoch stays.
        EngineUnavailable
            If the engine does not answer.
        """

    @abstractmethod
    def abort(self) -> None:
        """Remove everything written; the current epoch stays. Does nothing after ``commit``."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.abort()


class Reader(ABC):
    """One epoch of one index, open for reading.

    A reader never mixes epochs: once a new epoch has replaced its own, ``fetch`` and ``search``
    raise EpochChanged (the other methods may), and the caller must open the index again. Every method may raise
    EngineUnavailable, and TooSlow for a query that exceeds the engine's time limit.
    """

    info: IndexInfo
    """State of the index when the reader was opened."""
    model: PhraseModel

    @abstractmethod
    def fetch(self, ids: Sequence[str], groups: Groups = None) -> list[AnalysedDocument | None]:
        """Fetch documents by id in one request.

        Returns
        -------
        list
            One entry per id, in the same order; None where no document has the id or ``groups`` may not read it.
            ``weights`` are those written, in single precision: they belong to the epoch's statistics and do not
            follow later changes.
        """

    def fetch_lazy(self, ids: Sequence[str], groups: Groups = None) -> list[AnalysedDocument | None]:
        """Fetch like ``fetch``, but let the engine defer loading the fields of documents until they are accessed.

        Faster for thousands of documents of which only a few are shown.
        """
        return self.fetch(ids, groups)

    @abstractmethod
    def scan(self, groups: Groups = None) -> Iterator[AnalysedDocument]:
        """Iterate over all live documents by id ascending (code point order), in several requests."""

    def scan_versions(self) -> Iterator[tuple[str, AttachedVersion]]:
        """Iterate like ``scan`` over all live documents: the id, the content version and the revision in the source."""
        for analysed in self.scan():
            yield analysed.document.id, AttachedVersion(analysed.version, analysed.document.revision)

    @abstractmethod
    def readable_ids(self, groups: Groups, limit: int) -> list[str]:
        """Return the first ``limit`` ids, ascending, of the documents ``groups`` may read."""

    @abstractmethod
    def facet_names(self, groups: Groups = None) -> list[str]:
        """Return the facets of readable documents, the one with the most frequent value first, in one request.

        Facets whose values are all rarer than the MAX_FACET_VALUES most frequent ones are missing.
        """

    @abstractmethod
    def count_holders(self, phrases: Sequence[str], groups: Groups = None) -> list[int]:
        """Return for each phrase how many documents that ``groups`` may read have an edge to it.

        One request, or one for every 20,000 phrases.
        """

    def search(
        self,
        selection: Selection,
        *,
        size: int = 10,
        offset: int = 0,
        facets: Sequence[str] = (),
        groups: Groups = None,
        sort: Sequence[SortKey] = (),
        histograms: Sequence[Interval] = (),
        vector: VectorQuery | TextQuery | None = None,
    ) -> SearchResult:
        """Search in one request, by words, by a vector or a text's meaning, or by words and one of these.

        Parameters
        ----------
        selection
            Documents to find.
        size, offset
            Number of hits to return, and of hits to skip before them.
        facets
            Facets whose values are counted, at most MAX_FACET_VALUES values each.
        sort
            Order of the hits, ties by id. By default by score, or by id if all documents score the same.
        histograms
            Intervals by which matching documents are counted.
        vector
            Finds the documents nearest to it. If the selection does not rank what it matches (it has neither words
            nor a query with scores), these are the hits, with the score (1 + cosine) / 2, and the whole selection
            limits them. Otherwise the hits of both are merged by reciprocal rank fusion (``rank_fusion``). Totals,
            facets and histograms then count the matches of the words and the documents nearest to the vector. A
            TextQuery stands for the vector of its text, in an index whose vectors were made from texts.

        Returns
        -------
        SearchResult
            The score of a hit is 0 if ``sort`` does not contain the score.

        Raises
        ------
        EpochChanged
            If a newer epoch has replaced this one.
        BadParameter
            If there is a vector and the index has none, or those of the index have other dimensions or, for a
            TextQuery, were not made from texts; or if ``sort`` is given too.
        TooLarge
            If the engine cannot page as far as ``offset + size``, or a histogram has too many buckets.
        """
        if vector is not None:
            check_vector_query(vector, self.info, tuple(sort))
            nearest = build_vector_query(vector, self, groups) if isinstance(vector, TextQuery) else vector
            return self.search_page(
                SearchRequest(selection, size, offset, facets, groups, BY_SCORE, histograms, None, nearest)
            )
        query = selection.query
        score = None if selection.words is not None else 0.0 if query is None else find_constant_score(query)
        order = add_id_tiebreak(tuple(sort)) if sort else BY_SCORE if score is None else BY_ID
        score = None if sort else score
        return self.search_page(SearchRequest(selection, size, offset, facets, groups, order, histograms, score))

    @abstractmethod
    def search_page(self, request: SearchRequest) -> SearchResult:
        """Run the request that ``search`` built; engines implement this, callers use ``search``."""

    @abstractmethod
    def find_neighbourhood(self, request: NeighbourhoodRequest) -> Neighbourhood:
        """Find the documents between two sides and their edges in one request; see NeighbourhoodRequest."""


class Engine(ABC):
    """A store of indexes; see the module docstring for the terms.

    Methods that take the name of an index raise BadParameter for a name that is not allowed, UnknownIndex if there
    is no such index (except ``start_build``) and EngineUnavailable if the engine does not answer.
    """

    kind: str
    """``elasticsearch`` or ``tantivy``."""
    address: str
    """URL of the server, or path of the folder."""
    request_count: int = 0
    """Number of requests (Elasticsearch) or lookups (tantivy) made by readers so far; tests count these."""

    @abstractmethod
    def get_version(self) -> str:
        """Return the version of the engine; raise EngineUnavailable if it cannot be reached."""

    def ping(self) -> None:
        """Raise EngineUnavailable if the engine does not answer now."""
        self.get_version()

    @abstractmethod
    def list_indexes(self) -> list[str]:
        """Return the names of all indexes in ascending order."""

    @abstractmethod
    def open_reader(self, index: str) -> Reader:
        """Open the current epoch of an index.

        The model is loaded once per epoch and shared by all its readers. Opening an epoch again costs one request
        (none for a folder); a caller may also keep a reader until it raises EpochChanged.
        """

    @abstractmethod
    def get_info(self, index: str) -> IndexInfo:
        """Return ``open_reader(index).info`` without loading the phrase model."""

    def check_files(self, index: str, progress: Progress = no_progress) -> bool:
        """Compare the files of an index with their checksums; return whether they have any.

        A server checks its files itself. Raise CorruptIndex if a file differs.
        """
        return True

    def attached_source(self, info: IndexInfo) -> AttachedSource | None:
        """Return the index this one was attached to; None if there is none or this engine cannot search it."""
        return None

    def store_attachment(self, index: str, epoch: str, attachment: Attachment) -> None:  # noqa: B027
        """Replace what the index keeps about its source, such as how far it was read, unless its epoch is another now.

        Engines that cannot search a source ignore it.
        """

    @abstractmethod
    def start_build(self, index: str) -> Build:
        """Start the first or a new epoch of an index.

        A folder raises IndexBusy while another process writes to the index; on Elasticsearch the newer build takes
        over, and the older one fails at ``commit``.
        """

    def join_build(self, index: str, version: str) -> JoinedBuild:
        """Return an open build that another process shares; raise BadSetting if the engine's builds cannot be."""
        raise _make_not_shared_error()

    @abstractmethod
    def delete_index(self, index: str) -> None:
        """Delete an index with its model; raise IndexBusy while it is being built."""

    @abstractmethod
    def add_documents(
        self,
        index: str,
        documents: Iterable[AnalysedDocument],
        *,
        sequence: int | None = None,
        check_claim: ClaimCheck = skip_claim_check,
    ) -> WriteResult:
        """Add documents, replacing those with the same id, unless a newer write of the id stands in the index.

        They are visible to new searches when this returns.

        Parameters
        ----------
        sequence
            Number of this write (see ``write_order``); by default the first of a new generation.
        check_claim
            Called when the documents are ready, right before they are committed; what it raises aborts the write.

        Raises
        ------
        BadInput
            If a document cannot be stored; documents before it may have been written.
        IndexBusy
            While the index is being built.
        """

    @abstractmethod
    def delete_documents(self, index: str, ids: Sequence[str], *, sequence: int | None = None) -> WriteResult:
        """Delete documents by id, unless a newer write stands; ids that do not exist are marked as deleted, too.

        Raise IndexBusy while the index is being built.
        """

    @abstractmethod
    def get_write_generation(self, index: str) -> int:
        """Return the last generation of sequence numbers that was started for the index; 0 if there was none."""

    @abstractmethod
    def start_write_generation(self, index: str) -> int:
        """Start a new generation and return it: above all earlier ones, and above those of all marks in the index."""

    def time_requests(self, record_seconds: Callable[[float], None]) -> None:  # noqa: B027
        """Call ``record_seconds`` with the duration of every request to a server; engines without one ignore it."""

    def close(self) -> None:  # noqa: B027
        """Release connections and files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _make_not_shared_error() -> BadSetting:
    return BadSetting(
        "the embedded engine is a folder of one machine, which workers on others cannot write",
        fix="leave --shared out, or set PHRASECOM_ENGINE to the URL of an Elasticsearch, here and for all workers",
    )
