"""Environment of the measurements: corpus, engines, workload and time budget, and a description of the machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

from indexer.engines.base import Engine
from worker import json_bytes
from worker.benchmark.corpus import BenchCorpus
from worker.benchmark.rows import MeasuredFigures
from worker.benchmark.timing import Step, Timings, time_interleaved
from worker.benchmark.workload import DocumentPair, draw_workload
from worker.comparer import Comparer
from worker.explain.spec import ComparisonSpec

EMBEDDED, ELASTICSEARCH = "embedded", "elasticsearch"
PACKAGES = (
    *("phrasecom", "numpy", "scipy", "scikit-learn", "tantivy", "elasticsearch", "flask", "gunicorn", "orjson"),
    *("simplemma", "yake"),
)
"""Packages whose versions are reported."""


class Unmeasured(Exception):
    """A row cannot be measured here; the message gives the reason."""


@dataclass
class BenchEnvironment:
    """Corpus and engines that rows are measured on."""

    corpus: BenchCorpus
    engines: dict[str, Engine]
    """Engine kind -> open engine; the embedded one is always there."""
    pair_count: int = 200
    """Pairs to compare."""
    budget_seconds: float = 20.0
    """Time after which a row ends, once it has a few cases."""
    _comparers: dict[str, Comparer] = field(default_factory=dict)

    def get_comparer(self, engine_kind: str) -> Comparer:
        """Return the comparer of an engine, always the same one."""
        if engine_kind not in self._comparers:
            self._comparers[engine_kind] = Comparer(self.engines[engine_kind])
        return self._comparers[engine_kind]

    def ensure_index(self, engine_kind: str, size: int = 0) -> str:
        """Return the name of the index of the first ``size`` documents (0 for all); build it if it is missing."""
        return self.corpus.ensure_index(self.engines[engine_kind], size or self.corpus.document_count)

    @property
    def pairs(self) -> list[DocumentPair]:
        """Pairs to compare; raises Unmeasured if no two documents are alike."""
        return self._workload[0]

    @property
    def queries(self) -> list[str]:
        """Queries, all different; raises Unmeasured if no two documents are alike."""
        return self._workload[1]

    @cached_property
    def _workload(self) -> tuple[list[DocumentPair], list[str]]:
        """Pairs and queries drawn from the small corpus, so that indexes of every size have them."""
        small = self.corpus.small_count
        ids = [document.id for document in self.corpus.read(small)]
        reader = self.engines[EMBEDDED].open_reader(self.ensure_index(EMBEDDED, small))
        pairs, queries = draw_workload(reader, ids, self.pair_count)
        if not pairs:
            raise Unmeasured("no two documents of the corpus are similar")
        return pairs, queries

    def time_steps(self, steps: Mapping[str, Step], case_count: int) -> dict[str, Timings]:
        """Time the steps alternately within the budget."""
        return time_interleaved(steps, case_count, self.budget_seconds)

    def build_specs(self, engine_kind: str, size: int = 0) -> list[ComparisonSpec]:
        """Return the specs of comparing the pairs in an index."""
        comparer, index = self.get_comparer(engine_kind), self.ensure_index(engine_kind, size)
        return [pair.build_spec(comparer, index) for pair in self.pairs]

    def build_cold_step(self, engine_kind: str, size: int = 0) -> Step:
        """Return a step that makes one comparison, from its spec to the JSON of its answer."""
        comparer, specs = self.get_comparer(engine_kind), self.build_specs(engine_kind, size)
        return lambda case: compare_to_json(comparer, specs[case % len(specs)])


def compare_to_json(comparer: Comparer, spec: ComparisonSpec) -> bytes:
    """Return the answer to a comparison as JSON."""
    return json_bytes.dumps(comparer.compare(spec).to_dict())


def build_ms_figures(ours: Timings, against: Timings | None = None, note: str = "") -> MeasuredFigures:
    """Return medians and 95th percentiles in milliseconds."""
    return MeasuredFigures(
        1000 * ours.median,
        None if against is None else 1000 * against.median,
        1000 * ours.p95,
        None if against is None else 1000 * against.p95,
        len(ours),
        note,
    )


def describe_machine() -> dict[str, Any]:
    """Return processor, memory, system and load of this machine."""
    return {
        "processor": _get_processor_name(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()}",
        "load": get_load_average(),
    }


def get_load_average() -> list[float]:
    """Return the load average of the last 1, 5 and 15 minutes."""
    return [round(value, 2) for value in os.getloadavg()]


def get_versions() -> dict[str, str]:
    """Return the versions of Python and of the installed ``PACKAGES``."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _get_processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
