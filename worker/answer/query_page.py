"""The reasons of all hits of a results page at once: against the query, and apart from the other hits.

No neighbourhood is fetched and nothing is solved. The phrases come from the hits, and the evidence from topic space, so
the page costs one fetch of its documents. The common phrases are those of the comparison of the hit with the query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np

from worker.answer.brief_reasons import HitReasons, Reason
from worker.answer.near_duplicates import NearDuplicates
from worker.answer.phrase_chooser import ChosenPhrase, PhraseChooser, round_score
from worker.explain.neighbourhood import SidePair
from worker.explain.pair_features import build_pair_problem
from worker.explain.query_match import QueryMatch
from worker.explain.resolved_side import ResolvedSide
from worker.explain.spec import ComparisonSpec
from worker.explain.topic_evidence import QueryTopic
from worker.methods.base import TopicEvidence
from worker.methods.query_ranking import rank_for_query
from worker.phrasing.proper_names import ProperNames


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
        ranking = rank_for_query(problem, "b", evidence, others)
        chooser = PhraseChooser(pair, spec.cap, near_duplicates, names)
        common = tuple(
            _make_common_reason(one, chooser.is_shared(one.phrase), evidence)
            for one in chooser.choose(ranking.common, problem.phrases, "common")
        )
        distinct = tuple(
            Reason(one.phrase, one.display, round_score(one.score), "distinct")
            for one in chooser.choose(ranking.distinct_hit, problem.phrases, "distinct")
        )
        reasons.append(HitReasons(common, distinct, match=match))
    return reasons


def _make_common_reason(chosen: ChosenPhrase, is_shared: bool, evidence: TopicEvidence | None) -> Reason:
    noise = None if is_shared or evidence is None else round_score(float(evidence.noise[chosen.row]))
    kind: Literal["shared", "implied"] = "shared" if is_shared else "implied"
    return Reason(chosen.phrase, chosen.display, round_score(chosen.score), kind, noise)
