"""Quality of the reasons for a query's hits, on any index: complete, by every form of a word, honest.

*Complete*: queries are words of titles. A hit that holds a word of the query should be explained by that word, in
``matched`` or in ``common``. *Word forms*: a word in lower, upper and title case should have the lemma that it has in
the documents. The other parts stand in ``query_parts``, and the judgements of an editor in ``judged_hits``.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from indexer.documents import AnalysedDocument
from indexer.progress import Progress, no_progress
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import locate_tokens
from worker.comparer import Comparer
from worker.evaluation.judged_hits import JudgedHit, evaluate_judged_hits
from worker.evaluation.masked_phrases import sample_documents
from worker.evaluation.query_answers import HitAnswer, QueryRunner, fold_words
from worker.evaluation.query_parts.faithfulness import measure_faithfulness
from worker.evaluation.query_parts.meaning_hits import VectorHits, measure_meaning_hits
from worker.evaluation.query_parts.query_shares import pool_shares
from worker.evaluation.query_parts.unrelated_documents import list_folded_words, measure_unrelated
from worker.evaluation.sentence_encoder.text_vectors import TextEncoder

MAX_QUERY_WORDS = 3
"""Title words of the longest query."""
_POOL_SIZE = 2000
"""Documents drawn from the index, whose titles give queries and which are the unrelated documents."""


@dataclass(frozen=True, slots=True)
class QuerySample:
    """How much of an index is measured."""

    title_queries: int = 300
    hits: int = 10
    """Hits explained for each query."""
    unrelated: int = 10
    """Unrelated documents explained for each query."""
    documents: int = 20_000
    """Documents that word forms are read from, evenly spread over the index."""
    forms: int = 20_000
    """Word forms, drawn from all; 0 for all."""
    seed: int = 1


def evaluate_queries(
    comparer: Comparer,
    index: str,
    sample: QuerySample,
    *,
    queries: Sequence[str] = (),
    judged: Sequence[JudgedHit] = (),
    encoder: TextEncoder | None = None,
    only_by_space: bool = False,
    with_answers: bool = False,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Return the figures of an index, each part with its counts and its misses.

    Parameters
    ----------
    queries
        Queries that unrelated documents, and documents near by their vector, are explained against; by default words
        of titles.
    judged
        Hits with an editor's judgements; without them this part is left out.
    encoder
        Makes the vectors of queries, as it has made those of the documents; without it the parts ``meaning`` and
        ``faithful`` are left out.
    only_by_space
        Whether to leave out the parts ``complete`` and ``words``, which hardly depend on the spaces of evidence.
    with_answers
        Whether to list what was told for each hit.
    """
    runner = QueryRunner(comparer, index, None if encoder is None else make_query_encoder(encoder))
    pool = sample_documents(runner.reader, _POOL_SIZE, random.Random(sample.seed))
    title_queries = draw_title_queries(runner, pool, sample.title_queries, sample.seed)
    asked = list(queries) or title_queries
    answers: dict[str, list[HitAnswer]] = {"complete": [], "unrelated": [], "judged": [], "meaning": []}
    evaluation: dict[str, Any] = {"spaces": list(runner.space_names)}
    if not only_by_space:
        evaluation["complete"] = measure_completeness(runner, title_queries, sample, answers["complete"], progress)
        step = max(1, -(-runner.reader.info.documents // sample.documents))
        evaluation["words"] = measure_word_forms(runner, islice(runner.reader.scan(), 0, None, step), sample)
    evaluation["unrelated"] = measure_unrelated(
        runner, asked, pool, sample.unrelated, sample.seed, answers["unrelated"], progress
    )
    if judged:
        evaluation["judged"] = evaluate_judged_hits(runner, judged, sample.seed, answers["judged"], progress)
    if encoder is not None:
        nearest = VectorHits(runner)
        hits_by_query = {query: nearest.find(query, sample.hits) for query in asked}
        evaluation["meaning"] = measure_meaning_hits(
            runner, hits_by_query, answers["unrelated"], sample.seed, answers["meaning"], progress
        )
        evaluation["faithful"] = measure_faithfulness(runner, encoder, answers["meaning"], sample.seed, progress)
    if with_answers:
        evaluation["answers"] = {part: [answer.to_dict() for answer in told] for part, told in answers.items()}
    return evaluation


def make_query_encoder(encoder: TextEncoder) -> Callable[[str], Sequence[float]]:
    """Return a function that encodes each query once."""

    @cache
    def encode_query(query: str) -> list[float]:
        vector: list[float] = encoder.encode([query])[0].tolist()
        return vector

    return encode_query


def draw_title_queries(runner: QueryRunner, documents: Iterable[AnalysedDocument], count: int, seed: int) -> list[str]:
    """Draw up to ``count`` queries: one to three words of a title in their order, in lower case, no function words."""
    rng = random.Random(seed)
    queries: dict[str, None] = {}
    for document in documents:
        if len(queries) == count:
            break
        folded = fold_words(document.document.title)
        words = [word for word in dict.fromkeys(runner.select_content_words(folded)) if len(word) > 1]
        if words:
            chosen = sorted(rng.sample(range(len(words)), min(len(words), rng.randint(1, MAX_QUERY_WORDS))))
            queries[" ".join(words[i] for i in chosen)] = None
    return list(queries)


def measure_completeness(
    runner: QueryRunner, queries: Sequence[str], sample: QuerySample, answers: list[HitAnswer], progress: Progress
) -> dict[str, Any]:
    """Return the share of hits that are explained by a query word they hold, and of such words that are told.

    A hit holds a word if it has exactly this word, in any case. The answers are added to ``answers``.
    """
    hits: list[tuple[int, int]] = []
    words: list[tuple[int, int]] = []
    misses = []
    for done, query in enumerate(queries):
        asked = set(runner.select_content_words(fold_words(query)))
        held_by_id = {
            hit.id: asked.intersection(list_folded_words(hit.document)) for hit in runner.search(query, sample.hits)
        }
        held_by_id = {id: held for id, held in held_by_id.items() if held}
        told_hits = told_words = 0
        for answer in runner.explain(query, list(held_by_id)):
            answers.append(answer)
            held = held_by_id[answer.hit]
            untold = find_untold_words(runner, answer, held)
            told_hits += len(untold) < len(held)
            told_words += len(held) - len(untold)
            if untold:
                misses.append({"query": query, "hit": answer.hit, "untold": sorted(untold), "held": sorted(held)})
        hits.append((told_hits, len(held_by_id)))
        words.append((told_words, sum(map(len, held_by_id.values()))))
        progress("complete", done + 1, len(queries))
    shares = {"hits_told": hits, "words_told": words}
    return {"queries": len(queries), **pool_shares(shares, sample.seed), "misses": misses}


def find_untold_words(runner: QueryRunner, answer: HitAnswer, held: Iterable[str]) -> set[str]:
    """Return the held words that no reason has, neither the word itself nor its lemma."""
    told = frozenset[str]().union(*(entry.words for entry in runner.list_told_entries(answer)))
    words = list(held)
    lemmas = runner.lemmatize_all(words)
    return {word for word, own in zip(words, lemmas, strict=True) if word not in told and told.isdisjoint(own)}


def measure_word_forms(
    runner: QueryRunner, documents: Iterable[AnalysedDocument], sample: QuerySample
) -> dict[str, Any]:
    """Return how many words, written in lower, upper and title case, have the lemma of the documents that hold them.

    ``forms_met`` counts a form in one case if it meets all of these documents; ``documents_met`` counts documents.
    """
    holders, spellings = _count_holders(documents, runner.reader.model.lemmatizer)
    forms = sorted(holders)
    if sample.forms and len(forms) > sample.forms:
        forms = sorted(random.Random(sample.seed).sample(forms, sample.forms))
    variants = [(form, variant) for form in forms for variant in _list_case_variants(spellings[form])]
    lemmas_by_variant = runner.lemmatize_all([variant for _, variant in variants])
    met_forms = met_documents = document_count = 0
    misses = []
    for (form, variant), lemmas in zip(variants, lemmas_by_variant, strict=True):
        total = sum(holders[form].values())
        met = sum(count for own, count in holders[form].items() if not own.isdisjoint(lemmas))
        document_count += total
        met_documents += met
        met_forms += met == total
        if met < total:
            held_as = sorted(set().union(*holders[form]))
            misses.append({"form": variant, "lemma": " ".join(lemmas), "held_as": held_as, "met": met, "of": total})
    figures = {
        "forms_met": met_forms / len(variants) if variants else None,
        "documents_met": met_documents / document_count if document_count else None,
    }
    return {
        "forms": len(forms),
        "figures": figures,
        "of": {"forms_met": len(variants), "documents_met": document_count},
        "intervals": {},
        "misses": sorted(misses, key=lambda miss: (miss["met"] - miss["of"], miss["form"])),
    }


def _count_holders(
    documents: Iterable[AnalysedDocument], lemmatizer: Lemmatizer
) -> tuple[dict[str, Counter[frozenset[str]]], dict[str, str]]:
    """Return for each folded word how many documents hold it by which lemmas, and its first spelling."""
    holders: defaultdict[str, Counter[frozenset[str]]] = defaultdict(Counter)
    spellings: dict[str, str] = {}
    for analysed in documents:
        source = analysed.document
        words = [getattr(source, field)[start:end] for field, start, end in locate_tokens(source, lemmatizer)]
        lemmas_by_form: defaultdict[str, set[str]] = defaultdict(set)
        for word, lemma in zip(words, analysed.tokens.split(), strict=True):
            form = word.casefold()
            lemmas_by_form[form].add(lemma)
            spellings.setdefault(form, word)
        for form, lemmas in lemmas_by_form.items():
            holders[form][frozenset(lemmas)] += 1
    return holders, spellings


def _list_case_variants(word: str) -> list[str]:
    """Return a word in lower, upper and title case; a number has one form."""
    lower = word.lower()
    return list(dict.fromkeys((lower, word.upper(), lower[:1].upper() + lower[1:])))
