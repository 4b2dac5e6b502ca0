"""Writes a new epoch of an index: mines its phrases, analyses and writes the documents, commits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from indexer.documents import PAIR_SEPARATOR
from indexer.engines.attachment import ATTACHMENT_SETTING, Attachment
from indexer.engines.base import Build
from indexer.engines.search_types import IndexInfo
from indexer.mining.document_sample import SampleSelector
from indexer.progress import Progress
from indexer.runtime.document_spool import DocumentSpool
from indexer.vectors import VECTOR_SETTING, make_text_vector_setting

if TYPE_CHECKING:
    from indexer.indexing.build import AnalysisOptions
    from indexer.mining.mined_batches import MinedBatches, SegmentedCorpus
    from indexer.model.phrase_model import PhraseModel


@dataclass
class StageTimer:
    """Durations of the stages of a build."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = round(time.perf_counter() - start, 3)


@dataclass(frozen=True, slots=True)
class EpochPlan:
    """Name and options of an epoch to be built."""

    index: str
    epoch: str
    analysis: AnalysisOptions
    attachment: Attachment | None
    vector_dimensions: int | None
    """None if no document has a vector."""

    def make_settings(self, model: PhraseModel) -> dict[str, object]:
        """Return the settings that are stored with the epoch."""
        settings = {
            **model.settings,
            "asked": asdict(self.analysis),
            "pairs": sum(PAIR_SEPARATOR in name for name in model.phrases),
        }
        if self.vector_dimensions is not None:
            settings[VECTOR_SETTING] = self.vector_dimensions
        return settings | ({ATTACHMENT_SETTING: self.attachment.to_setting()} if self.attachment else {})

    def make_info(self, model: PhraseModel, documents: int, text_dimensions: int | None = None) -> IndexInfo:
        """Return the description of the epoch; ``text_dimensions``: of vectors made from texts, if there are any."""
        return IndexInfo(
            name=self.index,
            epoch=self.epoch,
            documents=documents,
            phrases=len(model.phrases),
            edges=model.settings.get("edges", 0),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            settings=self.make_settings(model) | make_text_vector_setting(text_dimensions),
        )


@dataclass(frozen=True, slots=True)
class EpochWriter:
    """Mines the phrase model, analyses and writes the documents, commits."""

    build: Build
    spool: DocumentSpool
    plan: EpochPlan
    progress: Progress
    timer: StageTimer
    processes: int

    def write(self, sample: SampleSelector) -> IndexInfo:
        """Write the epoch; its phrases are those of the sample."""
        with ExitStack() as opened:
            mined = self.spool if sample.covers_all else opened.enter_context(self._copy_sample(sample))
            model, corpus = self._mine_and_segment(mined)
            with self.timer.measure("analyse and write"):
                model, text_dimensions = self._analyse_and_write(model, corpus, mined)
        info = self.plan.make_info(model, self.spool.count, text_dimensions)
        with self.timer.measure("commit"):
            self.build.commit(model, info)
        return info

    def _copy_sample(self, sample: SampleSelector) -> DocumentSpool:
        """Return the documents of the sample in the order of their hashes, which does not depend on theirs."""
        documents = (document for number in sample.list_numbers() for document in self.spool.read(number, number + 1))
        return DocumentSpool().fill(documents)

    def _mine_and_segment(self, mined: DocumentSpool) -> tuple[PhraseModel, SegmentedCorpus]:
        """Return the model with the counts of all documents, and these documents segmented."""
        from indexer.mining.streamed_corpus import count_corpus

        segmented: list[SegmentedCorpus] = []
        is_sample = mined is not self.spool
        with self.timer.measure("mine"):
            keep = None if is_sample else segmented.append
            model = mine_documents(mined, self.plan.analysis, self.processes, self.progress, keep)
        if not is_sample:
            return model, segmented[0]
        with self.timer.measure("count"):
            return count_corpus(mark_as_sampled(model, mined), self.spool, self.processes, self.progress)

    def _analyse_and_write(
        self, model: PhraseModel, corpus: SegmentedCorpus, mined: DocumentSpool
    ) -> tuple[PhraseModel, int | None]:
        """Write the documents; return the complete model, and the dimensions of vectors made from texts, if any."""
        from indexer.analysis.analyzer import Analyzer
        from indexer.analysis.reservoir import add_reservoir
        from indexer.analysis.text_vectors import write_text_vectors
        from indexer.analysis.vector_centroids import add_vector_centroids

        self.build.set_words(model.word_ids)
        analyser = Analyzer(model)
        prepared = analyser.analyse_and_prepare_segmented(
            corpus, self.spool, self.build.prepare_document, processes=self.processes, progress=self.progress
        )
        with closing(prepared):  # ends its processes if a write fails
            self.build.write_prepared(prepared)
        model = add_vector_centroids(model, corpus, self.spool, mined, self.progress)
        model = add_reservoir(model, analyser, mined)
        if not self.build.keeps_text_vectors or self.plan.vector_dimensions is not None or self.plan.attachment:
            return model, None
        return model, write_text_vectors(self.build, model, corpus)


def mine_documents(
    mined: DocumentSpool,
    analysis: AnalysisOptions,
    processes: int,
    progress: Progress,
    on_batches_mined: Callable[[MinedBatches], None] | None = None,
) -> PhraseModel:
    """Mine the phrase model of documents, as ``mine_model`` does, with the options of an index."""
    from indexer.mining.pipeline import mine_model

    return mine_model(
        mined,
        language=analysis.language,
        min_support=analysis.min_support or None,
        k=analysis.k,
        mu=analysis.mu,
        processes=processes,
        total=mined.count,
        progress=progress,
        on_batches_mined=on_batches_mined,
    )


def mark_as_sampled(model: PhraseModel, mined: DocumentSpool) -> PhraseModel:
    """Return a model that was mined from a sample with the number of its documents."""
    return replace(model, settings={**model.settings, "mined_documents": mined.count})
