"""The build pipeline: documents in, a new epoch of an index out.

    collect -> mine -> analyse -> write -> commit

Nothing is visible before the commit and nothing outlives a process that is killed, so running the
same command again gives what an undisturbed run would have given. Content and settings that the
current epoch already has are not built again.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from indexer import __version__
from indexer.documents import PAIR, Document
from indexer.engines.attachment import SETTING, Attached
from indexer.engines.base import Build, Engine, IndexInfo
from indexer.errors import BadInput, CorruptIndex, UnknownIndex, UnsupportedVersion
from indexer.identifiers import check_index_name
from indexer.progress import Progress, no_progress
from indexer.readers.rejects import Rejects
from indexer.records import NO_TEXT
from indexer.runtime.document_spool import Spool

if TYPE_CHECKING:
    from indexer.mining.mined_batches import Kept
    from indexer.model.phrase_model import PhraseModel
    from indexer.settings import Settings


_OBJECTS = 200_000
"""New objects after which a build looks for unreachable ones: more than a batch of documents has."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """How the documents of an index are analysed; kept with it, so that a refresh does the same."""

    language: str = "en"
    min_support: int = 0
    """0: scaled with the size of the corpus."""
    k: int = 30
    mu: float = 3.0

    @classmethod
    def of(cls, settings: Settings) -> Analysis:
        return cls(settings.language, settings.min_support, settings.k, settings.mu)

    @classmethod
    def of_index(cls, info: IndexInfo) -> Analysis:
        asked = info.settings.get("asked")
        return cls(**asked) if isinstance(asked, Mapping) else cls()


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build made."""

    index: str
    epoch: str
    documents: int
    phrases: int
    pairs: int
    """Of the phrases, how many are pairs."""
    edges: int
    rejects: int
    seconds: Mapping[str, float]
    """Of each stage."""
    unchanged: bool = False
    """The current epoch was made from the same content; nothing was built."""

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


@dataclass
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = round(time.perf_counter() - start, 3)


def build_index(
    documents: Iterable[Document],
    engine: Engine,
    index: str,
    analysis: Analysis | None = None,
    progress: Progress = no_progress,
    *,
    rejects: Rejects | None = None,
    processes: int = 0,
    force: bool = False,
    attached: Attached | None = None,
) -> BuildReport:
    """Make the documents the new epoch of ``index``; raises BadInput when there is none.

    ``rejects`` is what the documents' reader writes to; ``processes`` 0 means one a core;
    ``force`` builds even what is there already; ``attached`` is the index they come from.
    """
    check_index_name(index)
    engine.version()  # an engine that cannot be reached is told before the reading, not after
    analysis = analysis or Analysis()
    clock = _Clock()
    # The build comes first: who cannot write is told at once, and nobody adds what a refresh would miss.
    with engine.build(index) as build, Spool() as spool, _seldom_collecting():
        with clock.stage("collect"):
            spool.fill(documents, progress)
        _require_documents(spool, rejects)
        current = current_info(engine, index)
        epoch = _epoch_name(spool, analysis, current, attached)
        if current and not force and _same_content(current, epoch):
            return _report(index, current, rejects, clock, unchanged=True)
        made = _Made(index, epoch, analysis, attached)
        info = _fill(build, spool, made, progress, clock, processes or (os.cpu_count() or 1))
    return _report(index, info, rejects, clock)


def current_info(engine: Engine, index: str) -> IndexInfo | None:
    """What is there now; None for an index that is not there, or that only building it again can mend."""
    try:
        return engine.open(index).info
    except (UnknownIndex, CorruptIndex, UnsupportedVersion):
        return None


@contextmanager
def _seldom_collecting() -> Iterator[None]:
    """No document refers to itself: looking for what does, as often as Python would, took a sixth of the analysis."""
    usual = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


@dataclass(frozen=True, slots=True)
class _Made:
    """What an epoch is called and how it is made."""

    index: str
    epoch: str
    analysis: Analysis
    attached: Attached | None

    def settings(self, model: PhraseModel) -> dict[str, object]:
        out = {**model.settings, "asked": asdict(self.analysis), "pairs": sum(PAIR in name for name in model.phrases)}
        return out | ({SETTING: self.attached.to_setting()} if self.attached else {})


def _fill(build: Build, spool: Spool, made: _Made, progress: Progress, clock: _Clock, processes: int) -> IndexInfo:
    """Mine, analyse, write, commit."""
    from indexer.analysis.analyzer import Analyser, mine

    analysis = made.analysis
    kept: list[Kept] = []
    with clock.stage("mine"):
        model = mine(
            spool,
            language=analysis.language,
            min_support=analysis.min_support or None,
            k=analysis.k,
            mu=analysis.mu,
            processes=processes,
            total=spool.count,
            progress=progress,
            keeping=kept.append,
        )
    with clock.stage("analyse and write"):
        analyser = Analyser(model)
        build.write_prepared(
            analyser.prepare_kept(kept[0], spool, build.prepare, processes=processes, progress=progress)
        )
    info = IndexInfo(
        name=made.index,
        epoch=made.epoch,
        documents=spool.count,
        phrases=len(model.phrases),
        edges=int(str(model.settings.get("edges", 0))),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        settings=made.settings(model),
    )
    with clock.stage("commit"):
        build.commit(model, info)
    return info


def _require_documents(spool: Spool, rejects: Rejects | None) -> None:
    if spool.count:
        return
    if rejects and rejects.count:
        first, listed = rejects.first[0], f", see {rejects.path}" if rejects.path else ""
        raise BadInput(
            f"none of {rejects.count:,} records could be taken{listed}; the first ({first.source}, line {first.line}): "
            f"{first.reason}",
            fix="name the field that holds it with --map text=NAME" if first.reason == NO_TEXT else "mend the records",
        )
    raise BadInput("there are no documents", fix="name files or a folder that hold some")


def _epoch_name(spool: Spool, analysis: Analysis, current: IndexInfo | None, attached: Attached | None) -> str:
    """A running number, and a hash of all that the epoch is made from."""
    parts = [spool.content(), asdict(analysis), __version__, *([attached.to_setting()] if attached else [])]
    made_from = json.dumps(parts, sort_keys=True)
    digest = hashlib.sha256(made_from.encode()).hexdigest()[:12]
    number = int(current.epoch.partition("-")[0]) + 1 if current and current.epoch.partition("-")[0].isdigit() else 1
    return f"{number}-{digest}"


def _same_content(current: IndexInfo, epoch: str) -> bool:
    return current.drift == 0 and current.epoch.partition("-")[2] == epoch.partition("-")[2]


def _report(
    index: str, info: IndexInfo, rejects: Rejects | None, clock: _Clock, *, unchanged: bool = False
) -> BuildReport:
    return BuildReport(
        index=index,
        epoch=info.epoch,
        documents=info.documents,
        phrases=info.phrases,
        pairs=int(str(info.settings.get("pairs", 0))),
        edges=info.edges,
        rejects=rejects.count if rejects else 0,
        seconds=dict(clock.seconds),
        unchanged=unchanged,
    )
