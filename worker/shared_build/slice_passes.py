"""The three passes of a shared build over its source: sends their models, merges what the slices counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexer.analysis.vector_centroids import CentroidTotals
from indexer.engines.base import Build
from indexer.engines.joined_build import JoinedBuild
from indexer.indexing.slice_analysis import (
    HASH_BYTES,
    pack_projection,
    read_phrase_statistics,
    read_word_statistics,
    unpack_parts,
)
from indexer.mining.corpus_statistics import PhraseTotals, WordTotals
from indexer.mining.streamed_corpus import MAX_WORDS
from indexer.model.phrase_model import PhraseModel
from indexer.model.vector_space import VectorProjection
from indexer.progress import Progress
from indexer.readers.rejects import Rejects
from indexer.readers.shared_source import SharedSource, SourceSlice
from worker.service.build_slices import PROJECTION_NAME, PassName, SliceReport, SliceTask
from worker.shared_build.slice_jobs import SliceJobs


class SlicePasses:
    """Runs the passes, each once and in this order: ``count_words``, ``count_phrases``, ``write``."""

    def __init__(
        self,
        jobs: SliceJobs,
        joined: JoinedBuild,
        source: SharedSource,
        slices: Sequence[SourceSlice],
        vector_dimensions: int | None,
        progress: Progress,
    ) -> None:
        self._jobs, self._joined, self._source, self._slices = jobs, joined, source, slices
        self._progress = progress
        self.vector_dimensions = vector_dimensions
        self.document_count = 0
        """Known after the first pass."""
        self.has_written = False

    def count_words(self, model: PhraseModel, rejects: Rejects) -> tuple[PhraseModel, str]:
        """Return the model with the words of all documents, and a text that stands for their content."""
        totals, content = WordTotals(len(model.words)), 0
        for task, report in self._run("words", "count words", model):
            for arrays in unpack_parts(self._take_value(task.result_name)):
                totals.add(read_word_statistics(arrays))
            for source, line, reason in report.rejects:
                rejects.add(source, line, reason)
            content += int(report.content, 16)
            self.document_count += report.documents
        return totals.complete(model, MAX_WORDS), f"{content % (1 << 8 * HASH_BYTES):x}"

    def count_phrases(self, model: PhraseModel, projection: VectorProjection | None) -> PhraseModel:
        """Return the model with the phrases of all documents; ``projection``: of their vectors, if they have some."""
        phrase_count = len(model.phrases)
        totals = PhraseTotals(model.pair_topic_space, phrase_count)
        centroids = CentroidTotals(projection, phrase_count) if projection else None
        if projection:
            self._joined.put_value(PROJECTION_NAME, pack_projection(projection))
        for task, _ in self._run("phrases", "weigh", model):
            for arrays in unpack_parts(self._take_value(task.result_name)):
                counted, places = read_phrase_statistics(arrays)
                totals.add(counted)
                if centroids and places:
                    centroids.add(places)
        if projection:
            self._joined.delete_value(PROJECTION_NAME)
        model = totals.complete(model)
        return centroids.complete(model) if centroids else model

    def write(self, model: PhraseModel, build: Build) -> None:
        """Let the documents be analysed and written."""
        self.has_written = True
        for _, report in self._run("write", "analyse", model):
            build.note_marked(report.marked)

    def _run(self, name: PassName, stage: str, model: PhraseModel) -> Iterator[tuple[SliceTask, SliceReport]]:
        """Send the model, submit the slices and yield each with its report when it is done."""
        source = self._source.to_dict()
        tasks = [
            SliceTask(
                name, self._joined.index, self._joined.version, number, part.after, part.size, source,
                self.vector_dimensions,
            )
            for number, part in enumerate(self._slices)
        ]  # fmt: skip
        model_name = tasks[0].model_name
        self._joined.put_value(model_name, model.to_bytes())
        done = 0
        for task, report in self._jobs.run(tasks):
            yield task, report
            done += 1
            self._progress(f"{stage} (slices)", done, len(tasks))
        assert done == len(tasks), "every slice counts once"
        self._joined.delete_value(model_name)

    def _take_value(self, name: str) -> bytes:
        data = self._joined.get_value(name)
        self._joined.delete_value(name)
        return data
