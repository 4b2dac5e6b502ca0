"""The cold comparison against other things one could do with the same two documents."""

from __future__ import annotations

from typing import Any

from indexer.documents import Document
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from worker import json_bytes
from worker.benchmark.environment import EMBEDDED, BenchEnvironment, Unmeasured, build_ms_figures, compare_to_json
from worker.benchmark.replay import RequestRecording, build_more_like_this, record_requests
from worker.benchmark.rows import MeasuredFigures
from worker.benchmark.timing import time_interleaved
from worker.benchmark.workload import split_into_sets

SET_SIZE = 1000
"""Documents of each side when sets are compared."""
MAX_FITTED = 2000
"""Documents that TF-IDF takes its frequencies from."""
MAX_KEYWORDS = 30
"""Keywords asked for: as many as a document has salient phrases."""


def measure_own_requests(environment: BenchEnvironment, kind: str) -> MeasuredFigures:
    """A comparison against the requests it makes, by the same client."""
    engine = _require_elasticsearch(environment, kind)
    cold = environment.build_cold_step(kind)
    cold(0)  # opens the index, which takes requests of its own
    taken: list[RequestRecording] = []
    for case in range(len(environment.pairs)):
        with record_requests(engine) as one:
            cold(case)
        taken.append(one)
    times = time_interleaved(
        {"ours": cold, "requests": lambda case: taken[case].replay()}, len(taken), environment.budget_seconds
    )
    note = f"{max(len(one.requests) for one in taken)} requests"
    return build_ms_figures(times["ours"], times["requests"], note)


def measure_more_like_this(environment: BenchEnvironment, kind: str) -> MeasuredFigures:
    """A comparison against a search for ten documents like the first of the two."""
    engine, index = _require_elasticsearch(environment, kind), environment.ensure_index(kind)
    searches = [build_more_like_this(engine, index, pair.a) for pair in environment.pairs]
    steps = {"ours": environment.build_cold_step(kind), "search": lambda case: searches[case]()}
    times = time_interleaved(steps, len(searches), environment.budget_seconds)
    return build_ms_figures(times["ours"], times["search"])


def measure_yake(environment: BenchEnvironment, kind: str) -> MeasuredFigures:
    """A comparison against YAKE's keywords of the same two texts."""
    try:
        import yake
    except ImportError:
        raise Unmeasured("yake is not installed: pip install yake") from None
    extractor = yake.KeywordExtractor(lan="en", n=3, top=MAX_KEYWORDS)
    texts = _fetch_texts(environment)

    def keywords(case: int) -> list[Any]:
        return [extractor.extract_keywords(text) for text in texts[case]]

    times = time_interleaved(
        {"ours": environment.build_cold_step(kind), "yake": keywords}, len(texts), environment.budget_seconds
    )
    return build_ms_figures(times["ours"], times["yake"])


def measure_tfidf(environment: BenchEnvironment, kind: str) -> MeasuredFigures:
    """A comparison against the largest differences and products of two TF-IDF vectors."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(ngram_range=(1, 3), min_df=2, stop_words="english")
    fitted = min(MAX_FITTED, environment.corpus.document_count)
    vectorizer.fit(_join_text(document) for document in environment.corpus.read(fitted))
    names = vectorizer.get_feature_names_out()
    texts = _fetch_texts(environment)

    def lists(case: int) -> list[list[str]]:
        a, b = vectorizer.transform(texts[case]).toarray()
        scores = (np.sqrt(a * b), a - b, b - a)
        return [[str(names[i]) for i in np.argsort(-score)[:MAX_KEYWORDS] if score[i] > 0] for score in scores]

    times = time_interleaved(
        {"ours": environment.build_cold_step(kind), "tfidf": lists}, len(texts), environment.budget_seconds
    )
    return build_ms_figures(
        times["ours"], times["tfidf"], f"frequencies of {fitted:,} documents; no neighbours, no evidence"
    )


def measure_growth(environment: BenchEnvironment, kind: str) -> MeasuredFigures:
    """The same comparisons on the whole corpus against the small one."""
    small = environment.corpus.small_count
    steps = {"ours": environment.build_cold_step(kind), "small": environment.build_cold_step(kind, small)}
    times = time_interleaved(steps, len(environment.pairs), environment.budget_seconds)
    return build_ms_figures(times["ours"], times["small"], f"{small:,} -> {environment.corpus.document_count:,} documents")


def measure_page(environment: BenchEnvironment, kind: str) -> MeasuredFigures:
    """Ten hits of a query explained together against one of them."""
    comparer, index = environment.get_comparer(kind), environment.ensure_index(kind)
    pages = [one.build_specs(comparer, index) for one in environment.pages]

    def together(case: int) -> list[bytes]:
        return [json_bytes.dumps(found.to_dict()) for found in comparer.explain(pages[case])]

    def one(case: int) -> bytes:
        return compare_to_json(comparer, pages[case][case % len(pages[case])])

    times = time_interleaved({"ours": together, "one": one}, len(pages), environment.budget_seconds)
    return build_ms_figures(times["ours"], times["one"], f"{max(map(len, pages))} hits")


def measure_sets(environment: BenchEnvironment, kind: str) -> MeasuredFigures:
    """Two large sets against one pair."""
    comparer, index = environment.get_comparer(kind), environment.ensure_index(kind)
    a, b = split_into_sets([document.id for document in environment.corpus.read(2 * SET_SIZE)], SET_SIZE)
    question = comparer.make_spec(index, a, b)
    steps = {"ours": lambda case: compare_to_json(comparer, question), "pair": environment.build_cold_step(kind)}
    times = time_interleaved(steps, min(20, len(environment.pairs)), environment.budget_seconds)
    return build_ms_figures(times["ours"], times["pair"], f"{len(a.ids):,} x {len(b.ids):,} documents")


def _require_elasticsearch(environment: BenchEnvironment, kind: str) -> ElasticsearchEngine:
    engine = environment.engines[kind]
    if not isinstance(engine, ElasticsearchEngine):
        raise Unmeasured("only Elasticsearch is asked over a network")
    return engine


def _join_text(document: Document) -> str:
    return f"{document.title}. {document.text}"


def _fetch_texts(environment: BenchEnvironment) -> list[list[str]]:
    """Both texts of every pair."""
    pairs = environment.pairs
    reader = environment.engines[EMBEDDED].open_reader(environment.ensure_index(EMBEDDED, environment.corpus.small_count))
    wanted = list(dict.fromkeys(id for pair in pairs for id in (pair.a, pair.b)))
    found = {one.document.id: _join_text(one.document) for one in reader.fetch(wanted) if one is not None}
    return [[found[pair.a], found[pair.b]] for pair in pairs]
