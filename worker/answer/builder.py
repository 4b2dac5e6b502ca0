"""From the result of a method to an answer: ranked, merged and capped lists with their evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indexer.model.phrase_model import PhraseModel
from worker.answer.bridges import BridgeFinder
from worker.answer.comparison import Candidate, Comparison, Entry, NoEvidence, Stats
from worker.answer.graph_view import build_graph_view
from worker.answer.list_length import ListKind
from worker.answer.near_duplicates import NearDuplicates
from worker.answer.nested_relevance import WordRelevance
from worker.answer.phrase_chooser import ChosenPhrase, PhraseChooser, round_score, round_space_scores
from worker.answer.snippets import SnippetFinder
from worker.answer.summary import write_summary
from worker.explain.neighbourhood import LocalGraph, SidePair
from worker.explain.passage import find_passage
from worker.explain.query_match import QueryMatch
from worker.explain.resolved_side import ResolvedSide
from worker.explain.spec import ComparisonSpec
from worker.methods.base import MethodResult, PairProblem, RankedList
from worker.phrasing.proper_names import ProperNames


@dataclass(frozen=True, eq=False)
class SolvedPair:
    """A pair with its graph, its features and the method's result."""

    pair: SidePair
    graph: LocalGraph
    problem: PairProblem
    result: MethodResult


class AnswerBuilder:
    """Builds answers on one epoch; those of a page share its caches of near-duplicates and proper names."""

    def __init__(self, model: PhraseModel) -> None:
        self.near_duplicates = NearDuplicates(model)
        self.names_by_side: dict[ResolvedSide, ProperNames] = {}

    def build_answer(self, spec: ComparisonSpec, solved: SolvedPair, match: QueryMatch | None = None) -> Comparison:
        """Return the answer without its timings; ``match``: the words of the query, if one side is a query."""
        entries, result = _EntryBuilder(spec, solved, self), solved.result
        common = entries.build_list(result.common, "common")
        distinct_a = entries.build_list(result.distinct_a, "distinct")
        distinct_b = entries.build_list(result.distinct_b, "distinct")
        sides = (solved.pair.a, solved.pair.b)
        hit, query = sides if sides[1].kind == "query" else sides[::-1]
        passage = find_passage(query, hit, match)
        is_told = bool((match and match.matched) or passage or common or distinct_a or distinct_b)
        info = sides[0].reader.info
        a, b = (side.describe() for side in sides)
        versions = {d.document.id: d.version for side in sides if not side.is_ad_hoc for d in side.documents}
        return Comparison(
            id=spec.compute_answer_id(info.epoch, versions),
            index=spec.index,
            epoch=info.epoch,
            method=spec.method,
            preset=spec.preset,
            a=a,
            b=b,
            summary=write_summary(a, b, common, distinct_a, distinct_b, match),
            match=match,
            passage=passage,
            common=common,
            distinct_a=distinct_a,
            distinct_b=distinct_b,
            stats=_collect_stats(solved),
            no_evidence=None if is_told else _explain_empty_answer(solved),
            candidates=_list_candidates_by_side(solved) if spec.with_candidates else None,
            graph=build_graph_view(solved.graph, solved.problem, result) if spec.with_graph else None,
        )


class _EntryBuilder:
    """Builds the entries of one answer."""

    def __init__(self, spec: ComparisonSpec, solved: SolvedPair, shared: AnswerBuilder) -> None:
        self._a, self._b = solved.pair.a, solved.pair.b
        self._snippets_a, self._snippets_b = SnippetFinder(self._a, "a"), SnippetFinder(self._b, "b")
        self._result, self._candidates = solved.result, solved.pair.candidates
        edges = (self._candidates.edges_a, self._candidates.edges_b)
        self._has_edge = [np.any(own, axis=1).tolist() for own in edges]
        """For each side, which candidates have an edge to it."""
        self._word_relevance_a = WordRelevance(self._a, self._candidates.edges_a, self._candidates)
        self._word_relevance_b = WordRelevance(self._b, self._candidates.edges_b, self._candidates)
        self._row_by_phrase = {phrase: row for row, phrase in enumerate(self._candidates.phrases)}
        self._chooser = PhraseChooser(solved.pair, spec.cap, shared.near_duplicates, shared.names_by_side)
        contains_any_word = self._a.text.contains_any_word, self._b.text.contains_any_word
        self._bridges = BridgeFinder(
            solved.graph, solved.problem, shared.near_duplicates, self._result.exact_relevance, contains_any_word
        )

    def build_list(self, ranked: RankedList, kind: ListKind) -> tuple[Entry, ...]:
        return tuple(
            self._build_entry(chosen, kind) for chosen in self._chooser.choose(ranked, self._result.phrases, kind)
        )

    def _build_entry(self, chosen: ChosenPhrase, kind: ListKind) -> Entry:
        phrase, row = chosen.phrase, chosen.row
        count_a, count_b = self._a.text.count(phrase), self._b.text.count(phrase)
        is_implied = kind == "common" and not (count_a and count_b)
        is_meaning = is_implied and self._result.is_meaning is not None and bool(self._result.is_meaning[row])
        return Entry(
            phrase=phrase,
            display=chosen.display,
            score=round_score(chosen.score),
            kind="meaning" if is_meaning else "implied" if is_implied else "shared" if kind == "common" else "distinct",
            count_a=count_a,
            count_b=count_b,
            relevance_a=self._get_shown_relevance(phrase, self._a, float(self._result.relevance_a[row]), count_a),
            relevance_b=self._get_shown_relevance(phrase, self._b, float(self._result.relevance_b[row]), count_b),
            evidence=(
                *(self._snippets_a.find(phrase) if count_a else ()),
                *(self._snippets_b.find(phrase) if count_b else ()),
            ),
            also=chosen.also,
            reasons=self._bridges.explain_phrase(phrase, lacking="b" if count_a else "a") if is_implied else None,
            noise=self._get_noise(row) if is_implied else None,
            spaces=round_space_scores(self._result.by_space, row) if is_meaning else None,
        )

    def _get_noise(self, row: int) -> float | None:
        return None if self._result.noise is None else round_score(float(self._result.noise[row]))

    def _get_shown_relevance(self, phrase: str, side: ResolvedSide, relevance: float, count: int) -> float:
        """Return the method's relevance, or that of the words of a phrase that occurs without an edge to the side."""
        row = self._row_by_phrase.get(phrase)
        if not count or (relevance > 0 and (row is None or self._has_edge[side is not self._a][row])):
            return round_score(relevance)
        word_relevance = self._word_relevance_a if side is self._a else self._word_relevance_b
        by_words = word_relevance.compute(phrase, 0.0 if row is None else float(self._candidates.degrees[row]))
        return round_score(max(relevance, by_words))


def _list_candidates_by_side(solved: SolvedPair) -> dict[str, tuple[Candidate, ...]]:
    """Return the salient phrases of both sides with their margin, the lowest one if the method sorts other words."""
    pair, result = solved.pair, solved.result
    margin = dict(zip(result.phrases, result.margin.tolist(), strict=True))
    lowest = float(np.min(result.margin, initial=0.0))

    def make_candidates(phrases: tuple[str, ...], salience: dict[str, float]) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(p, round_score(salience.get(p, 0.0)), round_score(margin.get(p, lowest))) for p in phrases
        )

    return {
        "a": make_candidates(pair.candidates.salient_a, pair.a.salience),
        "b": make_candidates(pair.candidates.salient_b, pair.b.salience),
    }


def _collect_stats(solved: SolvedPair) -> Stats:
    graph = solved.graph
    return Stats(
        phrases=len(graph.phrases),
        documents=len(graph.ids),
        edges=graph.subgraph.edge_count,
        iterations=solved.result.iterations,
        rounds=solved.result.rounds,
        notes=(*solved.result.notes, *_collect_notes(solved)),
        reached=graph.reached_count,
        left_out=round_score(graph.left_out_share),
    )


def _collect_notes(solved: SolvedPair) -> list[str]:
    """Return remarks that help a reader to judge the answer."""
    a, b = solved.pair.a, solved.pair.b
    notes = []
    if a.graph_ids == b.graph_ids:
        notes.append("both sides are the same")
    notes += [
        f"{name} contains no phrase of the index"
        for name, side in (("A", a), ("B", b))
        if not side.salience and (a.salience or b.salience) and not side.side.is_only_vector
    ]
    if not solved.graph.neighbour_count:
        notes.append("no other document in the index links the two; phrases they share in other words may be missing")
    return notes


def _explain_empty_answer(solved: SolvedPair) -> NoEvidence:
    for side, letter in ((solved.pair.a, "A"), (solved.pair.b, "B")):
        if not side.salience and not side.side.is_only_vector:
            return NoEvidence("no-phrases", f"{letter} contains no phrase of the index: it is empty or too short")
    result = solved.result
    if len(result.common) or len(result.distinct_a) or len(result.distinct_b):
        return NoEvidence("nothing-found", "no phrase is strong enough for either side; a cap of 0 lists them all")
    return NoEvidence("nothing-found", "no phrase is relevant enough to either side")
