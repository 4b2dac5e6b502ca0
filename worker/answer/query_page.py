"""The reasons of all hits of a results page at once: against the query, and apart from the other hits.

No neighbourhood is fetched and nothing is solved. The phrases come from the hits, and the evidence from topic space, so
the page costs one fetch of its documents. The common phrases are those of the comparison of the hit with the query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from worker.answer.brief_reasons import HitReasons, Reason
from worker.answer.list_length import ListKind
from worker.answer.near_duplicates import NearDuplicates
from worker.answer.phrase_chooser import ChosenPhrase, PhraseChooser, round_score
from worker.explain.neighbourhood import SidePair
from worker.explain.pair_features import build_pair_problem
from worker.explain.query_match import QueryMatch
from worker.explain.resolved_side import ResolvedSide
from worker.explain.spec import ComparisonSpec
from worker.explain.topic_evidence import QueryTopic
from worker.methods.base import RankedList
from worker.methods.query_ranking import rank_for_query
from worker.phrasing.proper_names import ProperNames
from worker.solver.subgraph import Floats


def explain_query_page(
    specs: Sequence[ComparisonSpec], pairs: Sequence[SidePair], matches: Sequence[QueryMatch | None]
) -> list[HitReasons]:
    """Return the reasons of each hit; side a of each pair is a hit, side b the query of the page."""
    topic = QueryTopic(pairs[0].b, np.concatenate([pair.candidates.phrase_ids for pair in pairs]))
    near_duplicates = NearDuplicates(pairs[0].a.reader.model)
    names: dict[ResolvedSide, ProperNames] = {}
    phrases_by_hit = [
        {phrase for document in pair.a.documents for phrase in document.phrases}.union(pair.a.salience)
        for pair in pairs
    ]
    hit_counts = Counter(phrase for phrases in phrases_by_hit for phrase in phrases)
    reasons = []
    for spec, pair, match, held in zip(specs, pairs, matches, phrases_by_hit, strict=True):
        problem = build_pair_problem(pair, None, spec.parameters)
        evidence = topic.measure_evidence(pair.a, pair.candidates.phrase_ids)
        others = np.array([hit_counts[phrase] > (phrase in held) for phrase in problem.phrases], dtype=bool)
        ranking = rank_for_query(
            problem, "b", evidence.strength if evidence.is_measured else None, evidence.noise, others
        )
        chooser = PhraseChooser(pair, spec.cap, near_duplicates, names)
        lists = _ListMaker(chooser, pair, evidence.noise if evidence.is_measured else None)
        reasons.append(
            HitReasons(lists.make(ranking.common, "common"), lists.make(ranking.distinct_hit, "distinct"), match=match)
        )
    return reasons


class _ListMaker:
    """Makes the lists of one hit."""

    def __init__(self, chooser: PhraseChooser, pair: SidePair, noise: Floats | None) -> None:
        self._chooser, self._pair, self._noise = chooser, pair, noise

    def make(self, ranked: RankedList, kind: ListKind) -> tuple[Reason, ...]:
        chosen = self._chooser.choose(ranked, self._pair.candidates.phrases, kind)
        return tuple(self._make_reason(one, kind) for one in chosen)

    def _make_reason(self, chosen: ChosenPhrase, kind: ListKind) -> Reason:
        score = round_score(chosen.score)
        if kind == "distinct":
            return Reason(chosen.phrase, chosen.display, score, "distinct")
        if self._pair.a.text.contains(chosen.phrase) and self._pair.b.text.contains(chosen.phrase):
            return Reason(chosen.phrase, chosen.display, score, "shared")
        noise = None if self._noise is None else round_score(float(self._noise[chosen.row]))
        return Reason(chosen.phrase, chosen.display, score, "implied", noise)
