"""Quality of the reasons for a query's hits, on any index: complete, by every form of a word, honest.

*Complete*: queries are words of titles. A hit that holds a word of the query should be explained by that word, in
``matched`` or in ``common``. *Word forms*: a word in lower, upper and title case should have the lemma that it has in
the documents. *Unrelated documents*: random documents that have no word of the query, nor one of the same family,
should get no entry in ``common``. Judgements of an editor are measured by ``judged_hits``.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from indexer.documents import AnalysedDocument
from indexer.progress import Progress, no_progress
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import locate_tokens
from worker.comparer import Comparer
from worker.evaluation.judged_hits import RESAMPLES, JudgedHit, evaluate_judged_hits
from worker.evaluation.masked_phrases import sample_documents
from worker.evaluation.quality_metrics import compute_interval
from worker.evaluation.query_answers import HitAnswer, QueryRunner, fold_words
from worker.explain.text.partial_match import MIN_STEM_LENGTH, is_same_word_family

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
    with_answers: bool = False,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Return the figures of an index, each part with its counts and its misses.

    Parameters
    ----------
    queries
        Queries that unrelated documents are explained against; by default words of titles.
    judged
        Hits with an editor's judgements; without them this part is left out.
    with_answers
        Whether to list what was told for each hit.
    """
    runner = QueryRunner(comparer, index)
    pool = sample_documents(runner.reader, _POOL_SIZE, random.Random(sample.seed))
    step = max(1, -(-runner.reader.info.documents // sample.documents))
    title_queries = draw_title_queries(runner, pool, sample.title_queries, sample.seed)
    answers: dict[str, list[HitAnswer]] = {"complete": [], "unrelated": [], "judged": []}
    evaluation: dict[str, Any] = {
        "complete": measure_completeness(runner, title_queries, sample, answers["complete"], progress),
        "words": measure_word_forms(runner, islice(runner.reader.scan(), 0, None, step), sample),
        "unrelated": measure_unrelated(
            runner, list(queries) or title_queries, pool, sample, answers["unrelated"], progress
        ),
    }
    if judged:
        evaluation["judged"] = evaluate_judged_hits(runner, judged, sample.seed, answers["judged"], progress)
    if with_answers:
        evaluation["answers"] = {part: [answer.to_dict() for answer in told] for part, told in answers.items()}
    return evaluation


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
            hit.id: asked.intersection(_list_folded_words(hit.document)) for hit in runner.search(query, sample.hits)
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
    return {"queries": len(queries), **_pool_shares(shares, sample.seed), "misses": misses}


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


def measure_unrelated(
    runner: QueryRunner,
    queries: Sequence[str],
    pool: Sequence[AnalysedDocument],
    sample: QuerySample,
    answers: list[HitAnswer],
    progress: Progress,
) -> dict[str, Any]:
    """Return the share of unrelated documents that get an entry in ``common``; the answers are added to ``answers``."""
    drawer = UnrelatedDrawer(runner, pool)
    told: list[tuple[int, int]] = []
    for done, query in enumerate(queries):
        page = runner.explain(query, drawer.draw(query, sample.unrelated, sample.seed))
        answers += page
        told.append((sum(bool(answer.common) for answer in page), len(page)))
        progress("unrelated", done + 1, len(queries))
    return {"queries": len(queries), **_pool_shares({"unrelated_told": told}, sample.seed)}


class UnrelatedDrawer:
    """Draws documents that have no word of a query, by lemma or by spelling, and none of the same word family."""

    def __init__(self, runner: QueryRunner, pool: Sequence[AnalysedDocument]) -> None:
        self._runner = runner
        self._words_by_id = {
            document.document.id: frozenset([*_list_folded_words(document), *document.tokens.split()])
            for document in pool
        }
        self._words_by_stem: defaultdict[str, list[str]] = defaultdict(list)
        for word in frozenset[str]().union(*self._words_by_id.values()):
            self._words_by_stem[word[:MIN_STEM_LENGTH]].append(word)

    def draw(self, query: str, count: int, seed: int) -> list[str]:
        """Return the ids of up to ``count`` documents; other queries do not change them."""
        related = self._find_related_words(query)
        ids = list(self._words_by_id)
        random.Random(f"{seed}:{query}").shuffle(ids)
        return list(islice((id for id in ids if related.isdisjoint(self._words_by_id[id])), count))

    def _find_related_words(self, query: str) -> set[str]:
        words = self._runner.select_content_words(fold_words(query))
        asked = set(words).union(*self._runner.lemmatize_all(words))
        families = (
            other
            for word in asked
            for other in self._words_by_stem.get(word[:MIN_STEM_LENGTH], ())
            if is_same_word_family(word, other)
        )
        return asked.union(families)


def _list_folded_words(document: AnalysedDocument) -> list[str]:
    return [*fold_words(document.document.title), *fold_words(document.document.text)]


def _pool_shares(counts_by_figure: Mapping[str, Sequence[tuple[int, int]]], seed: int) -> dict[str, Any]:
    """Return shares pooled over queries, their 95 % intervals resampled by query, and what each is a share of.

    ``counts_by_figure``: for each figure the part and the total of every query.
    """
    row: dict[str, dict[str, Any]] = {"figures": {}, "of": {}, "intervals": {}}
    for name, pairs in counts_by_figure.items():
        counts = np.array(pairs, dtype=np.float64).reshape(-1, 2)
        part, total = counts.sum(axis=0).tolist()
        row["figures"][name], row["of"][name] = part / total if total else None, int(total)
        rng = np.random.default_rng(seed)
        draws = (
            counts[rng.integers(0, len(counts), len(counts))].sum(axis=0) for _ in range(RESAMPLES if total else 0)
        )
        samples = [float(part / total) for part, total in draws if total]
        if samples:
            row["intervals"][name] = compute_interval(samples)
    return row
