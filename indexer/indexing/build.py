"""The build pipeline: from documents to a new epoch of an index.

    collect -> mine -> count -> analyse -> write -> commit

Where the documents are too many to be mined in memory, phrases are mined from a sample of them, and then counted in all
documents (``indexer.mining.streamed_corpus``); otherwise mining counts them.

Nothing is visible before the commit and nothing of a killed process remains, so running the same
command again has the result of an undisturbed run. If the current epoch already has the same content
and settings, nothing is built.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from indexer import __version__
from indexer.defaults import DEFAULT_K, DEFAULT_MU, DEFAULT_SAMPLE_BYTES, DEFAULT_SAMPLE_DOCUMENTS
from indexer.documents import Document
from indexer.engines.attachment import Attachment
from indexer.engines.base import Engine
from indexer.engines.search_types import IndexInfo
from indexer.errors import BadInput, CorruptIndex, UnknownIndex, UnsupportedVersion
from indexer.identifiers import check_index_name
from indexer.indexing.epoch_writer import EpochPlan, EpochWriter, StageTimer
from indexer.indexing.vector_check import VectorCheck
from indexer.mining.document_sample import SampleBounds, SampleSelector
from indexer.progress import Progress, no_progress
from indexer.readers.rejects import Rejects
from indexer.records import NO_TEXT
from indexer.runtime.document_spool import DocumentSpool
from indexer.runtime.memory import gc_relaxed
from indexer.text import ANALYSIS_VERSION
from indexer.vectors import TEXT_VECTOR_SETTING

if TYPE_CHECKING:
    from indexer.settings import Settings


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """How the documents of an index are analysed; stored in it by field name, so that a refresh does the same."""

    language: str = "en"
    min_support: int = 0
    """Times a phrase must occur; 0 scales it with the size of the corpus."""
    k: int = DEFAULT_K
    mu: float = DEFAULT_MU
    sample_documents: int = DEFAULT_SAMPLE_DOCUMENTS
    """Most documents that phrases are mined from; 0 for any number."""
    sample_bytes: int = DEFAULT_SAMPLE_BYTES
    """Most bytes of their titles and texts; 0 for any number."""

    @classmethod
    def from_settings(cls, settings: Settings) -> AnalysisOptions:
        return cls(**{each.name: getattr(settings, each.name) for each in fields(cls)})

    @classmethod
    def from_index(cls, info: IndexInfo) -> AnalysisOptions:
        """Return the options that an index was built with; one of a former version was mined from all documents."""
        options = info.settings.get("asked")
        if not isinstance(options, Mapping):
            return cls()
        known = {each.name: options[each.name] for each in fields(cls) if each.name in options}
        return cls(**{"sample_documents": 0, "sample_bytes": 0, **known})


@dataclass(frozen=True, slots=True)
class BuildReport:
    """Result of a build; printed as JSON by field name."""

    index: str
    epoch: str
    documents: int
    mined_documents: int
    """Documents that phrases were mined from: all, or a sample."""
    phrases: int
    pairs: int
    """Phrases that are pairs; they count among ``phrases`` too."""
    edges: int
    rejects: int
    seconds: Mapping[str, float]
    """Stage -> duration."""
    unchanged: bool = False
    """Whether nothing was built, because the current epoch has the same content."""

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def build_index(
    documents: Iterable[Document],
    engine: Engine,
    index: str,
    analysis: AnalysisOptions | None = None,
    progress: Progress = no_progress,
    *,
    rejects: Rejects | None = None,
    processes: int = 0,
    force: bool = False,
    attachment: Attachment | None = None,
) -> BuildReport:
    """Build a new epoch of ``index`` from the documents and make it the current one.

    ``rejects`` are those of the documents' reader, for the report; a document whose vector has other dimensions than
    the first one is added to them. ``processes``: 0 means one a core. ``force`` builds
    also if the content is the same as now. ``attachment`` describes the index that the documents come from.
    Raise BadInput if there are no documents, or a vector does not fit and there are no ``rejects``, IndexBusy if
    another process writes the index.
    """
    check_index_name(index)
    engine.get_version()  # fails before the documents are read if the engine does not answer
    analysis = analysis or AnalysisOptions()
    timer = StageTimer()
    # The build starts first: it fails at once if the index cannot be written, and no document can be added that
    # a refresh would miss.
    with engine.start_build(index) as build, DocumentSpool() as spool, gc_relaxed():
        build.is_attached = attachment is not None
        vectors = VectorCheck(rejects)
        sample = SampleSelector(SampleBounds(analysis.sample_documents, analysis.sample_bytes))
        with timer.measure("collect"):
            spool.fill(sample.watch(vectors.keep_fitting(documents)), progress)
        _require_documents(spool, rejects)
        current = get_current_info(engine, index)
        epoch = make_epoch_name(spool.content_hash(), analysis, current, attachment)
        if current and not force and has_same_content(current, epoch):
            return make_report(index, current, rejects, timer, unchanged=True)
        plan = EpochPlan(index, epoch, analysis, attachment, vectors.dimensions)
        writer = EpochWriter(build, spool, plan, progress, timer, processes or (os.cpu_count() or 1))
        info = writer.write(sample)
    return make_report(index, info, rejects, timer)


def get_current_info(engine: Engine, index: str) -> IndexInfo | None:
    """Return the info of the current epoch; None if there is no index, or one that only a build can repair."""
    try:
        return engine.open_reader(index).info
    except (UnknownIndex, CorruptIndex, UnsupportedVersion):
        return None


def _require_documents(spool: DocumentSpool, rejects: Rejects | None) -> None:
    if spool.count:
        return
    if rejects and rejects.count:
        first, listed = rejects.examples[0], f", see {rejects.path}" if rejects.path else ""
        raise BadInput(
            f"none of {rejects.count:,} records could be indexed{listed}; the first "
            f"({first.source}, line {first.line}): {first.reason}",
            fix="name the text field with --map text=NAME" if first.reason == NO_TEXT else "fix the records",
        )
    raise BadInput("no documents found", fix="name files or a folder with documents")


def make_epoch_name(
    content_hash: str, analysis: AnalysisOptions, current: IndexInfo | None, attachment: Attachment | None
) -> str:
    """Return a running number and a hash of everything the epoch is built from."""
    versions = [__version__, ANALYSIS_VERSION, TEXT_VECTOR_SETTING]
    parts = [content_hash, asdict(analysis), *versions, *([attachment.to_setting()] if attachment else [])]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]
    number = int(current.epoch.partition("-")[0]) + 1 if current and current.epoch.partition("-")[0].isdigit() else 1
    return f"{number}-{digest}"


def has_same_content(current: IndexInfo, epoch: str) -> bool:
    return current.drift == 0 and current.epoch.partition("-")[2] == epoch.partition("-")[2]


def make_report(
    index: str, info: IndexInfo, rejects: Rejects | None, timer: StageTimer, *, unchanged: bool = False
) -> BuildReport:
    return BuildReport(
        index=index,
        epoch=info.epoch,
        documents=info.documents,
        mined_documents=int(str(info.settings.get("mined_documents", info.documents))),
        phrases=info.phrases,
        pairs=int(str(info.settings.get("pairs", 0))),
        edges=info.edges,
        rejects=rejects.count if rejects else 0,
        seconds=dict(timer.seconds),
        unchanged=unchanged,
    )
