"""The steps of a comparison in order: sides -> neighbourhood -> features -> method -> answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from indexer.engines import open_engine
from indexer.engines.base import Engine, Reader
from indexer.engines.search_types import Groups, Neighbourhood
from indexer.errors import BadParameter, EpochChanged
from indexer.model.evidence_spaces import SPACE_NAMES, SpaceName
from indexer.runtime.memory import gc_paused
from worker.answer.brief_reasons import HitReasons
from worker.answer.builder import AnswerBuilder, SolvedPair
from worker.answer.comparison import Comparison
from worker.answer.query_page import explain_query_page
from worker.explain.candidates import PairCandidates
from worker.explain.neighbourhood import LocalGraph, SidePair, build_local_graph, fetch_neighbourhood
from worker.explain.pair_features import build_problem
from worker.explain.phrase_evidence import measure_query_evidence
from worker.explain.phrase_holders import find_own_text_holders
from worker.explain.query_match import QueryMatch, match_pairs
from worker.explain.resolved_side import weigh_texts_together
from worker.explain.resolver import resolve_sides
from worker.explain.side import Side
from worker.explain.side_limits import SideLimits
from worker.explain.spec import GRAPHS, ComparisonSpec, make_spec
from worker.explain.text_candidates import build_text_problem
from worker.index_catalog import get_analyzer_cache
from worker.methods.base import MethodResult, PairProblem
from worker.methods.log_evidence import measure_relevance_and_margins
from worker.methods.query_ranking import rank_for_query
from worker.methods.registry import METHODS
from worker.methods.relevance import prepare_and_calibrate_pair

T = TypeVar("T")
ComparisonProgress = Callable[[float, str], None]
"""Called with the share that is done, from 0 to 1, and the step that was finished."""
_MAX_ATTEMPTS = 3
"""Attempts of a comparison, as each may be interrupted by a new epoch."""


class Comparer:
    """Compares sides on one open engine; may be shared by threads."""

    def __init__(
        self,
        engine: Engine | str,
        *,
        limits: SideLimits | None = None,
        space_names: Collection[SpaceName] = SPACE_NAMES,
    ) -> None:
        """Compare on an open engine, or on the folder or URL of one to open.

        ``space_names``: spaces that evidence for queries comes from, of those that an index has; fewer are for
        measuring what each is worth.
        """
        self.space_names = frozenset(space_names)
        self.engine = open_engine(engine) if isinstance(engine, str) else engine
        self.limits = limits or SideLimits()
        self._readers: dict[str, Reader] = {}
        self._analyzers = get_analyzer_cache(self.engine)

    make_spec = staticmethod(make_spec)

    def compare(self, spec: ComparisonSpec, progress: ComparisonProgress | None = None) -> Comparison:
        """Compare the two sides of a spec.

        Parameters
        ----------
        spec
            The checked comparison, made by ``make_spec``.
        progress
            Called after each step with the share that is done and the name of the step.

        Returns
        -------
        Comparison
            The answer, all of it from one epoch of the index; ``to_dict()`` is its JSON. An answer without phrases
            explains this in ``no_evidence``.

        Raises
        ------
        UnknownIndex
            If there is no such index.
        UnknownDocument
            If a side names a document that does not exist or that the spec's groups may not read.
        BadSide
            If a ``search`` side selects no document, or a vector has another length than those of the index.
        TooLarge
            If a side exceeds the limits of this comparer.
        EpochChanged
            If the index was rebuilt during each of three attempts.
        """
        (answer,) = self.compare_variants([spec], progress)
        return answer

    def compare_variants(
        self, specs: Sequence[ComparisonSpec], progress: ComparisonProgress | None = None
    ) -> list[Comparison]:
        """Return the answers to specs that differ only in what is shown (cap, candidates); the pair is solved once."""
        return self._run_in_one_epoch(
            specs, lambda reader: self._compare_pair(reader, specs, progress or _ignore_progress)
        )

    def explain(self, specs: Sequence[ComparisonSpec]) -> Iterator[Comparison]:
        """Compare many pairs of one index, such as each hit of a results page with the query.

        All documents are fetched in one request, all neighbourhoods in another. If these reach more documents than one
        neighbourhood holds, an answer may differ a little from that of ``compare``.

        Parameters
        ----------
        specs
            Specs with the same index and groups, none on the full graph.

        Yields
        ------
        Comparison
            The answer to each spec, in their order, as soon as it is ready.

        Raises
        ------
        BadParameter
            If the specs differ in index or groups, or one is on the full graph.
        PhraseComError
            The errors of ``compare``, before the first answer: one bad side fails the whole page.
        """
        if not specs:
            return
        if any(not _can_share_neighbourhood(spec, specs[0]) for spec in specs):
            raise BadParameter(
                "comparisons explained together differ in index, access rights or graph",
                fix="compare them one at a time",
            )
        page = self._run_in_one_epoch(specs, lambda reader: self._prepare_page(reader, specs))
        builder = AnswerBuilder(page.pairs[0].a.reader.model)
        for spec, pair, match in zip(specs, page.pairs, page.matches, strict=True):
            with gc_paused():
                is_single_pair = len(specs) == 1
                (answer,) = _answer_pair(
                    [spec], pair, match, page.neighbourhood, builder, _StepTimer(), is_single_pair, self.space_names
                )
            yield replace(answer, holders=page.holders)

    def explain_query_page(self, specs: Sequence[ComparisonSpec]) -> ExplainedPage:
        """Explain the hits of a page by its query, in the short form; see ``worker.answer.query_page``.

        Parameters
        ----------
        specs
            Specs with the same index, groups and side b, which is the query; side a of each is a hit.

        Raises
        ------
        PhraseComError
            The errors of ``compare``.
        """

        def explain(reader: Reader) -> ExplainedPage:
            pairs = self._resolve_pairs(reader, specs)
            matches = self._match_queries(reader, pairs, specs[0].groups)
            weigh_texts_together(side for pair in pairs for side in (pair.a, pair.b))
            holders = find_own_text_holders(pairs, None, specs[0].groups)
            reasons = explain_query_page(specs, pairs, matches, self.space_names)
            return ExplainedPage(reader.info.epoch, reasons, holders)

        return self._run_in_one_epoch(specs, explain)

    def close(self) -> None:
        """Close the engine."""
        self.engine.close()

    def _compare_pair(
        self, reader: Reader, specs: Sequence[ComparisonSpec], progress: ComparisonProgress
    ) -> list[Comparison]:
        timer, spec = _StepTimer(), specs[0]
        (pair,) = self._resolve_pairs(reader, [spec])
        (match,) = self._match_queries(reader, [pair], spec.groups)
        weigh_texts_together((pair.a, pair.b), "topics")
        timer.record_step("fetch")
        progress(0.3, "both sides fetched")
        neighbourhood = None
        if not spec.is_full_graph:
            neighbourhood = fetch_neighbourhood(reader, [pair], size=spec.neighbours, groups=spec.groups)
        holders = find_own_text_holders([pair], neighbourhood, spec.groups)
        progress(0.8, "neighbourhood fetched")
        builder = AnswerBuilder(reader.model)
        answers = _answer_pair(
            specs, pair, match, neighbourhood, builder, timer, is_single_pair=True, space_names=self.space_names
        )
        return [replace(answer, holders=holders) for answer in answers] if holders else answers

    def _prepare_page(self, reader: Reader, specs: Sequence[ComparisonSpec]) -> _PreparedPage:
        pairs = self._resolve_pairs(reader, specs)
        matches = self._match_queries(reader, pairs, specs[0].groups)
        weigh_texts_together(side for pair in pairs for side in (pair.a, pair.b))
        size = max(spec.neighbours for spec in specs)
        neighbourhood = fetch_neighbourhood(reader, pairs, size=size, groups=specs[0].groups)
        holders = find_own_text_holders(pairs, neighbourhood, specs[0].groups)
        return _PreparedPage(pairs, matches, neighbourhood, holders)

    def _match_queries(self, reader: Reader, pairs: Sequence[SidePair], groups: Groups) -> list[QueryMatch | None]:
        if all("query" not in (pair.a.kind, pair.b.kind) for pair in pairs):
            return [None] * len(pairs)
        return match_pairs(pairs, self._analyzers.get(reader), self.engine.attached_source(reader.info), groups)

    def _resolve_pairs(self, reader: Reader, specs: Sequence[ComparisonSpec]) -> list[SidePair]:
        sides = [side for spec in specs for side in (spec.a, spec.b)]
        analyzer = None if all(side.ids for side in sides) else self._analyzers.get(reader)
        resolved = resolve_sides(reader, sides, limits=self.limits, groups=specs[0].groups, analyzer=analyzer)
        return [
            SidePair(a, b, PairCandidates.from_sides(a, b, spec.k))
            for spec, a, b in zip(specs, resolved[::2], resolved[1::2], strict=True)
        ]

    def _run_in_one_epoch(self, specs: Sequence[ComparisonSpec], step: Callable[[Reader], T]) -> T:
        """Run a step on the current epoch of the specs' index, again if another epoch replaces it meanwhile."""
        with gc_paused():
            for _ in range(_MAX_ATTEMPTS - 1):
                try:
                    return step(self._open_reader(specs))
                except EpochChanged:
                    self._readers.pop(specs[0].index, None)
            return step(self._open_reader(specs))

    def _open_reader(self, specs: Sequence[ComparisonSpec]) -> Reader:
        """Return the reader of the specs' index, cached until it raises EpochChanged.

        Requests that fetch no document never see that error, so they always open a new reader.
        """
        index = specs[0].index
        fetches_nothing = any(spec.is_full_graph or {spec.a.kind, spec.b.kind} <= {"query", "text"} for spec in specs)
        reader = None if fetches_nothing else self._readers.get(index)
        if reader is None:
            reader = self._readers[index] = self.engine.open_reader(index)
        return reader


class ExplainedPage(NamedTuple):
    """The reasons of the hits of a page."""

    epoch: str
    reasons: list[HitReasons]
    """Of each hit."""
    holders: frozenset[str]
    """Documents that entitle a caller with limited groups to see the phrases of their own query."""


class _PreparedPage(NamedTuple):
    """All that the comparisons of a page read from the engine."""

    pairs: list[SidePair]
    matches: list[QueryMatch | None]
    """Of each pair."""
    neighbourhood: Neighbourhood
    holders: frozenset[str]


def _can_share_neighbourhood(spec: ComparisonSpec, other: ComparisonSpec) -> bool:
    """Return whether two specs can share one fetch and one neighbourhood."""
    return not spec.is_full_graph and (spec.index, spec.groups) == (other.index, other.groups)


def _answer_pair(
    specs: Sequence[ComparisonSpec],
    pair: SidePair,
    match: QueryMatch | None,
    neighbourhood: Neighbourhood | None,
    builder: AnswerBuilder,
    timer: _StepTimer,
    is_single_pair: bool,
    space_names: Collection[SpaceName],
) -> list[Comparison]:
    """Solve a pair once and build the answer to each of the specs; ``neighbourhood`` None: on the full graph."""
    graph = _build_graph(specs[0], pair, neighbourhood, is_single_pair)
    timer.record_step("neighbourhood")
    problem, result = _run_method(specs[0], pair, graph, space_names)
    timer.record_step("solve")
    answers = [builder.build_answer(spec, SolvedPair(pair, graph, problem, result), match) for spec in specs]
    timer.record_step("evidence")
    for answer in answers:
        answer.stats.ms.update(timer.ms)
    return answers


def _build_graph(
    spec: ComparisonSpec, pair: SidePair, neighbourhood: Neighbourhood | None, is_single_pair: bool
) -> LocalGraph:
    if neighbourhood is None:
        from worker.explain.full_graph import build_full_graph

        return build_full_graph(pair, spec.groups, spec.excluded_ids)
    return build_local_graph(
        pair, neighbourhood, size=spec.neighbours, excluded_ids=spec.excluded_ids, is_single_pair=is_single_pair
    )


def _run_method(
    spec: ComparisonSpec, pair: SidePair, graph: LocalGraph, space_names: Collection[SpaceName]
) -> tuple[PairProblem, MethodResult]:
    """Build the features of a pair and return them with the method's result."""
    query_side = _find_query_side(spec, pair)
    method = METHODS[spec.method]
    problem = build_problem(
        [pair],
        graph,
        spec.parameters,
        unit_weights=spec.is_full_graph and spec.preset == "paper",
        with_counts=method.needs_counts,
        with_word_bm25=method.needs_word_bm25,
        neighbour_texts=_fetch_neighbour_lemmas(pair, graph, spec.groups) if method.needs_neighbour_texts else (),
    )
    if query_side:
        measured = measure_relevance_and_margins(problem, prepare_and_calibrate_pair(problem, spec.method))
        evidence = measure_query_evidence(pair.b if query_side == "b" else pair.a, [pair], space_names)
        if evidence is not None:
            evidence = evidence.pad(len(problem.phrases))
        ranking = rank_for_query(problem, query_side, evidence)
        is_common = np.zeros(len(problem.phrases), dtype=bool)
        is_common[ranking.common.indices] = True
        return problem, replace(
            measured,
            common=ranking.common,
            distinct_a=ranking.distinct_hit if query_side == "b" else ranking.distinct_query,
            distinct_b=ranking.distinct_query if query_side == "b" else ranking.distinct_hit,
            margin=np.where(is_common, np.maximum(measured.margin, 0.0), np.minimum(measured.margin, -1e-6)),
            noise=evidence.noise if evidence else None,
            is_meaning=ranking.is_meaning,
            by_space=evidence.by_space if evidence else {},
        )
    if method.ranks_text_phrases(spec.parameters):
        problem = replace(problem, text_problem=build_text_problem(pair, problem))
    return problem, method.sort_phrases(problem)


def _find_query_side(spec: ComparisonSpec, pair: SidePair) -> Literal["a", "b"] | None:
    """Return the side that is a query to rank by, or None; only cda with log thresholds treats queries specially."""
    if spec.method != "cda" or spec.parameters.threshold != "log" or pair.a.kind == pair.b.kind:
        return None
    return "a" if pair.a.kind == "query" else "b" if pair.b.kind == "query" else None


def _fetch_neighbour_lemmas(pair: SidePair, graph: LocalGraph, groups: Groups) -> list[list[str]]:
    """Fetch the lemmas of the neighbourhood's documents, in one more request."""
    documents = pair.a.reader.fetch(graph.indexed_ids(), groups)
    return [document.tokens.split() for document in documents if document is not None]


class _StepTimer:
    """Measures the milliseconds of each step."""

    def __init__(self) -> None:
        self.ms: dict[str, float] = {}
        self._last = time.perf_counter()

    def record_step(self, name: str) -> None:
        """Record the time since the last step under this name."""
        now = time.perf_counter()
        self.ms[name] = round(1000 * (now - self._last), 2)
        self._last = now


def _ignore_progress(share: float, step: str) -> None:
    pass


def compare(
    a: str | Side,
    b: str | Side,
    *,
    index: str,
    engine: str | Engine | Comparer | None = None,
    method: str = "cda",
    preset: str = "default",
    graph: str | bool = "neighbourhood",
    **options: Any,
) -> Comparison:
    """Compare two sides of an index.

    Parameters
    ----------
    a, b
        The sides, written as on the shell: an id, or ``id:…``, ``ids:…,…``, ``search:…``, ``query:…``, ``text:…``,
        ``file:…``. A query with a vector is ``Side.from_query(words, vector)``, a text with one
        ``Side.from_json({"text": …, "vector": […]})``.
    index
        Name of the index.
    engine
        Folder or URL of the engine, an open engine, or a Comparer; by default that of the settings. To compare many
        pairs, open a Comparer once and pass it here.
    method
        Name of the method, one of ``worker.methods.METHODS``.
    preset
        Parameters of the method: ``default`` or ``paper``.
    graph
        What to solve on: ``neighbourhood`` or ``full``; True puts the neighbourhood into the answer.
    **options
        ``cap``, ``candidates``, ``neighbours``, ``k`` and the parameters of the method, within ``OPTION_RANGES``.

    Returns
    -------
    Comparison
        Common and distinct phrases with their evidence; ``to_dict()`` is the JSON of the HTTP interface.

    Raises
    ------
    BadSide, UnknownMethod, BadParameter
        If a side, the method, the preset, the graph or an option is invalid.
    PhraseComError
        The errors of ``Comparer.compare``.
    """
    if not isinstance(graph, bool) and graph not in GRAPHS:
        raise BadParameter(f"no graph named {graph!r}", fix=f"use one of {', '.join(GRAPHS)}")
    sides = [side if isinstance(side, Side) else Side.from_text(side) for side in (a, b)]
    comparer = (
        engine if isinstance(engine, Comparer) else Comparer(engine if engine is not None else _get_default_engine())
    )
    try:
        spec = make_spec(
            index,
            *sides,
            method=method,
            preset=preset,
            options={"graph": graph is True, **options},
            is_full_graph=graph == "full",
        )
        return comparer.compare(spec)
    finally:
        if isinstance(engine, str) or engine is None:
            comparer.close()


def _get_default_engine() -> str:
    from indexer.settings import load_settings

    return load_settings().engine
