"""A corpus above the bounds is mined from a sample, and counted, analysed and written as a whole."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexer.documents import AnalysedDocument, Document
from indexer.engines import open_engine
from indexer.engines.base import Engine, Reader
from indexer.indexing.build import AnalysisOptions, BuildReport, build_index
from indexer.indexing.update import add_documents, delete_documents, refresh_index
from indexer.mining import streamed_corpus
from indexer.mining.pipeline import mine_model
from indexer.mining.streamed_corpus import count_corpus
from indexer.model.bm25 import Bm25Scorer, idf
from indexer.model.phrase_model import PhraseModel
from indexer.runtime.document_spool import DocumentSpool
from indexer.vectors import TEXT_VECTOR_SETTING, VECTOR_SETTING, encode_vector
from tests.support.command_line import RunCommand
from tests.support.corpora.small_corpus import generate_documents, write_jsonl

INDEX = "made-up"
SAMPLED = AnalysisOptions(sample_documents=80)
SMALL_BATCHES = {
    "indexer.analysis.analyzer.BATCH_SIZE": 32,
    "indexer.analysis.text_vectors._PART_DOCUMENTS": 32,
    "indexer.runtime.arrival_ids._GROUP_IDS": 8,
    "indexer.runtime.arrival_ids._RUN_IDS": 128,
    "indexer.engines.embedded.forward_index_writer.BATCH_DOCUMENTS": 128,
    "indexer.engines.embedded.phrase_graph_writer.BATCH_DOCUMENTS": 128,
    "indexer.engines.embedded.vectors.vector_index_writer.BATCH_ROWS": 128,
    "indexer.mining.streamed_corpus.PART_DOCUMENTS": 32,
    "indexer.runtime.document_spool._PROGRESS_INTERVAL": 32,
}
"""Documents that are in memory at a time, so that a corpus of some hundreds has many of them."""


def make_documents(count: int) -> list[Document]:
    """Return documents with words of their own, and some that few others have."""
    return [
        replace(document, text=f"{document.text} A neologism{number} and rareword{number % 50} were there.")
        for number, document in enumerate(generate_documents(count))
    ]


def build(
    engine: Engine, documents: list[Document], analysis: AnalysisOptions = SAMPLED, processes: int = 1
) -> BuildReport:
    return build_index(iter(documents), engine, INDEX, analysis, processes=processes)


def test_a_corpus_within_the_bounds_is_mined_as_without_any(engine: Engine) -> None:
    documents = make_documents(90)
    size = sum(len(document.title.encode()) + len(document.text.encode()) for document in documents)
    models = []
    for bounds in ({"sample_documents": 0, "sample_bytes": 0}, {"sample_documents": 90, "sample_bytes": size}):
        report = build(engine, documents, AnalysisOptions(**bounds))
        assert (report.documents, report.mined_documents) == (90, 90)
        models.append(engine.open_reader(INDEX).model.to_bytes())
    assert models[0] == models[1]


@pytest.mark.parametrize("bounds", [{"sample_documents": 89}, {"sample_bytes": 20_000}])
def test_a_corpus_above_a_bound_is_mined_from_a_sample(tantivy_engine: Engine, bounds: dict[str, int]) -> None:
    report = build(tantivy_engine, make_documents(90), AnalysisOptions(**bounds))
    assert 20 < report.mined_documents < 90 == report.documents
    info = tantivy_engine.open_reader(INDEX).info
    assert info.settings["mined_documents"] == report.mined_documents
    assert AnalysisOptions.from_index(info) == AnalysisOptions(**bounds)


def test_counting_the_documents_that_were_mined_gives_the_model_that_mining_gives() -> None:
    with DocumentSpool().fill(make_documents(120)) as spool:
        mined = mine_model(spool)
        counted, _ = count_corpus(mined, spool)
    assert counted.to_bytes() == replace(mined, settings=counted.settings).to_bytes()
    assert counted.settings == mined.settings


def test_the_sample_does_not_depend_on_the_order_of_the_documents(tantivy_engine: Engine) -> None:
    documents = make_documents(200)
    models = []
    for seed in (1, 2):
        random.Random(seed).shuffle(documents)
        build(tantivy_engine, documents)
        models.append(tantivy_engine.open_reader(INDEX).model)
    first, second = models
    for name in ("phrases", "display_forms", "words"):
        assert list(getattr(first, name)) == list(getattr(second, name))
    for name in ("quality", "document_frequency", "word_document_frequency", "topic_vectors", "reservoir_vectors"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
    np.testing.assert_allclose(first.degree, second.degree, rtol=1e-12)


def test_how_many_processes_share_a_sampled_build_makes_no_difference(tantivy_engine: Engine, tmp_path: Path) -> None:
    documents = make_documents(1200)
    build(tantivy_engine, documents)
    with open_engine(str(tmp_path / "other")) as other:
        build(other, documents, processes=2)
        assert other.open_reader(INDEX).model.to_bytes() == tantivy_engine.open_reader(INDEX).model.to_bytes()
        assert list(other.open_reader(INDEX).scan()) == list(tantivy_engine.open_reader(INDEX).scan())


def test_the_statistics_of_a_sampled_build_are_those_of_all_documents(engine: Engine) -> None:
    documents = make_documents(300)
    report = build(engine, documents)
    reader = engine.open_reader(INDEX)
    model, analysed = reader.model, list(reader.scan())
    assert report.mined_documents == 80
    assert sorted(each.document.id for each in analysed) == sorted(document.id for document in documents)
    check_words(model, analysed)
    check_phrases(model, analysed)
    assert report.edges == sum(len(each.phrases) for each in analysed)


def check_words(model: PhraseModel, analysed: list[AnalysedDocument]) -> None:
    tokens = [each.tokens.split() for each in analysed]
    frequency = Counter(word for words in tokens for word in set(words))
    assert model.document_count == len(tokens)
    assert model.average_length == pytest.approx(sum(map(len, tokens)) / len(tokens))
    assert dict(zip(model.words, model.word_document_frequency.tolist(), strict=True)) == frequency


def check_phrases(model: PhraseModel, analysed: list[AnalysedDocument]) -> None:
    """Compare with counts of what the engine has, whose weights are BM25 over all documents."""
    frequency, degree, background = Counter[str](), Counter[str](), Counter[str]()
    scorer = Bm25Scorer(model)
    for each in analysed:
        weights = scorer.score_phrases(each.tokens.split(), each.phrases)
        np.testing.assert_allclose(each.weights, weights, rtol=1e-5)
        assert each.degree == pytest.approx(weights.sum(), rel=1e-5)
        for phrase, weight in zip(each.phrases, weights.tolist(), strict=True):
            frequency[phrase] += 1
            degree[phrase] += weight
            background[phrase] += weight / weights.sum() ** 0.5
    names = list(model.phrases)
    assert model.document_frequency.tolist() == [frequency[name] for name in names]
    np.testing.assert_allclose(model.degree, [degree[name] for name in names])
    expected = [background[name] / degree[name] ** 0.5 if degree[name] else 0.0 for name in names]
    np.testing.assert_allclose(model.background, expected)


def test_a_sampled_index_takes_documents_and_is_refreshed_from_a_sample(engine: Engine) -> None:
    build(engine, make_documents(150))
    assert "sperm whale" not in engine.open_reader(INDEX).model.phrases
    assert add_documents(generate_documents(150, topics=("whales",)), engine, INDEX) == 150
    assert delete_documents(engine, INDEX, ["bees-000"]).count == 1
    report = refresh_index(engine, INDEX, processes=1)
    assert (report.documents, report.mined_documents) == (299, 80)
    reader = engine.open_reader(INDEX)
    assert "sperm whale" in reader.model.phrases
    check_phrases(reader.model, list(reader.scan()))


def test_vectors_of_all_documents_are_searched_whichever_were_mined(engine: Engine) -> None:
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((200, 8))
    documents = [
        replace(document, vector=encode_vector(vector.tolist()))
        for document, vector in zip(make_documents(200), vectors, strict=True)
    ]
    build(engine, documents)
    reader = engine.open_reader(INDEX)
    assert reader.info.settings[VECTOR_SETTING] == 8
    assert reader.model.centroid_counts.tolist() == reader.model.document_frequency.tolist()


def test_texts_have_vectors_in_a_sampled_embedded_index(tantivy_engine: Engine) -> None:
    build(tantivy_engine, make_documents(200))
    reader = tantivy_engine.open_reader(INDEX)
    assert reader.info.settings[TEXT_VECTOR_SETTING] == reader.model.text_vectors.dimensions
    assert len(reader.model.reservoir_vectors) == 80


def test_a_large_vocabulary_keeps_its_most_frequent_words(
    tantivy_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tantivy_engine, make_documents(300))
    complete = tantivy_engine.open_reader(INDEX).model
    monkeypatch.setattr(streamed_corpus, "MAX_WORDS", len(complete.words) - 100)
    build(tantivy_engine, make_documents(300), replace(SAMPLED, k=29))
    reader = tantivy_engine.open_reader(INDEX)
    left_out = set(complete.words) - set(reader.model.words)
    assert len(left_out) >= 100
    assert all(complete.get_word_frequency(word) == 1 for word in left_out)
    # its weights are those of words in one document, as for any word that a model does not have
    assert reader.model.word_idf[-1] == idf([1], 300)[0]
    check_tokens(reader, 300)


def check_tokens(reader: Reader, count: int) -> None:
    """Words that the model lacks are in the documents all the same, also where these are read as columns."""
    ids = reader.readable_ids(None, count)
    for lazy, stored in zip(reader.fetch_lazy(ids), reader.fetch(ids), strict=True):
        assert lazy is not None and stored is not None
        assert lazy.tokens == stored.tokens
        assert "neologism" in stored.tokens


def test_the_size_of_the_sample_is_shown(phrasecom: RunCommand, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "corpus.jsonl", iter(make_documents(120)))
    status, out, _ = phrasecom("index", "corpus.jsonl", "--index", INDEX, "--sample-documents", "80")
    assert status == 0
    assert "80 of them" in out
    assert "mined from 80 of 120 documents" in phrasecom("phrases", "--index", INDEX)[1]
    assert '"mined_documents": 80' in phrasecom("phrases", "--index", INDEX, "--json")[1]


def test_the_documents_held_at_once_do_not_grow_with_the_corpus(
    tantivy_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in SMALL_BATCHES.items():
        monkeypatch.setattr(name, size)
    held: list[int] = []

    def count_documents(stage: str, done: int, total: int) -> None:
        held.append(sum(isinstance(each, Document) for each in gc.get_objects()))

    before = sum(isinstance(each, Document) for each in gc.get_objects())
    # a generator: nobody else holds the documents
    documents = (document for part in range(20) for document in generate_part(part))
    build_index(documents, tantivy_engine, INDEX, SAMPLED, count_documents, processes=1)
    assert len(held) > 100
    assert max(held) - before <= 300, "of 2,000 documents"


def generate_part(part: int) -> Iterator[Document]:
    return (replace(document, id=f"{part}-{document.id}") for document in generate_documents(100, seed=part))


def test_memory_grows_by_few_bytes_a_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Python and numpy count what they allocate: 150 bytes with such small batches, as each is listed somewhere."""
    for name, size in SMALL_BATCHES.items():
        monkeypatch.setattr(name, size)
    peaks = []
    for parts in (1, 10, 40):  # the first loads what is loaded once
        documents = (document for part in range(parts) for document in generate_part(part))
        with open_engine(str(tmp_path / str(parts))) as engine:
            gc.collect()
            tracemalloc.start()
            build_index(documents, engine, INDEX, SAMPLED, processes=1)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[2] - peaks[1] < 3000 * 200
