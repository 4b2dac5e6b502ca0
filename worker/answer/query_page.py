"""The reasons of all hits of a results page at once: against the query, and apart from the other hits.

No neighbourhood is fetched and nothing is solved. The phrases come from the hits, and the evidence from the spaces of
the index, so the page costs one fetch of its documents. The common phrases are those of the comparison of the hit with
the query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain

import numpy as np

from indexer.model.evidence_spaces import SPACE_NAMES, PhraseEvidence, SpaceName
from worker.answer.brief_reasons import HitReasons, Reason
from worker.answer.near_duplicates import NearDuplicates
from worker.answer.phrase_chooser import ChosenPhrase, PhraseChooser, round_score, round_space_scores
from worker.explain.neighbourhood import SidePair
from worker.explain.pair_features import build_problem, split_rows
from worker.explain.passage import find_passages
from worker.explain.phrase_evidence import measure_query_evidence
from worker.explain.query_match import QueryMatch
from worker.explain.resolved_side import ResolvedSide
from worker.explain.spec import ComparisonSpec
from worker.explain.text_candidates import build_page_text_problem
from worker.methods.base import PairProblem, RankedList
from worker.methods.query_ranking import QueryRanker, QueryRanking, TextPhrases, compute_distinct_odds
from worker.phrasing.proper_names import ProperNames


def explain_query_page(
    specs: Sequence[ComparisonSpec],
    pairs: Sequence[SidePair],
    matches: Sequence[QueryMatch | None],
    space_names: Collection[SpaceName] = SPACE_NAMES,
) -> list[HitReasons]:
    """Return the reasons of each hit, by evidence from the named spaces.

    Side a of each pair is a hit, side b the query of the page.
    """
    near_duplicates = NearDuplicates(pairs[0].a.reader.model)
    names: dict[ResolvedSide, ProperNames] = {}
    phrases_by_hit = [
        {phrase for document in pair.a.documents for phrase in document.phrases}.union(pair.a.salience)
        for pair in pairs
    ]
    hit_counts = Counter(chain.from_iterable(phrases_by_hit))
    rows_by_hit = split_rows(pairs)
    problem = build_problem(pairs, None, specs[0].parameters)
    evidence = measure_query_evidence(pairs[0].b, pairs, space_names)
    ranker = QueryRanker(problem, "b", evidence)
    query_words = pairs[0].b.encoded_text.words
    passages = find_passages(pairs[0].b, [pair.a for pair in pairs], matches)
    reasons = []
    text_phrases_by_hit = _rank_text_phrases(pairs, problem)
    by_hit = zip(specs, pairs, matches, passages, phrases_by_hit, rows_by_hit, text_phrases_by_hit, strict=True)
    for spec, pair, match, passage, held, rows, text_phrases in by_hit:
        phrases = pair.candidates.phrases
        others = np.array([hit_counts[phrase] > (phrase in held) for phrase in phrases], dtype=bool)
        ranking = ranker.rank(
            rows, query_words, pair.a.encoded_text.words, others, text_phrases=text_phrases, with_unlisted=not spec.cap
        )
        of_hit = [*phrases, *text_phrases.phrases]
        distinct_hit = _leave_out_phrases_of(
            [other.a for other in pairs if other is not pair], ranking.distinct_hit, of_hit
        )
        chooser = PhraseChooser(pair, spec.cap, near_duplicates, names)
        common = tuple(
            _make_common_reason(one, chooser.is_shared(one.phrase), rows, evidence, ranking)
            for one in chooser.choose(ranking.common, phrases, "common")
        )
        distinct = tuple(
            Reason(one.phrase, one.display, round_score(one.score), "distinct")
            for one in chooser.choose(distinct_hit, of_hit, "distinct")
        )
        reasons.append(HitReasons(common, distinct, match=match, passage=passage))
    return reasons


def _rank_text_phrases(pairs: Sequence[SidePair], problem: PairProblem) -> list[TextPhrases]:
    """Return the phrases that only the texts show, with their odds, for each hit."""
    built = build_page_text_problem(pairs, problem)
    if built is None:
        return [TextPhrases((), np.zeros(0))] * len(pairs)
    text_problem, rows_by_hit = built
    odds = compute_distinct_odds(text_problem, "b")
    return [TextPhrases(text_problem.phrases[rows], odds[rows]) for rows in rows_by_hit]


def _leave_out_phrases_of(sides: Sequence[ResolvedSide], ranked: RankedList, phrases: Sequence[str]) -> RankedList:
    """Return a ranking without the phrases that the text of another side contains in any segmentation."""
    is_kept = [not any(side.text.contains(phrases[i]) for side in sides) for i in ranked.indices.tolist()]
    if all(is_kept):
        return ranked
    keep = np.array(is_kept, dtype=bool)
    informative, fillers = (
        None if count is None else int(keep[:count].sum()) for count in (ranked.informative, ranked.fillers)
    )
    return RankedList(ranked.indices[keep], ranked.scores[keep], informative, fillers)


def _make_common_reason(
    chosen: ChosenPhrase, is_shared: bool, rows: slice, evidence: PhraseEvidence | None, ranking: QueryRanking
) -> Reason:
    """``rows``: of the hit in the evidence for the whole page."""
    score = round_score(chosen.score)
    if is_shared:
        return Reason(chosen.phrase, chosen.display, score, "shared")
    row = rows.start + chosen.row
    noise = None if evidence is None else round_score(float(evidence.noise[row]))
    if evidence is None or not ranking.is_meaning[chosen.row]:
        return Reason(chosen.phrase, chosen.display, score, "implied", noise)
    return Reason(chosen.phrase, chosen.display, score, "meaning", noise, round_space_scores(evidence.by_space, row))
