"""Measurements of a cold comparison against other ways to use the same documents, and against itself at other sizes."""

from __future__ import annotations

from typing import Any

from indexer.documents import Document
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from worker.benchmark.environment import EMBEDDED, BenchEnvironment, Unmeasured, build_ms_figures, compare_to_json
from worker.benchmark.replay import RequestRecording, make_more_like_this_search, record_requests
from worker.benchmark.rows import MeasuredFigures
from worker.benchmark.workload import make_two_sets

SET_SIZE = 1000
"""Documents of each side of a comparison of sets."""
MAX_FITTED = 2000
"""Documents that the TF-IDF model is fitted on."""
MAX_KEYWORDS = 30
"""Keywords extracted from a text: as many as a document has salient phrases."""


def measure_own_requests(environment: BenchEnvironment, engine_kind: str) -> MeasuredFigures:
    """Measure a comparison against nothing but the requests it makes, sent by the same client."""
    engine = _require_elasticsearch(environment, engine_kind)
    cold = environment.build_cold_step(engine_kind)
    cold(0)  # opens the index, which takes requests of its own
    recordings: list[RequestRecording] = []
    for case in range(len(environment.pairs)):
        with record_requests(engine) as recording:
            cold(case)
        recordings.append(recording)
    steps = {"ours": cold, "requests": lambda case: recordings[case].replay()}
    times = environment.time_steps(steps, len(recordings))
    note = f"{max(len(recording.requests) for recording in recordings)} requests"
    return build_ms_figures(times["ours"], times["requests"], note)


def measure_more_like_this(environment: BenchEnvironment, engine_kind: str) -> MeasuredFigures:
    """Measure a comparison against a search for ten documents like the first of the two."""
    engine, index = _require_elasticsearch(environment, engine_kind), environment.ensure_index(engine_kind)
    searches = [make_more_like_this_search(engine, index, pair.a) for pair in environment.pairs]
    steps = {"ours": environment.build_cold_step(engine_kind), "search": lambda case: searches[case]()}
    times = environment.time_steps(steps, len(searches))
    return build_ms_figures(times["ours"], times["search"])


def measure_yake(environment: BenchEnvironment, engine_kind: str) -> MeasuredFigures:
    """Measure a comparison against extracting YAKE's keywords from the same two texts."""
    try:
        import yake
    except ImportError:
        raise Unmeasured("yake is not installed: pip install yake") from None
    extractor = yake.KeywordExtractor(lan="en", n=3, top=MAX_KEYWORDS)
    texts = _fetch_texts_by_pair(environment)

    def extract_keywords(case: int) -> list[Any]:
        return [extractor.extract_keywords(text) for text in texts[case]]

    times = environment.time_steps(
        {"ours": environment.build_cold_step(engine_kind), "yake": extract_keywords}, len(texts)
    )
    return build_ms_figures(times["ours"], times["yake"])


def measure_tfidf(environment: BenchEnvironment, engine_kind: str) -> MeasuredFigures:
    """Measure a comparison against the largest differences and products of two TF-IDF vectors."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(ngram_range=(1, 3), min_df=2, stop_words="english")
    fit_count = min(MAX_FITTED, environment.corpus.document_count)
    vectorizer.fit(_join_text(document) for document in environment.corpus.read(fit_count))
    names = vectorizer.get_feature_names_out()
    texts = _fetch_texts_by_pair(environment)

    def build_lists(case: int) -> list[list[str]]:
        a, b = vectorizer.transform(texts[case]).toarray()
        scores = (np.sqrt(a * b), a - b, b - a)
        return [[str(names[i]) for i in np.argsort(-score)[:MAX_KEYWORDS] if score[i] > 0] for score in scores]

    times = environment.time_steps({"ours": environment.build_cold_step(engine_kind), "tfidf": build_lists}, len(texts))
    note = f"frequencies of {fit_count:,} documents; no neighbours, no evidence"
    return build_ms_figures(times["ours"], times["tfidf"], note)


def measure_growth(environment: BenchEnvironment, engine_kind: str) -> MeasuredFigures:
    """Measure comparisons on the whole corpus against the same ones on the small corpus."""
    small = environment.corpus.small_count
    steps = {"ours": environment.build_cold_step(engine_kind), "small": environment.build_cold_step(engine_kind, small)}
    times = environment.time_steps(steps, len(environment.pairs))
    note = f"{small:,} -> {environment.corpus.document_count:,} documents"
    return build_ms_figures(times["ours"], times["small"], note)


def measure_set_comparison(environment: BenchEnvironment, engine_kind: str) -> MeasuredFigures:
    """Measure a comparison of two large sets against that of one pair."""
    comparer, index = environment.get_comparer(engine_kind), environment.ensure_index(engine_kind)
    a, b = make_two_sets([document.id for document in environment.corpus.read(2 * SET_SIZE)], SET_SIZE)
    spec = comparer.make_spec(index, a, b)
    steps = {"ours": lambda case: compare_to_json(comparer, spec), "pair": environment.build_cold_step(engine_kind)}
    times = environment.time_steps(steps, min(20, len(environment.pairs)))
    return build_ms_figures(times["ours"], times["pair"], f"{len(a.ids):,} x {len(b.ids):,} documents")


def _require_elasticsearch(environment: BenchEnvironment, engine_kind: str) -> ElasticsearchEngine:
    engine = environment.engines[engine_kind]
    if not isinstance(engine, ElasticsearchEngine):
        raise Unmeasured("only Elasticsearch is called over a network")
    return engine


def _join_text(document: Document) -> str:
    return f"{document.title}. {document.text}"


def _fetch_texts_by_pair(environment: BenchEnvironment) -> list[list[str]]:
    """Return both texts of every pair."""
    pairs = environment.pairs
    index = environment.ensure_index(EMBEDDED, environment.corpus.small_count)
    reader = environment.engines[EMBEDDED].open_reader(index)
    ids = list(dict.fromkeys(id for pair in pairs for id in (pair.a, pair.b)))
    texts = {hit.document.id: _join_text(hit.document) for hit in reader.fetch(ids) if hit is not None}
    return [[texts[pair.a], texts[pair.b]] for pair in pairs]
