"""The job of a slice of a shared build: reads it from the source, computes one pass, leaves the result in the build.

What it counts is large and goes beside the build's model, for the process that shares the build; the answer of the job
says how many documents there were. A slice that is done twice leaves the same.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

from indexer import __version__
from indexer.errors import BadInput
from worker.access import make_access_key
from worker.jobs.job import NewJob, StoredAnswer
from worker.jobs.runner import JobContext, NewerAlgorithm
from worker.json_bytes import dumps, loads

if TYPE_CHECKING:
    from indexer.documents import Document
    from indexer.engines.elasticsearch.connection import ElasticsearchConnection
    from indexer.engines.joined_build import JoinedBuild
    from indexer.indexing.slice_analysis import Arrays, SliceAnalyser
    from indexer.readers.shared_source import SharedSource
    from worker.service.container import ServiceContainer

PassName = Literal["words", "phrases", "write"]
_KEEP_SECONDS = 60.0
"""Seconds that a process keeps a model after its last slice."""
PROJECTION_NAME = "projection"
"""Name of the value with the projection of the documents' vectors."""


@dataclass(frozen=True)
class SliceTask:
    """The payload of the job."""

    pass_name: PassName
    index: str
    build: str
    """The version of the build (``Engine.join_build``)."""
    number: int
    """Of the slice, counted from 0."""
    after: int | None
    """Where the slice begins (``SourceSlice``)."""
    size: int
    """Documents of the slice."""
    source: dict[str, Any]
    """A ``SharedSource``."""
    vector_dimensions: int | None
    """None if the documents have no vectors."""
    version: str = __version__
    """Of the software: two versions may analyse a text differently."""

    @property
    def model_name(self) -> str:
        """Name of the value with the model of this pass."""
        return f"model-{self.pass_name}"

    @property
    def result_name(self) -> str:
        """Name of the value with what this pass counts of the slice."""
        return f"{self.pass_name}-{self.number}"

    @classmethod
    def from_json(cls, payload: str) -> Self:
        """Raise NewerAlgorithm for the task of another version, whose fields may be others too."""
        fields = loads(payload)
        if fields["version"] != __version__:
            raise NewerAlgorithm(f"its build has version {fields['version']}, this worker {__version__}")
        return cls(**fields)

    def make_job(self) -> NewJob:
        id = f"b{self.build}-{self.pass_name}-{self.number}"
        payload = dumps(asdict(self)).decode()
        return NewJob(id, "build-slice", payload, f"build {self.build}", "bulk", make_access_key(self.index, None))


@dataclass
class SliceReport:
    """The answer of the job, as JSON by field name."""

    worker: str
    documents: int = 0
    """Valid ones."""
    rejects: list[tuple[str, int, str]] = field(default_factory=list)
    """Source, line and reason of each document that is not valid; of the first pass."""
    content: str = "0"
    """Sum of the hashes of the documents, in hexadecimal digits; of the first pass."""
    marked: list[str] = field(default_factory=list)
    """Ids for ``Build.note_marked``; of the last pass."""

    @classmethod
    def from_json(cls, body: bytes) -> SliceReport:
        return cls(**loads(body))


class SliceRunner:
    """Runs slices in one process, which keeps what all slices of a pass need: the last model and the connection."""

    def __init__(self, container: ServiceContainer) -> None:
        self._container = container
        self._lock = threading.Lock()
        self._loaded: tuple[tuple[str, str], SliceAnalyser] | None = None
        """The build and the name of the model, and the analyser with it."""
        self._release: threading.Timer | None = None
        self._connections: dict[str, ElasticsearchConnection] = {}

    def run(self, context: JobContext) -> StoredAnswer:
        """Run the slice of a claim; raise NewerAlgorithm if the build is of another version."""
        from indexer.indexing.slice_analysis import pack_parts

        task = SliceTask.from_json(context.claim.payload)
        joined = self._container.engine.join_build(task.index, task.build)
        report = SliceReport(f"{socket.gethostname()}:{os.getpid()}")
        try:
            analyser = self._load_analyser(joined, task)
            if task.pass_name == "write":
                self._run_parts(
                    context, task, report, lambda part: report.marked.extend(joined.write(analyser.analyse(part)))
                )
            else:
                count = analyser.count_words if task.pass_name == "words" else analyser.count_phrases
                parts: list[Arrays] = []
                self._run_parts(context, task, report, lambda part: parts.append(count(part)))
                context.check_claim()
                joined.put_value(task.result_name, pack_parts(parts))
        finally:
            self._release_later()
        return StoredAnswer(dumps(asdict(report)), {}, task.index)

    def _release_later(self) -> None:
        """Free the memory of the model when no slice has come for a while: the build may be done."""
        with self._lock:
            if self._release is not None:
                self._release.cancel()
            self._release = threading.Timer(_KEEP_SECONDS, self._forget_model)
            self._release.daemon = True
            self._release.start()

    def _forget_model(self) -> None:
        with self._lock:
            self._loaded = None

    def _run_parts(
        self, context: JobContext, task: SliceTask, report: SliceReport, run_part: Callable[[list[Document]], None]
    ) -> None:
        """Call ``run_part`` with one part of the slice after the other; raise JobStopped when the work should end."""
        from indexer.indexing.slice_analysis import split_into_parts, sum_document_hashes
        from indexer.indexing.vector_check import VectorCheck
        from indexer.readers.rejects import CollectedRejects
        from indexer.readers.shared_source import SharedSource, SourceSlice

        source, rejects = SharedSource(**task.source), CollectedRejects()
        connection = self._connect(source)
        documents = source.read_slice(connection, SourceSlice(task.after, task.size), rejects)
        vectors = VectorCheck(rejects, task.vector_dimensions)
        is_first_pass, content = task.pass_name == "words", 0
        for part in split_into_parts(vectors.keep_fitting(documents)):
            if task.vector_dimensions is None and vectors.dimensions is not None:
                raise BadInput(
                    "some documents have a vector, but none of the sample has",
                    fix="attach with --vectors none, or with a larger sample_documents",
                )
            run_part(part)
            report.documents += len(part)
            content += sum_document_hashes(part) if is_first_pass else 0
            context.report_progress(min(report.documents / task.size, 1.0), f"{task.pass_name} of slice {task.number}")
        if is_first_pass:
            report.content = f"{content:x}"
            report.rejects = [(each.source, each.line, each.reason) for each in rejects.all]

    def _load_analyser(self, joined: JoinedBuild, task: SliceTask) -> SliceAnalyser:
        from indexer.indexing.slice_analysis import SliceAnalyser, read_projection
        from indexer.model.phrase_model import PhraseModel

        with self._lock:
            key = (task.build, task.model_name)
            if self._loaded is None or self._loaded[0] != key:
                self._loaded = None  # both in memory would be too much
                model = PhraseModel.from_bytes(joined.get_value(task.model_name))
                with_places = task.pass_name == "phrases" and task.vector_dimensions is not None
                projection = read_projection(joined.get_value(PROJECTION_NAME)) if with_places else None
                self._loaded = key, SliceAnalyser(model, projection)
            return self._loaded[1]

    def _connect(self, source: SharedSource) -> ElasticsearchConnection:
        """Return a connection with this process's own credentials: the key for sources if one is set, or else those of
        the engine if the source is on the same server."""
        from indexer.engines.factory import strip_credentials
        from indexer.readers.elasticsearch_index import connect_to_server

        with self._lock:
            connection = self._connections.get(source.address)
            if connection is None:
                config = self._container.config
                if not config.source_api_key and strip_credentials(config.engine) == source.address:
                    ca = {"ca_certs", "api_key"}
                    options = {name: value for name, value in config.engine_options.items() if name in ca}
                    connection = connect_to_server(config.engine, **options)
                else:
                    options = {"api_key": config.source_api_key} if config.source_api_key else {}
                    connection = connect_to_server(source.address, **options)
                self._connections[source.address] = connection
            return connection
