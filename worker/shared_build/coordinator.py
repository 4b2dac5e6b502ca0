"""A build whose documents are counted, analysed and written by workers, and whose phrases are mined here.

    choose -> mine -> count words -> count phrases -> analyse and write -> commit

Each of the three passes in the middle reads the source once, in slices. Between two passes what the slices counted is
merged, in any order, into the model of the next one. Until the commit the old epoch answers, and nothing else is seen.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from indexer.analysis.analyzer import Analyzer
from indexer.analysis.reservoir import add_reservoir
from indexer.analysis.vector_centroids import fit_spool_projection
from indexer.engines.attachment import Attachment
from indexer.engines.base import Build, Engine
from indexer.engines.elasticsearch.connection import ElasticsearchConnection
from indexer.engines.search_types import IndexInfo
from indexer.indexing.build import (
    AnalysisOptions,
    BuildReport,
    get_current_info,
    has_same_content,
    make_epoch_name,
    make_report,
)
from indexer.indexing.epoch_writer import EpochPlan, StageTimer, mark_as_sampled, mine_documents
from indexer.indexing.source_sample import SourceIds, SourceSample
from indexer.indexing.vector_check import VectorCheck
from indexer.mining.document_sample import SampleBounds
from indexer.progress import Progress, no_progress
from indexer.readers.point_in_time import keep_point_in_time, open_point_in_time
from indexer.readers.rejects import Rejects
from indexer.readers.shared_source import SharedSource, SourceSlice
from indexer.records import FieldMap
from indexer.runtime.document_spool import DocumentSpool
from indexer.runtime.memory import gc_relaxed
from worker.shared_build.slice_jobs import SliceJobs
from worker.shared_build.slice_passes import SlicePasses

SLICE_DOCUMENTS = 1024
"""Most documents of a slice."""
SLICE_BYTES = 2_000_000
"""Bytes of titles and texts of a slice, by the mean of the sample: a few seconds of work, where a job has thirty."""


@dataclass(frozen=True, slots=True)
class SharedBuildReport(BuildReport):
    """Result of a build that was shared out; printed as JSON by field name."""

    slices: int = 0
    workers: int = 0
    """Worker processes that took part."""
    retries: int = 0
    """Times that a slice was begun once more: its worker was lost, or met a temporary error."""


@dataclass(frozen=True)
class SourceAddress:
    """The source of a build: a connection to its server, the name of the index, and how it is read."""

    connection: ElasticsearchConnection
    index: str
    fields: FieldMap
    max_document_bytes: int


class SharedBuild:
    """Shares out the build of one index."""

    def __init__(
        self,
        engine: Engine,
        index: str,
        source: SourceAddress,
        jobs: SliceJobs,
        analysis: AnalysisOptions,
        attachment: Attachment,
        rejects: Rejects,
        progress: Progress = no_progress,
        processes: int = 0,
    ) -> None:
        """``processes`` mine the sample on this machine; 0 means one a core."""
        self._engine, self._index, self._address, self._jobs = engine, index, source, jobs
        self._analysis, self._attachment, self._rejects = analysis, attachment, rejects
        self._progress, self._processes = progress, processes or os.cpu_count() or 1
        self._timer = StageTimer()

    def run(self, *, force: bool = False) -> SharedBuildReport | None:
        """Build a new epoch and make it the current one; raises like ``build_index``, and Unavailable without workers.

        Return None, with nothing built, if all documents are in the sample: mining counts and segments them as well.
        """
        connection, index = self._address.connection, self._address.index
        self._jobs.require_worker()
        with (
            self._engine.start_build(self._index) as build,
            open_point_in_time(connection, index) as pit,
            keep_point_in_time(connection, pit),
            DocumentSpool() as mined,
            gc_relaxed(),
        ):
            build.is_attached = True
            joined = build.share()
            source = SharedSource.open(connection, index, pit, self._address.fields, self._address.max_document_bytes)
            with self._timer.measure("choose"):
                vectors = VectorCheck(Rejects())
                slices = self._choose_sample(source, mined, vectors)
            if slices is None:
                return None
            passes = SlicePasses(self._jobs, joined, source, slices, vectors.dimensions, self._progress)
            try:
                info = self._share_out(build, passes, mined, force)
            finally:
                self._jobs.cancel()
        report = make_report(self._index, info, self._rejects, self._timer, unchanged=not passes.has_written)
        fields = {**report.to_dict(), "seconds": dict(self._timer.seconds)}
        return SharedBuildReport(
            **fields,  # type: ignore[arg-type]
            slices=len(slices),
            workers=len(self._jobs.workers),
            retries=self._jobs.retries,
        )

    def _choose_sample(
        self, source: SharedSource, mined: DocumentSpool, vectors: VectorCheck
    ) -> list[SourceSlice] | None:
        """Fill the spool with the sample and return the slices of the source; None if it has all documents."""
        connection = self._address.connection
        bounds = SampleBounds(self._analysis.sample_documents, self._analysis.sample_bytes)
        ids = SourceIds(connection, source, bounds, self._progress)
        sample = SourceSample(connection, source, ids, bounds, vectors)
        mined.fill(sample, self._progress)
        mean_bytes = max(1, sample.text_bytes // max(mined.count, 1))
        return None if sample.covers_all else ids.split(min(SLICE_DOCUMENTS, SLICE_BYTES // mean_bytes))

    def _share_out(self, build: Build, passes: SlicePasses, mined: DocumentSpool, force: bool) -> IndexInfo:
        """Mine the sample, run the passes and commit; return the current epoch if it has the same content already."""
        with self._timer.measure("mine"):
            model = mine_documents(mined, self._analysis, self._processes, self._progress)
            model = mark_as_sampled(model, mined)
        with self._timer.measure("count"):
            model, content = passes.count_words(model, self._rejects)
        current = get_current_info(self._engine, self._index)
        epoch = make_epoch_name(content, self._analysis, current, self._attachment)
        if current and not force and has_same_content(current, epoch):
            return current
        with self._timer.measure("weigh"):
            projection = fit_spool_projection(mined) if passes.vector_dimensions is not None else None
            model = passes.count_phrases(model, projection)
        with self._timer.measure("analyse and write"):
            passes.write(model, build)
            model = add_reservoir(model, Analyzer(model), mined)
        plan = EpochPlan(self._index, epoch, self._analysis, self._attachment, passes.vector_dimensions)
        info = plan.make_info(model, passes.document_count)
        with self._timer.measure("commit"):
            build.commit(model, info)
        return info
