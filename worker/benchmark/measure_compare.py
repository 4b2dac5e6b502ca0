"""The cold comparison against other things one could do with the same two documents."""

from __future__ import annotations

from typing import Any

from indexer.documents import Document
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from worker import json_bytes
from worker.benchmark.environment import EMBEDDED, Setting, Unmeasured, answer, in_ms
from worker.benchmark.replay import Recording, more_like_this, recording
from worker.benchmark.rows import Figures
from worker.benchmark.timing import interleaved
from worker.benchmark.workload import sets

SET = 1000
"""Documents of each side when sets are compared."""
FITTED = 2000
"""Documents that TF-IDF takes its frequencies from."""
TOP = 30
"""Keywords asked for: as many as a document has salient phrases."""


def own_requests(setting: Setting, kind: str) -> Figures:
    """A comparison against the requests it makes, by the same client."""
    engine = _elasticsearch(setting, kind)
    cold = setting.cold(kind)
    cold(0)  # opens the index, which takes requests of its own
    taken: list[Recording] = []
    for case in range(len(setting.drawn[0])):
        with recording(engine) as one:
            cold(case)
        taken.append(one)
    times = interleaved({"ours": cold, "requests": lambda case: taken[case].replay()}, len(taken), setting.budget)
    note = f"{max(len(one.requests) for one in taken)} requests"
    return in_ms(times["ours"], times["requests"], note)


def like_this(setting: Setting, kind: str) -> Figures:
    """A comparison against a search for ten documents like the first of the two."""
    engine, index = _elasticsearch(setting, kind), setting.index(kind)
    searches = [more_like_this(engine, index, pair.a) for pair in setting.drawn[0]]
    steps = {"ours": setting.cold(kind), "search": lambda case: searches[case]()}
    times = interleaved(steps, len(searches), setting.budget)
    return in_ms(times["ours"], times["search"])


def yake_keywords(setting: Setting, kind: str) -> Figures:
    """A comparison against YAKE's keywords of the same two texts."""
    try:
        import yake
    except ImportError:
        raise Unmeasured("yake is not installed: pip install yake") from None
    extractor = yake.KeywordExtractor(lan="en", n=3, top=TOP)
    texts = _texts(setting)

    def keywords(case: int) -> list[Any]:
        return [extractor.extract_keywords(text) for text in texts[case]]

    times = interleaved({"ours": setting.cold(kind), "yake": keywords}, len(texts), setting.budget)
    return in_ms(times["ours"], times["yake"])


def tfidf_difference(setting: Setting, kind: str) -> Figures:
    """A comparison against the largest differences and products of two TF-IDF vectors."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(ngram_range=(1, 3), min_df=2, stop_words="english")
    fitted = min(FITTED, setting.corpus.documents)
    vectorizer.fit(_text(document) for document in setting.corpus.read(fitted))
    names = vectorizer.get_feature_names_out()
    texts = _texts(setting)

    def lists(case: int) -> list[list[str]]:
        a, b = vectorizer.transform(texts[case]).toarray()
        scores = (np.sqrt(a * b), a - b, b - a)
        return [[str(names[i]) for i in np.argsort(-score)[:TOP] if score[i] > 0] for score in scores]

    times = interleaved({"ours": setting.cold(kind), "tfidf": lists}, len(texts), setting.budget)
    return in_ms(times["ours"], times["tfidf"], f"frequencies of {fitted:,} documents; no neighbours, no evidence")


def growth(setting: Setting, kind: str) -> Figures:
    """The same comparisons on the whole corpus against the small one."""
    small = setting.corpus.small
    steps = {"ours": setting.cold(kind), "small": setting.cold(kind, small)}
    times = interleaved(steps, len(setting.drawn[0]), setting.budget)
    return in_ms(times["ours"], times["small"], f"{small:,} -> {setting.corpus.documents:,} documents")


def page(setting: Setting, kind: str) -> Figures:
    """Ten hits of a query explained together against one of them."""
    comparer, index = setting.comparer(kind), setting.index(kind)
    pages = [one.questions(comparer, index) for one in setting.drawn[1]]

    def together(case: int) -> list[bytes]:
        return [json_bytes.dumps(found.to_dict()) for found in comparer.explain(pages[case])]

    def one(case: int) -> bytes:
        return answer(comparer, pages[case][case % len(pages[case])])

    times = interleaved({"ours": together, "one": one}, len(pages), setting.budget)
    return in_ms(times["ours"], times["one"], f"{max(map(len, pages))} hits")


def set_comparison(setting: Setting, kind: str) -> Figures:
    """Two large sets against one pair."""
    comparer, index = setting.comparer(kind), setting.index(kind)
    a, b = sets([document.id for document in setting.corpus.read(2 * SET)], SET)
    question = comparer.question(index, a, b)
    steps = {"ours": lambda case: answer(comparer, question), "pair": setting.cold(kind)}
    times = interleaved(steps, min(20, len(setting.drawn[0])), setting.budget)
    return in_ms(times["ours"], times["pair"], f"{len(a.ids):,} x {len(b.ids):,} documents")


def _elasticsearch(setting: Setting, kind: str) -> ElasticsearchEngine:
    engine = setting.engines[kind]
    if not isinstance(engine, ElasticsearchEngine):
        raise Unmeasured("only Elasticsearch is asked over a network")
    return engine


def _text(document: Document) -> str:
    return f"{document.title}. {document.text}"


def _texts(setting: Setting) -> list[list[str]]:
    """Both texts of every pair."""
    pairs = setting.drawn[0]
    reader = setting.engines[EMBEDDED].open(setting.index(EMBEDDED, setting.corpus.small))
    wanted = list(dict.fromkeys(id for pair in pairs for id in (pair.a, pair.b)))
    found = {one.document.id: _text(one.document) for one in reader.fetch(wanted) if one is not None}
    return [[found[pair.a], found[pair.b]] for pair in pairs]
